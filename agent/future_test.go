package agent

import (
	"math"
	"testing"
	"time"

	"edgeagent/reading"
)

// future is a rig whose clock is not trusted unless the test says so; the wall clock stands at t0.
func future(t *testing.T) *rig {
	r := newRig(t, func(s *Setup) { s.Rules.MaxFuture = 2 * minute })
	r.now.Trusted = false
	return r
}

type counts = map[string]int64

func TestFutureByATrustedClock(t *testing.T) {
	r := future(t)
	r.now.Trusted = true
	r.live("a", 120, 1)
	r.live("a", 120.001, 2)
	r.counts("now + max_future passes, one ms more does not", counts{"received": 2, "windowed": 1, "future": 1})
	r.retained("b", 121, 3)
	r.counts("retained ones too", counts{"received": 3, "windowed": 1, "future": 2})
}

func TestFutureOff(t *testing.T) {
	r := newRig(t, nil)
	horizon := testBuild.AddDate(20, 0, 0).UnixNano()
	r.live("a", float64(horizon-t0)/1e9, 1)
	r.live("a", float64(horizon-t0)/1e9+0.001, 1)
	r.counts("nothing later than build date + 20 years", counts{"received": 2, "windowed": 1, "future": 1})
	r = newRig(t, nil)
	r.now.Trusted = false
	r.live("a", float64(horizon-t0)/1e9+0.001, 1)
	r.counts("nor with an untrusted clock", counts{"received": 1, "future": 1})
}

func TestUntrustedClockAllowsADay(t *testing.T) {
	r := future(t)
	r.live("a", 86400, 1)
	r.live("b", 86400.001+86400, 1)
	r.counts("M + 24 h passes, one ms more is held", counts{"received": 1, "windowed": 1, "held": 1})
	r.live("b", 2*86400, 2)
	r.counts("M counts when it is ahead of now; that it moved releases nothing", counts{"received": 2, "windowed": 2, "held": 1})
	r.live("a", 2*86400+1, 2)
	r.counts("another sensor's reading does", counts{"received": 4, "windowed": 4})
}

// Each case holds a@2d back, feeds then, and tells what the ledger must be.
func TestHeldReadings(t *testing.T) {
	const held = 2 * 86400.
	cases := []struct {
		name string
		then func(*rig)
		want counts
	}{
		{"another sensor within an hour", func(r *rig) { r.live("b", held+3600, 2) }, counts{"received": 2, "windowed": 2}},
		{"another sensor an hour before", func(r *rig) { r.live("b", held-3600, 2) }, counts{"received": 2, "windowed": 1, "late": 1}},
		{"another sensor more than an hour before", func(r *rig) { r.live("b", held-3600.001, 2) }, counts{"held": 2}},
		{"another sensor past an hour", func(r *rig) { r.live("b", held+3600.001, 2) }, counts{"held": 2}},
		{"the only sensor's next reading", func(r *rig) { r.live("a", held+60, 2) }, counts{"received": 2, "windowed": 2}},
		{"not its repeat", func(r *rig) { r.live("a", held, 1) }, counts{"held": 2}},
		{"nor a retained one", func(r *rig) { r.now.Wall -= day; r.live("c", 0, 1); r.retained("b", held+1, 2) },
			counts{"received": 1, "windowed": 1, "held": 2}},
		{"nor the sensor itself when the store knows another", func(r *rig) { r.live("b", 0, 2); r.live("a", held+60, 2) },
			counts{"received": 1, "windowed": 1, "held": 2}},
		{"nor one that is later than ever passes", func(r *rig) {
			r.e.held[0].Time = testBuild.AddDate(20, 0, 0).UnixNano() - second
			r.live("b", float64(r.e.held[0].Time-t0)/1e9+2, 2)
		}, counts{"received": 1, "future": 1, "held": 1}},
		{"a chain: the second is within a day of the first, and before the one that confirms", func(r *rig) {
			r.live("c", held+86000, 3)
			r.live("b", held+60, 2)
		}, counts{"received": 3, "windowed": 2, "late": 1}},
		{"the clock becomes trusted and proves it wrong", func(r *rig) {
			r.now.Trusted = true
			r.e.ClockTrusted(r.now)
		}, counts{"received": 1, "future": 1}},
		{"the clock becomes trusted and proves it right", func(r *rig) {
			r.now.Trusted, r.now.Wall = true, at(held-120)
			r.e.ClockTrusted(r.now)
		}, counts{"received": 1, "windowed": 1}},
		{"over a restart", func(r *rig) {
			r.reopen(nil)
			r.counts("before it is confirmed", counts{"held": 1})
			r.live("b", held, 2)
		}, counts{"received": 2, "windowed": 2}},
	}
	for _, c := range cases {
		r := future(t)
		r.live("a", held, 1)
		r.counts(c.name+": at first", counts{"held": 1})
		c.then(r)
		r.counts(c.name, c.want)
	}
}

