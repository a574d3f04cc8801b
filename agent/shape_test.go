package agent

import (
	"fmt"
	"testing"

	"github.com/influxdata/line-protocol/v2/lineprotocol"

	"edgeagent/reading"
	"edgeagent/sim"
)

// What each change of configuration on an old store does. Before it a@610, b@620 and, late, a@-600 have come; after it come
// a@611 and b@621, of windows that have been sent then, a@999, and a@4000, which makes all before it final.
var changes = []struct {
	name           string
	before, change func(*Setup)
	closed, after  []string
}{
	{"nothing", nil, func(*Setup) {},
		nil, []string{"late_drops a@600 count=1 max_lateness_s=1220 total=1", "a@600 count=2 max=5", "b@600 count=2 max=5", "a@900 count=1 max=6"}},
	{"aggregates", nil, func(s *Setup) { s.Identity.Aggregates = []string{"count", "min"} },
		nil, []string{"late_drops a@600 count=1 max_lateness_s=1220 total=1", "a@600 count=2 max=5 min=1", "b@600 count=2 max=5 min=1", "a@900 count=1 max=6 min=6"}},
	{"larger size", nil, func(s *Setup) { s.Rules.Size = 10 * minute },
		closedByStream, []string{"late_drops b@600 count=1 max_lateness_s=0 total=1", "late_drops a@1200 count=2 max_lateness_s=9 total=3"}},
	{"smaller size", nil, func(s *Setup) { s.Rules.Size = minute },
		closedByStream, []string{"late_drops b@600 count=1 max_lateness_s=0 total=1", "late_drops a@660 count=1 max_lateness_s=9 total=2", "a@960 count=1 max=6"}},
	{"gateway id", nil, func(s *Setup) { s.Identity.Gateway = "g2" },
		closedByStream, []string{"late_drops gateway=g2 b@600 count=1 max_lateness_s=0 total=1",
			"gateway=g2 a@900 count=1 max=6", "late_drops gateway=g2 a@900 count=1 max_lateness_s=9 total=2"}},
	{"gateway tags", nil, func(s *Setup) { s.Identity.Tags = []reading.Tag{{Key: "site", Value: "x"}} },
		closedByStream, []string{"late_drops site=x b@600 count=1 max_lateness_s=0 total=1",
			"site=x a@900 count=1 max=6", "late_drops site=x a@900 count=1 max_lateness_s=9 total=2"}},
	{"measurement", nil, func(s *Setup) { s.Identity.Measurement = "temp" },
		closedByStream, []string{"late_drops a@600 count=2 max_lateness_s=1220 total=2",
			"late_drops b@600 count=1 max_lateness_s=0 total=1", "temp a@900 count=1 max=6"}},
	{"timestamp to end", nil, func(s *Setup) { s.Identity.Timestamp = "end" },
		closedByStream, []string{"late_drops a@600 count=2 max_lateness_s=1220 total=2",
			"late_drops b@600 count=1 max_lateness_s=0 total=1", "a@1200 count=1 max=6"}},
	{"timestamp to start: @900 is taken", func(s *Setup) { s.Identity.Timestamp = "end" }, func(s *Setup) { s.Identity.Timestamp = "start" },
		[]string{"a@900 count=1 max=1", "b@900 count=1 max=1", "late_drops a@600 count=1 max_lateness_s=1220 total=1"},
		[]string{"late_drops a@600 count=3 max_lateness_s=1220 total=3", "late_drops b@600 count=1 max_lateness_s=0 total=1"}},
	{"scope to sensor", nil, func(s *Setup) { s.Rules.PerSensor = true },
		closedByStream, []string{"a@900 count=1 max=6", "late_drops a@900 count=1 max_lateness_s=0 total=2"}},
	{"scope to stream", func(s *Setup) { s.Rules.PerSensor = true }, func(s *Setup) { s.Rules.PerSensor = false },
		[]string{"a@600 count=1 max=1", "late_drops a@600 count=1 max_lateness_s=1210 total=1", "b@600 count=1 max=1"},
		[]string{"late_drops b@600 count=1 max_lateness_s=0 total=1", "a@900 count=1 max=6", "late_drops a@900 count=1 max_lateness_s=9 total=2"}},
	{"size with scope sensor", func(s *Setup) { s.Rules.PerSensor = true }, func(s *Setup) { s.Rules.Size = 10 * minute },
		[]string{"a@600 count=1 max=1", "late_drops a@600 count=1 max_lateness_s=1210 total=1", "b@600 count=1 max=1"},
		[]string{"late_drops a@1200 count=2 max_lateness_s=0 total=3"}},
}

