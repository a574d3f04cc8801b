package agent

import (
	"testing"

	"github.com/influxdata/line-protocol/v2/lineprotocol"

	"edgeagent/reading"
	"edgeagent/sim"
)

func TestChangedSizeLeavesSlowSensorsAlone(t *testing.T) {
	for _, allowed := range []int64{0, 10 * minute} {
		r := newRig(t, func(s *Setup) { s.Rules.PerSensor, s.Rules.Allowed = true, allowed })
		r.live("a", 90000, 1)
		r.live("slow", 10, 1)
		r.reopen(func(s *Setup) { s.Rules.Size = 10 * minute })
		r.live("slow", 599, 2)
		r.counts("of a window whose first half has been sent", counts{"received": 3, "windowed": 2, "late": 1})
		r.reopen(nil)
		r.live("slow", 600, 3)
		r.live("slow", 601, 3)
		r.live("slow", 2400, 4)
		r.counts("after it", counts{"received": 6, "windowed": 5, "late": 1})
		r.note()
		r.waits("in order", 0, "a@90000 count=1 max=1", "slow@0 count=1 max=1", "late_drops slow@0 count=1 max_lateness_s=0 total=1", "slow@600 count=2 max=3")
	}
}

func TestLongerAllowanceOpensNothingForgotten(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
		r.live("a", 0, 1)
		r.live("a", 300, 2)
		r.live("a", 700, 3)
		r.live("a", 1900, 4)
		r.puts("final", "a@0 count=1 max=1", "a@300 count=1 max=2", "a@600 count=1 max=3")
		r.reopen(nil)
		r.reopen(func(s *Setup) { s.Rules.Allowed = hour })
		r.live("a", 301, 9)
		r.counts("W is 1300: readings of the second window are forgotten", counts{"received": 5, "windowed": 4, "late": 1})
		r.reopen(nil)
		r.live("a", 302, 9)
		r.counts("and stay so", counts{"received": 6, "windowed": 4, "late": 2})
		r.live("a", 701, 9)
		r.counts("those of the third are remembered", counts{"received": 7, "windowed": 5, "late": 2})
		r.puts("its point is whole", "a@600 count=2 max=9")
	}
}

func TestLongerAllowanceLosesNothingOpen(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		for name, change := range map[string]func(*Setup){
			"allowance": func(s *Setup) { s.Rules.Allowed = hour },
			"allowance and tags": func(s *Setup) {
				s.Rules.Allowed, s.Identity.Tags = hour, []reading.Tag{{Key: "site", Value: "x"}}
			},
			"allowance and size": func(s *Setup) { s.Rules.Allowed, s.Rules.Size = hour, minute },
		} {
			r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
			r.live("a", 0, 1)
			r.live("a", 1900, 2)
			r.live("a", 1600, 3)
			r.live("a", 1390, 4)
			r.puts("before", "a@0 count=1 max=1")
			r.reopen(change)
			r.live("a", 299, 9)
			r.reopen(nil)
			r.live("a", 2400, 5)
			r.live("a", 3000, 5)
			r.note()
			windows, readings := 0, 0.0
			for _, text := range r.queued() {
				l, err := sim.ParseLine([]byte(text), lineprotocol.Nanosecond)
				if err != nil {
					t.Fatal(err)
				}
				if l.Measurement == "temperature" && l.Time <= at(1800) {
					windows, readings = windows+1, readings+float64(l.Fields["count"].(int64))
				}
			}
			if windows != 4 || readings != 4 {
				t.Errorf("%s, per sensor %v: %d windows with %v readings put out, want 4 with one each", name, perSensor, windows, readings)
			}
			r.counts(name, counts{"received": 7, "windowed": 6, "late": 1})
		}
	}
}

func TestChangedSizeMakesNothingFinalEarly(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.PerSensor, s.Rules.Allowed = true, hour })
	r.live("a", 10, 1)
	r.reopen(func(s *Setup) { s.Rules.Size = 10 * minute })
	n := r.waits("closed by the change", 0, "a@0 count=1 max=1")
	r.live("a", 599, 2)
	r.live("a", 600, 3)
	r.reopen(nil)
	r.live("a", 601, 4)
	r.live("a", 1799, 5)
	r.note()
	n = r.waits("open", n, "late_drops a@0 count=1 max_lateness_s=0 total=1")
	r.live("a", 1800, 6)
	r.note()
	r.waits("at its time", n, "a@600 count=2 max=4")
	r.counts("in all", counts{"received": 6, "windowed": 5, "late": 1})
}

// A window of several former sizes stays gone over each further change: no reading is put out a second time.
func TestManyChangesOfSize(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.Size = second })
		r.live("a", 3, 1)
		r.reopen(func(s *Setup) { s.Rules.Size = minute })
		for _, size := range []int64{5 * second, 5 * minute, 7 * minute, hour} {
			r.reopen(func(s *Setup) { s.Rules.Size, s.Rules.PerSensor = size, perSensor })
		}
		r.live("a", 3599, 2)
		r.live("a", 9000, 3)
		r.e.Close()
		r.note()
		readings := int64(0)
		for _, text := range r.queued() {
			l, err := sim.ParseLine([]byte(text), lineprotocol.Nanosecond)
			if err != nil {
				t.Fatal(err)
			}
			if l.Measurement == "temperature" {
				readings += l.Fields["count"].(int64)
			}
		}
		if got := r.e.Ledger().Windowed; readings != got || got != 2 {
			t.Errorf("per sensor %v: points hold %d readings, %d were windowed; want 2", perSensor, readings, got)
		}
	}
}
