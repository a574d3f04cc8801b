package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"edgeagent/reading"
	"edgeagent/sim"
	"edgeagent/uplink"
	"edgeagent/watermark"
)

// drawParams draws rules small enough that every one of them comes into play.
func drawParams(t *rapid.T) sim.Params {
	p := sim.Params{
		Size:      time.Duration(rapid.Int64Range(1, 12).Draw(t, "size")),
		Delay:     time.Duration(rapid.Int64Range(0, 30).Draw(t, "delay")),
		PerSensor: rapid.Bool().Draw(t, "per_sensor"),
		Strict:    rapid.Bool().Draw(t, "strict"),
		Close:     rapid.Bool().Draw(t, "close"),
		Retained:  []string{rapid.SampledFrom([]string{"drop_untimed", "keep", "drop"}).Draw(t, "retained")},
	}
	if !p.Strict {
		p.Allowed = time.Duration(rapid.SampledFrom([]int64{0, 0, 3, 10, 40}).Draw(t, "allowed"))
	}
	if rapid.Bool().Draw(t, "update") {
		p.UpdateInterval = time.Duration(rapid.Int64Range(1, 9).Draw(t, "update_interval"))
	}
	return p
}

func drawItem(t *rapid.T, front *int64) sim.Item {
	var item sim.Item
	item.Retained = rapid.IntRange(0, 9).Draw(t, "retained?") == 0
	item.Again = rapid.IntRange(0, 19).Draw(t, "again?") == 0
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		*front += rapid.Int64Range(-1, 4).Draw(t, "step")
		series := reading.Series(rapid.SampledFrom([]string{"a", "b", "b\x00room\x001", "b\x00room\x002", "c d"}).Draw(t, "series"))
		item.Readings = append(item.Readings, reading.Reading{
			Series:       series,
			ArrivalTimed: rapid.IntRange(0, 9).Draw(t, "arrival?") == 0,
			Time:         *front - rapid.SampledFrom([]int64{0, 0, 0, 1, 2, 5, 11, 25, 50, 90}).Draw(t, "back"),
			Value:        float64(rapid.IntRange(-2, 2).Draw(t, "value")),
		})
	}
	if len(item.Readings) == 0 {
		item.Refusals = append(item.Refusals, reading.Refusal{Reason: reading.Value})
	}
	return item
}

func setupFor(p sim.Params) Setup {
	policy := map[string]reading.RetainPolicy{"drop_untimed": reading.DropUntimed, "keep": reading.Keep, "drop": reading.Drop}[p.Retained[0]]
	s := Setup{
		Rules: Rules{Size: int64(p.Size), Allowed: int64(p.Allowed), Delay: int64(p.Delay), PerSensor: p.PerSensor,
			Update: p.UpdateInterval > 0, UpdateInterval: int64(p.UpdateInterval), BuildDate: testBuild.UnixNano(), MaxSensors: 100},
		Identity: uplink.Identity{Gateway: "gw", Measurement: "temperature", Timestamp: "start",
			Aggregates: []string{"max", "count", "min", "mean", "sum", "first", "last", "stddev"}, Update: p.UpdateInterval > 0},
		Retained: func(uint16) reading.RetainPolicy { return policy },
	}
	if p.Strict {
		s.Rules.Late = watermark.ByEvent
	}
	return s
}

// TestAgainstOracle holds the engine, with commits and restarts cut in anywhere, against an implementation that recomputes
// everything from the whole history at every reading.
func TestAgainstOracle(t *testing.T) {
	eachDraw(t, func(t *rapid.T, dir string, p sim.Params) {
		setup := setupFor(p)
		setup.Rules.Side = SideOutput(rapid.IntRange(0, 2).Draw(t, "late_readings"))
		setup.Rules.Trace = rapid.Bool().Draw(t, "retain_readings")
		b := newBench(t, dir, setup)
		b.compactAt = rapid.SampledFrom([]int64{0, 4}).Draw(t, "compact_at")
		defer func() { b.store.Close() }()
		front := rapid.Int64Range(-100, 1000).Draw(t, "front")
		var items []sim.Item
		committed := 0
		for range rapid.IntRange(1, 60).Draw(t, "messages") {
			item := drawItem(t, &front)
			items = append(items, item)
			b.feed(item)
			switch rapid.IntRange(0, 8).Draw(t, "cut") {
			case 0, 1:
				b.note()
				committed = len(items)
			case 2:
				b.note()
				committed = len(items)
				b.sameAfterRestart()
			case 3: // killed: what was not committed was not acknowledged, and comes again
				b.restart()
				for _, item := range items[committed:] {
					b.feed(item)
				}
			}
		}
		if p.Close {
			b.e.Close()
		}
		b.note()
		compare(t, p, items, b)
		b.close()
	})
}

