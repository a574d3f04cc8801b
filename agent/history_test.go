package agent

import (
	"testing"
	"time"
	"unsafe"
)

// feedHistory takes a sample each 10 s for d; fn says what is in it.
func feedHistory(d time.Duration, fn func(up time.Duration) point) *history {
	h := new(history)
	for up := time.Duration(0); up <= d; up += time.Second {
		if h.due(up) {
			h.note(fn(up), up)
		}
	}
	return h
}

// A day and a half leaves an hour in steps of 10 s and the day before it in steps of 2 min, in the memory that is promised.
func TestHistoryBounds(t *testing.T) {
	const length = 36 * time.Hour
	h := feedHistory(length, func(up time.Duration) point { return point{behind: float32(up.Hours()), wBehind: 1, flags: knownTime} })
	if bytes := (cap(h.fine.points) + cap(h.coarse.points)) * int(unsafe.Sizeof(point{})); bytes > 32<<10 {
		t.Errorf("%d bytes, want some 21,600 and the room of growing", bytes)
	}
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	list := h.samples(now, length)
	if list[len(list)-1].At != "2026-12-01T12:00:00Z" || list[len(list)-360].At != "2026-12-01T11:00:10Z" {
		t.Errorf("the fine ones are from %s to %s", list[len(list)-360].At, list[len(list)-1].At)
	}
	if first := list[0].At; first != "2026-11-30T12:02:00Z" {
		t.Errorf("the oldest is of %s, want 24 h before", first)
	}
	last := time.Time{}
	for _, s := range list {
		at, err := time.Parse(time.RFC3339, s.At)
		if err != nil || !at.After(last) {
			t.Fatalf("%s after %v: out of order, or twice", s.At, last)
		}
		last = at
	}
	if n := len(list); n != 360+690 { // of 720 coarse ones 30 are of the hour that is there finely
		t.Errorf("%d samples, want 1050", n)
	}
}

// What lasted ten seconds is still seen a day later.
func TestHistoryKeepsTheWorst(t *testing.T) {
	const length = 20 * time.Hour
	h := feedHistory(length, func(up time.Duration) point {
		if up == 2*time.Hour+30*time.Second {
			return point{behind: 99, wBehind: 700, queued: 5, flags: knownTime | brokerAway | uplinkDown}
		}
		return point{behind: 1, wBehind: 601, flags: knownTime}
	})
	n := 0
	for _, s := range h.samples(t0Time(), length) {
		if s.BehindS == 99 && s.WatermarkBehind == 700 && s.Queued == 5 && s.BrokerAway && s.UplinkDown && s.Known {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the fault is seen in %d samples, want 1", n)
	}
}

// A clock that is set does not move the samples against each other: they are placed by the monotonic clock.
func TestHistoryClockSet(t *testing.T) {
	h := feedHistory(time.Minute, func(time.Duration) point { return point{} })
	list := h.samples(t0Time().Add(1000*time.Hour), time.Minute)
	if len(list) != 7 || list[0].At != "2026-12-13T15:59:00Z" || list[6].At != "2026-12-13T16:00:00Z" || list[0].Known {
		t.Errorf("%d samples, %+v", len(list), list[0])
	}
	if none := new(history).samples(t0Time(), 0); none == nil || len(none) != 0 {
		t.Errorf("no samples: %v", none)
	}
}

func t0Time() time.Time { return time.Unix(0, t0).UTC() }

func TestLatency(t *testing.T) {
	var l latency
	for _, d := range []time.Duration{0, 5 * time.Millisecond, 5*time.Millisecond + 1, 30 * time.Second, time.Hour} {
		l.note(d)
	}
	s := l.status()
	want := []int64{2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1}
	for i := range want {
		if s.Counts[i] != want[i] {
			t.Errorf("range %d: %d, want %d", i, s.Counts[i], want[i])
		}
	}
	if len(s.Counts) != len(s.Bounds)+1 || s.SumS != 3630.010000001 || l.count() != 5 {
		t.Errorf("%d ranges, sum %v, count %d", len(s.Counts), s.SumS, l.count())
	}
}
