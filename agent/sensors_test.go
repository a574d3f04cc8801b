package agent

import (
	"fmt"
	"testing"
)

// few is a rig with room for two sensors, of which one that is silent for an hour makes room.
func few(t *testing.T, perSensor bool) *rig {
	return newRig(t, func(s *Setup) { s.Rules.MaxSensors, s.Rules.SensorExpiry, s.Rules.PerSensor = 2, hour, perSensor })
}

func TestMaxSensors(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := few(t, perSensor)
		r.live("a", 0, 1)
		r.live("b\x00room\x001", 1, 1)
		r.live("c", 9000, 1)
		r.live("b\x00room\x002", 9000, 1)
		r.live("b\x00room\x003", 9001, 1)
		r.live("a", 9002, 1)
		r.counts("c takes the place of both, b comes back with two series, and a finds no room", counts{"received": 6, "windowed": 5, "sensors": 1})
	}
}

func TestSensorsExpireByEventTime(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		name := fmt.Sprintf("per sensor %v: ", perSensor)
		r := few(t, perSensor)
		r.live("a", 0, 1)
		r.live("b", 100, 1)
		r.live("c", 3599, 1)
		r.counts(name+"no one has been silent for an hour", counts{"received": 3, "windowed": 2, "sensors": 1})
		r.now.Up, r.now.Wall = 100*hour, r.now.Wall+100*hour
		r.live("c", 3599.999, 1)
		r.counts(name+"clocks do not count", counts{"received": 4, "windowed": 2, "sensors": 2})
		r.live("c", 3600, 1)
		r.counts(name+"a has", counts{"received": 5, "windowed": 3, "sensors": 2})
		r.live("a", 3601, 1)
		r.counts(name+"and comes back to a full house", counts{"received": 6, "windowed": 3, "sensors": 3})
	}
}

// The same readings come to the same, wherever commits and restarts fall, even when the journal has forgotten a sensor's
// readings in between.
func TestSensorsExpireOverRestarts(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		for cut := range 7 {
			r := few(t, perSensor)
			for i, step := range []func(){
				func() { r.live("a", 100, 1) },
				func() { r.live("b", 0, 1) },
				func() { r.live("a", 200, 1) },
				func() { r.live("b", 3000, 1) },
				func() { r.live("b", 3750, 2) },
				func() { r.live("c", 3799, 1) },
				func() { r.live("c", 3800, 1) },
			} {
				step()
				if i == cut || i == cut+2 {
					r.reopen(nil)
				}
			}
			r.counts(fmt.Sprintf("per sensor %v, cut after %d", perSensor, cut), counts{"received": 7, "windowed": 6, "sensors": 1})
			r.reopen(nil)
			if n := len(r.e.sensors); n != 2 || r.e.sensors["a"] != nil {
				t.Errorf("%d sensors after the restart, a %v", n, r.e.sensors["a"])
			}
		}
	}
}

// With a watermark of its own a sensor takes its open windows along when it makes room; what it has sent is never opened
// again, its late total goes on, and the journal does not keep its readings.
func TestExpiredSensorIsClosed(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := few(t, true)
		again := func() {
			if restart {
				r.reopen(nil)
			}
		}
		r.live("a", 900, 1)
		r.live("a", 0, 1)
		r.live("b", 4500, 1)
		again()
		r.puts("nothing is final yet")
		r.live("c", 4500, 1)
		r.puts("a makes room", "a@900 count=1 max=1", "late_drops a@900 count=1 max_lateness_s=900 total=1")
		if live := r.e.journal.live; live != 2 {
			t.Errorf("the journal holds %d live readings, want those of b and c", live)
		}
		again()
		r.live("b", 8100, 1)
		r.puts("b goes on", "b@4500 count=1 max=1")
		r.live("a", 1000, 2)
		r.counts("a comes back where it was, in place of c: its window has been sent", counts{"received": 6, "windowed": 4, "late": 2})
		r.puts("c is closed", "c@4500 count=1 max=1")
		again()
		r.live("a", 9000, 2)
		if got := r.took(); len(got) != 1 || got[0][:13] != "late_drops a@" || got[0][len(got[0])-7:] != "total=2" {
			t.Errorf("late report %q, want the total to go on", got)
		}
	}
}

// A sensor whose clock is behind does not drag others back, nor do those that are known move when one expires.
func TestExpiryMovesOnlyNewSensors(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.MaxSensors, s.Rules.SensorExpiry, s.Rules.PerSensor = 3, hour, true })
	r.live("a", 1000, 1)
	r.live("b", 5000, 1)
	r.live("slow", 1300, 1)
	r.e.sensors["slow"].last = at(4000)
	r.live("c", 5000, 1)
	if r.e.sensors["a"] != nil || r.e.sensors["slow"] == nil {
		t.Fatal("not a, or not a alone, has expired")
	}
	r.reopen(nil)
	r.mark("slow keeps its own", "slow", 1300, 700)
}
