package mqtt

import (
	"testing"
	"time"
)

// A link that breaks every minute for a day is told some dozens of times, and each line says how many it stands for.
func TestThrottleOfADay(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	th := throttle{every: time.Minute, most: time.Hour, burst: 3}
	told, all := 0, 0
	var last time.Time
	for i := range 24 * 60 {
		now := start.Add(time.Duration(i) * time.Minute)
		held, ok := th.allow(now, "lost")
		if ok {
			told++
			all += 1 + held
			if gap := now.Sub(last); i > 0 && gap > time.Hour {
				t.Errorf("nothing was said for %v", gap)
			}
			last = now
		}
	}
	if told < 24 || told > 40 {
		t.Errorf("%d lines in a day", told)
	}
	if missing := 24*60 - all; missing < 0 || missing > 60 {
		t.Errorf("the lines stand for %d of %d", all, 24*60)
	}
	// when it has been quiet the next is told at once, and so are a few more
	later := last.Add(26 * time.Hour)
	for i, want := range []bool{true, true, true, false} {
		if _, ok := th.allow(later.Add(time.Duration(i)*time.Second), "lost"); ok != want {
			t.Errorf("line %d of something new: told %v, want %v", i, ok, want)
		}
	}
}

func TestThrottleReset(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	th := throttle{every: time.Hour, most: time.Hour, burst: 1}
	th.reset()
	for i, want := range []bool{true, false} {
		if _, ok := th.allow(now, "x"); ok != want {
			t.Errorf("line %d: told %v, want %v", i, ok, want)
		}
	}
	th.reset()
	if held, ok := th.allow(now, "x"); !ok || held != 0 {
		t.Errorf("after a reset: told %v, held back %d", ok, held)
	}
}
