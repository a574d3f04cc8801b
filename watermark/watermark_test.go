package watermark

import (
	"math"
	"testing"
)

func TestEquation(t *testing.T) {
	const delay = 600
	steps := []struct {
		name  string
		t     int64
		moved bool
		want  Mark
	}{
		{"first reading", 1000, true, Mark{1000, 400}},
		{"older reading", 999, false, Mark{1000, 400}},
		{"same instant", 1000, false, Mark{1000, 400}},
		{"one newer", 1001, true, Mark{1001, 401}},
		{"far newer", 5000, true, Mark{5000, 4400}},
	}
	k := New()
	for _, s := range steps {
		if moved := k.Observe(s.t, delay); moved != s.moved || k != s.want {
			t.Errorf("%s: moved %v, mark %v, want %v, %v", s.name, moved, k, s.moved, s.want)
		}
	}
}

func TestWatermarkNeverGoesBack(t *testing.T) {
	cases := []struct {
		name  string
		start Mark
		delay int64
		want  int64
	}{
		{"a longer delay leaves W", Mark{1000, 900}, 600, 900},
		{"a shorter delay moves W", Mark{1000, 400}, 100, 900},
		{"nothing seen", New(), 100, None},
		{"M near the smallest instant", Mark{None + 5, None}, 600, None + 1},
		{"before 1970", Mark{-1000, None}, 600, -1600},
	}
	for _, c := range cases {
		c.start.Recompute(c.delay)
		if c.start.W != c.want {
			t.Errorf("%s: W = %d, want %d", c.name, c.start.W, c.want)
		}
	}
}

func TestLateOnBothSides(t *testing.T) {
	cases := []struct {
		name               string
		p                  Policy
		t, end, allowed, w int64
		want               bool
	}{
		{"window: W one short of the end", ByWindow, 10, 300, 0, 299, false},
		{"window: W at the end", ByWindow, 299, 300, 0, 300, true},
		{"window: allowance holds it", ByWindow, 10, 300, 60, 359, false},
		{"window: allowance over", ByWindow, 10, 300, 60, 360, true},
		{"window: nothing seen", ByWindow, 10, 300, 0, None, false},
		{"window: end at the largest instant", ByWindow, 10, math.MaxInt64, 60, math.MaxInt64 - 1, false},
		{"event: one before W", ByEvent, 299, 300, 0, 300, true},
		{"event: on W", ByEvent, 300, 600, 0, 300, false},
		{"event: one after W", ByEvent, 301, 600, 0, 300, false},
		{"event: window still open, reading late", ByEvent, 10, 300, 0, 11, true},
		{"event: nothing seen", ByEvent, 10, 300, 0, None, false},
	}
	for _, c := range cases {
		if got := c.p.Late(c.t, c.end, c.allowed, c.w); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRaise(t *testing.T) {
	k := Mark{M: 1000, W: 400}
	k.Raise(900)
	k.Raise(800)
	if k != (Mark{1000, 900}) {
		t.Errorf("mark %v", k)
	}
	k.Observe(1100, 600)
	if k != (Mark{1100, 900}) {
		t.Errorf("a later reading moved W back: %v", k)
	}
}