// The held reading and all that it takes along come before the one that confirms it: by then event time is a day further,
// and the windows before it are final.
func TestHeldAreJudgedBeforeTheConfirming(t *testing.T) {
	const held = 2 * 86400.
	r := future(t)
	r.live("c", 0, 1)
	r.live("a", held, 2)
	r.live("d", held+7200, 4)
	r.live("b", held+3600, 3)
	r.counts("b comes after d, and d has made its window final", counts{"received": 4, "windowed": 3, "late": 1})
	r.puts("in order", "c@0 count=1 max=1", "a@172800 count=1 max=2")
}

func TestHundredAreHeld(t *testing.T) {
	r := future(t)
	r.live("x", 0, 0)
	for i := range 100 {
		r.live("a", float64(i+3)*86400, float64(i))
	}
	r.counts("a hundred", counts{"received": 1, "windowed": 1, "held": 100})
	r.live("a", 103*86400, 100)
	r.counts("the oldest makes room", counts{"received": 2, "windowed": 1, "future": 1, "held": 100})
	r.live("b", 4*86400, 1)
	r.counts("the second is still there: it is released, and takes each next one along, a day apart",
		counts{"received": 103, "windowed": 101, "late": 1, "future": 1})
}

func TestConfirmingNeedsNoPlace(t *testing.T) {
	r := future(t)
	for i := range 100 {
		r.live("a", float64(2*i+3)*86400, float64(i))
	}
	r.live("b", 3*86400, 1)
	r.counts("a reading that confirms the oldest of a hundred pushes nothing out", counts{"received": 2, "windowed": 2, "held": 99})
}

func TestWitnessWithoutRoom(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.MaxFuture, s.Rules.MaxSensors = 2*minute, 1 })
	r.now.Trusted = false
	r.live("x", 0, 0)
	r.live("a", 2*86400, 1)
	r.live("b", 2*86400, 1)
	r.counts("a is released and has no room; b is no nearer for that", counts{"received": 2, "windowed": 1, "sensors": 1, "held": 1})
}

func TestUntimedWhileTheClockIsWrong(t *testing.T) {
	r := future(t)
	r.now.Wall = testBuild.UnixNano() - 1
	r.untimed("a", 1)
	r.counts("before the build's date", counts{"received": 1, "clock": 1})
	r.live("a", -1, 1)
	r.counts("a time of its own is not doubted for that", counts{"received": 2, "windowed": 1, "clock": 1})
	r.now.Wall++
	early := reading.Result{Readings: []reading.Reading{{Series: "c", Time: 40e9, ArrivalTimed: true}}}
	r.e.Message(Input{Result: &early, Live: true, Arrival: 40e9, Now: r.now})
	r.counts("one that waited while the clock was set has a wrong time", counts{"received": 3, "windowed": 1, "clock": 2})
	r.untimed("b", 1)
	if got := r.e.arrivalTimed; got != 1 {
		t.Errorf("arrival-timed %d, want 1", got)
	}
	r.counts("at the build's date", counts{"received": 4, "windowed": 1, "late": 1, "clock": 2})
}

func TestTrust(t *testing.T) {
	yes, no := func() bool { return true }, func() bool { return false }
	const build = 1000
	cases := []struct {
		name        string
		mode        string
		now, stored int64
		sync        func() bool
		want        bool
	}{
		{"synchronised", "auto", 2000, 1500, yes, true},
		{"not synchronised", "auto", 2000, 1500, no, false},
		{"on the build's date", "auto", 1000, math.MinInt64, yes, true},
		{"before the build's date", "auto", 999, math.MinInt64, yes, false},
		{"as late as was stored", "auto", 1500, 1500, yes, true},
		{"earlier than was stored", "auto", 1499, 1500, yes, false},
		{"20 years after the build's date", "auto", (Rules{BuildDate: build}).horizon(), 1500, yes, true},
		{"later than that", "auto", (Rules{BuildDate: build}).horizon() + 1, 1500, yes, false},
		{"overruled: trusted", "trusted", 0, 1500, no, true},
		{"overruled: untrusted", "untrusted", 2000, 1500, yes, false},
	}
	for _, c := range cases {
		if got := (trust{c.mode, build}).of(c.now, c.stored, c.sync); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestOnline(t *testing.T) {
	var o online
	at := func(what string, up, want time.Duration) {
		t.Helper()
		if got := o.at(up); got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	at("never connected", time.Hour, 0)
	o.subscribed(time.Hour)
	at("within 30 s of the subscription", time.Hour+30*time.Second, 0)
	at("after it", time.Hour+90*time.Second, time.Minute)
	o.down(time.Hour + 90*time.Second)
	at("away", 9*time.Hour, time.Minute)
	o.subscribed(9 * time.Hour)
	at("back, within 30 s", 9*time.Hour+20*time.Second, time.Minute)
	o.subscribed(9*time.Hour + 40*time.Second)
	at("subscribed again", 9*time.Hour+70*time.Second, 70*time.Second)
	at("and past its 30 s", 9*time.Hour+80*time.Second, 80*time.Second)
}
