package agent

import (
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
)

// rewind stops the rig, sets its store back to s seconds after t0 with the clock there too, and starts it again.
func (r *rig) rewind(s float64, force bool) *Rewound {
	r.t.Helper()
	r.note()
	cfg := &configs.Config{Watermark: configs.Watermark{Delay: configs.Duration(r.setup.Rules.Delay)}}
	o := Options{Config: cfg, Clock: Clock{Now: func() time.Time { return time.Unix(0, at(s)) }}}
	sum, err := rewind(r.store, o, RewindRequest{To: time.Unix(0, at(s)), Force: force})
	if err != nil {
		r.t.Fatal(err)
	}
	r.restart()
	return sum
}

// offer has everything that waits peeked at, as an uplink does.
func (r *rig) offer() {
	r.t.Helper()
	if _, err := r.store.Peek(0, 1<<20, 1<<30); err != nil {
		r.t.Fatal(err)
	}
}

const year = 365 * 86400.0

// A device a year ahead finalizes everything; after a rewind time goes on as if it had not spoken.
func TestRewind(t *testing.T) {
	scopes := map[string]bool{"stream": false, "sensor": true}
	for name, perSensor := range scopes {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
			r.live("a", 0, 1)
			r.live("a", 310, 2)
			r.live("a", year, 99)
			r.puts("at the jump", "a@0 count=1 max=1", "a@300 count=1 max=2")
			r.live("a", 320, 3)
			r.live("a", 620, 4)
			r.counts("before", counts{"received": 5, "windowed": 3, "late": 2})

			sum := r.rewind(625, false)
			if !sum.Changed || sum.TakenBack != 1 || sum.Rewinds != 1 || sum.Parked != 0 || sum.LateUntil != instant(at(600)) {
				t.Errorf("rewound %+v", sum)
			}
			r.counts("after", counts{"received": 5, "windowed": 2, "late": 2, "future": 1})
			r.live("a", 320, 3) // its window has been put out: what is left of it must not be put in its place
			r.live("a", 630, 5)
			r.counts("on", counts{"received": 7, "windowed": 3, "late": 3, "future": 1})
			r.live("a", 1500, 6)
			r.puts("then", "a@600 count=1 max=5", "late_drops a@900 count=3 max_lateness_s=3.153568e+07 total=3")
		})
	}
}

// What was sent stays closed, unless that is asked for.
func TestRewindKeepsTheFloor(t *testing.T) {
	for _, force := range []bool{false, true} {
		r := newRig(t, nil)
		r.live("a", 0, 1)
		r.live("a", year, 99)
		r.live("a", year+1000, 99)
		r.puts("at the jump", "a@0 count=1 max=1", "a@3.1536e+07 count=1 max=99")
		r.offer()
		sum := r.rewind(100, force)
		if len(sum.Windows) != 3 || sum.Windows[0] != instant(at(-600)) || sum.Windows[2] != instant(at(0)) || sum.More != 0 {
			t.Errorf("force %v: windows %v and %d more; want those from -600 to 0", force, sum.Windows, sum.More)
		}
		if kept := sum.Floor.Before == sum.Floor.After; kept == force || (sum.LateUntil == "") != force {
			t.Errorf("force %v: %+v", force, sum)
		}
		r.live("a", 200, 5)
		if force {
			r.counts("forced", counts{"received": 4, "windowed": 3, "future": 1})
			if f := r.store.Floor(); f != at(300) {
				t.Errorf("floor %s, want the end of the window", instant(f))
			}
		} else {
			r.counts("kept", counts{"received": 4, "windowed": 2, "future": 1, "late": 1})
		}
	}
}

// Points of windows that cannot be yet are set aside, and the sums hold.
func TestRewindParksWhatLiesAhead(t *testing.T) {
	r := newRig(t, nil)
	r.live("a", 0, 1)
	r.live("a", year, 99)
	r.live("a", year+1000, 99)
	sum := r.rewind(100, false)
	c := r.store.Counts()
	if sum.Parked != 1 || c.Parked != 1 || c.Queued != 1 || !c.Balanced() {
		t.Errorf("rewound %+v, counts %+v", sum, c)
	}
	if list, err := r.store.ParkedPoints(0); err != nil || len(list) != 1 || short(t, string(list[0].Line)) != "a@3.1536e+07 count=1 max=99" {
		t.Errorf("parked %v, %v", list, err)
	}
	if sum := r.rewind(100, false); sum.Changed || sum.Rewinds != 1 {
		t.Errorf("again: %+v", sum)
	}
}

// Only the sensors that are ahead are set back.
func TestRewindOfOneSensor(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.PerSensor = true })
	r.live("a", 50, 1)
	r.live("b", year, 99)
	sum := r.rewind(100, false)
	if sum.Sensors != 1 || sum.MaxEventTime.Before != instant(at(year)) || sum.MaxEventTime.After != instant(at(100)) {
		t.Errorf("rewound %+v", sum)
	}
	if m := r.e.sensors["a"].scope.mark; m.M != at(50) {
		t.Errorf("a stands at %s", instant(m.M))
	}
	if m := r.e.sensors["b"].scope.mark; m.M != at(100) || m.W != at(-500) {
		t.Errorf("b stands at %s, %s", instant(m.M), instant(m.W))
	}
}

func TestRewindOfNothing(t *testing.T) {
	r := newRig(t, nil)
	r.live("a", 50, 1)
	if sum := r.rewind(50, false); sum.Changed {
		t.Errorf("%+v", sum)
	}
	cfg := &configs.Config{}
	s, err := buffer.Open(buffer.Options{Dir: t.TempDir(), NoSync: true, MaxSize: storeSize})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := rewind(s, Options{Config: cfg}, RewindRequest{To: time.Now()}); err == nil {
		t.Error("an empty store is set back")
	}
}