// windowsOf is how many windows r has points of.
func windowsOf(r sim.Result) int64 {
	var n int64
	for _, p := range r.Last() {
		if !p.Late {
			n++
		}
	}
	return n
}

func compare(t *rapid.T, p sim.Params, items []sim.Item, b *bench) {
	t.Helper()
	want := sim.Oracle(p, items)
	naming := sim.Naming{Tags: []reading.Tag{{Key: "gateway", Value: "gw"}}, Aggregates: b.setup.Identity.Aggregates, Updates: p.UpdateInterval > 0}
	compareLate(t, want, naming, b)
	for what, lines := range map[string][]string{"put out": b.lines, "queued": b.queued()} {
		lines, _ := apart(lines)
		got, err := sim.ParseLines([]byte(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if diffs := sim.Compare(want, got, naming); len(diffs) > 0 {
			t.Fatalf("%+v\n%s: differ:\n%s\ngot:\n%s", p, what, strings.Join(diffs, "\n"), strings.Join(lines, "\n"))
		}
	}
	c := b.store.Counts()
	if left := c.Made() - c.Superseded; c.Queued != left || c.Updated == 0 && c.Superseded != 0 {
		t.Fatalf("points %+v", c)
	}
	if b.e.mayUpdate() && c.Queued != windowsOf(want)+c.LateReports+c.LateReadings {
		t.Fatalf("%d queued, want one for each of %d windows, %d late reports and %d late readings", c.Queued, windowsOf(want), c.LateReports, c.LateReadings)
	}
	if c.Finalized != want.Count(sim.Finalized) || c.Updated != want.Count(sim.Updated) || c.LateReports != want.Count(sim.LateReport) {
		t.Fatalf("%+v\npoints %+v, want finalized %d updated %d late %d", p, c, want.Count(sim.Finalized), want.Count(sim.Updated), want.Count(sim.LateReport))
	}
	l, w := b.e.Ledger(), want.Ledger
	if l.Received != w.Received || l.Windowed != w.Windowed || l.Late != w.Late || l.Duplicate != w.Duplicate || l.Retained != w.Retained {
		t.Fatalf("%+v\nledger %+v, want %+v", p, l, w)
	}
}

// TestMaxSensorsAgainstOracle holds max_sensors against the simplest expectation: the first few sensors are known, readings
// of others are rejected, and but for that it is as if they had never come.
func TestMaxSensorsAgainstOracle(t *testing.T) {
	eachDraw(t, func(t *rapid.T, dir string, p sim.Params) {
		setup := setupFor(p)
		setup.Rules.MaxSensors = rapid.IntRange(1, 3).Draw(t, "max_sensors")
		b := newBench(t, dir, setup)
		defer func() { b.store.Close() }()
		front := int64(0)
		known := map[string]bool{}
		var items []sim.Item
		var refused int64
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			item := drawItem(t, &front)
			item.Retained, item.Again = false, false
			b.feed(item)
			rest := item
			rest.Readings = nil
			slices.SortStableFunc(item.Readings, func(a, b reading.Reading) int { return int(a.Time - b.Time) })
			for _, r := range item.Readings {
				if name := r.Series.Sensor(); known[name] || len(known) < setup.Rules.MaxSensors {
					known[name] = true
					rest.Readings = append(rest.Readings, r)
				} else {
					refused++
				}
			}
			items = append(items, rest)
			if rapid.IntRange(0, 5).Draw(t, "cut") == 0 {
				b.note()
				b.restart()
			}
		}
		if p.Close {
			b.e.Close()
		}
		b.note()
		b.e.ledger.Received -= refused
		if got := b.e.Ledger().Rejected[reading.Sensors]; got != refused {
			t.Fatalf("rejected sensors %d, want %d", got, refused)
		}
		compare(t, p, items, b)
		b.close()
	})
}