var closedByStream = []string{"a@600 count=1 max=1", "b@600 count=1 max=1", "late_drops a@600 count=1 max_lateness_s=1220 total=1"}

func TestChangedConfiguration(t *testing.T) {
	for _, c := range changes {
		for restarts := range 3 {
			name := fmt.Sprintf("%s, %d restarts later", c.name, restarts)
			r := newRig(t, c.before)
			r.live("a", 610, 1)
			r.live("b", 620, 1)
			r.live("a", -600, 1)
			r.reopen(c.change)
			n := r.waits(name+": closed", 0, c.closed...)
			for range restarts {
				r.reopen(nil)
			}
			r.live("a", 611, 5)
			r.live("b", 621, 5)
			r.live("a", 999, 6)
			r.live("a", 4000, 7)
			r.note()
			r.waits(name, n, c.after...)
		}
	}
}

// With watermarks of their own, sensors that are behind the others lose nothing by a change of size.
// A change that is killed between its commit and the next leaves watermarks where they were.
func TestChangedScopeKilled(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.PerSensor = true })
	r.live("a", 610, 1)
	r.note()
	r.setup.Rules.PerSensor = false
	if _, err := Restore(r.store, r.setup); err != nil { // commits the change, and is then gone
		t.Fatal(err)
	}
	r.restart()
	r.mark("the stream has what the sensor had", "", 610, 900)
}

// A window of which readings may be forgotten already is not opened again by a longer allowance.
// Under watermarks of their own, what is open stays open when the allowance is made longer than readings were remembered.
// What a change of size leaves gone to a sensor is gone by that alone: its later windows are not final before their time.
func TestDelayOnAnOldStore(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
		r.live("a", 0, 1)
		r.live("a", 700, 2)
		r.live("b", 710, 2)
		r.note()
		r.reopen(func(s *Setup) { s.Rules.Delay = 5 * minute })
		r.puts("a shorter delay moves W at start, before the first reading", "a@0 count=1 max=1")
		r.mark("b", "b", 710, 410)
		r.reopen(func(s *Setup) { s.Rules.Delay = hour })
		r.mark("a longer one leaves it, for sensors too that had nothing to put out", "b", 710, 410)
		r.live("b", 299, 3)
		r.counts("late", counts{"received": 4, "windowed": 3, "late": 1})
	}
}

// A window that was put out open is told to be final also when updates have been turned off meanwhile: the server keeps the
// field of a point that a later one leaves out.
func TestUpdatesTurnedOff(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.Update, s.Rules.UpdateInterval, s.Identity.Update = true, minute, true })
	r.live("a", 0, 1)
	r.live("b", 59, 1)
	r.live("a", 61, 2)
	r.live("c", 62, 3)
	r.puts("at the tick", "a@0 count=2 final=false max=2", "b@0 count=1 final=false max=1")
	r.reopen(func(s *Setup) { s.Rules.Update, s.Identity.Update = false, false })
	r.live("a", 119, 7)
	r.live("a", 301, 4)
	r.reopen(nil)
	r.live("a", 1200, 5)
	r.puts("final", "a@0 count=3 final=true max=7", "b@0 count=1 final=true max=1", "c@0 count=1 max=3", "a@300 count=1 max=4")
}

// Late counts are not reported a second time under another gateway id or other tags, and not overwritten by less when the
// former ones come back: their sum at the server is the ledger's.
func TestLateCountsOverChangedIdentity(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
		r.live("a", 610, 1)
		late := func(n int) {
			for i := range n {
				r.live("a", float64(-600-i), float64(r.e.Ledger().Late))
			}
		}
		late(3)
		r.reopen(func(s *Setup) { s.Identity.Gateway = "wrong" })
		late(2)
		r.reopen(func(s *Setup) { s.Identity.Gateway = "gw" })
		late(1)
		r.reopen(func(s *Setup) { s.Identity.Tags = []reading.Tag{{Key: "site", Value: "x"}} })
		late(2)
		r.live("a", 4000, 2)
		r.note()
		counts, total := make(map[string]int64), int64(0)
		for _, text := range r.queued() {
			l, err := sim.ParseLine([]byte(text), lineprotocol.Nanosecond)
			if err != nil {
				t.Fatal(err)
			}
			if l.Measurement == "late_drops" {
				counts[fmt.Sprint(l.Tags, l.Time)] = l.Fields["count"].(int64)
				total = l.Fields["total"].(int64)
			}
		}
		sum := int64(0)
		for _, n := range counts {
			sum += n
		}
		if got := r.e.Ledger().Late; got != 8 || sum != got || total != got {
			t.Errorf("per sensor %v: %d readings late, the server has %d of them in %d points, total %d; want 8", perSensor, got, sum, len(counts), total)
		}
	}
}
