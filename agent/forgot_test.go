package agent

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"edgeagent/sim"
)

// What a longer memory does to readings that were forgotten: they are late, each once, and known from then on.
func TestLongerMemoryFindsNothingForgotten(t *testing.T) {
	longer := func(s *Setup) { s.Rules.Delay = hour }
	for _, c := range []struct {
		name   string
		change func(*Setup)
		late   int64
	}{
		{"delay", longer, 2},
		{"delay and measurement", func(s *Setup) { longer(s); s.Identity.Measurement = "temp" }, 2},
		{"delay and scope", func(s *Setup) { longer(s); s.Rules.PerSensor = !s.Rules.PerSensor }, 2},
		{"size: its change closes what is open, W becomes 2100", func(s *Setup) { s.Rules.Size = 30 * minute }, 3},
	} {
		for _, perSensor := range []bool{false, true} {
			for _, each := range []bool{false, true} {
				r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
				for _, s := range []float64{0, 300, 700, 1900} { // W 1300: what ends at 600 is forgotten
					r.live("a", s, 1)
					if each {
						r.note()
					}
				}
				r.reopen(nil)
				r.reopen(c.change)
				r.reopen(nil)
				r.live("a", 0, 1)
				r.live("a", 300, 1)
				r.live("a", 700, 1)
				r.counts(c.name, counts{"received": 7, "windowed": 4, "late": c.late, "duplicate": 3 - c.late})
				r.reopen(nil)
				r.live("a", 0, 1)
				r.live("a", 1900, 1)
				r.counts(c.name+", again", counts{"received": 9, "windowed": 4, "late": c.late, "duplicate": 5 - c.late})
			}
		}
	}
}

// A rewind brings back nothing that the leap of the clock has made forgotten, though it may lie in one record with the leap.
func TestRewindFindsNothingForgotten(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		for _, each := range []bool{false, true} {
			r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
			for _, s := range []float64{0, 610, year} {
				r.live("a", s, 1)
				if each {
					r.note()
				}
			}
			r.rewind(700, true)
			r.reopen(nil)
			r.live("a", 610, 1)
			r.live("a", 620, 1)
			r.live("a", 610, 1)
			r.counts("forced", counts{"received": 6, "windowed": 4, "duplicate": 1, "future": 1})
			r.reopen(nil)
			r.live("a", 1500, 1)
			r.note()
			r.waits("with what came again", 2, "a@600 count=2 max=1")
		}
	}
}

// When scope becomes "sensor" a sensor's own watermark begins with its newest reading, whether or not the journal still has that, and
// whether or not sensors expire.
func TestOwnWatermarkBeginsWithTheNewestReading(t *testing.T) {
	for _, expiry := range []int64{0, 30 * 24 * hour} {
		for _, each := range []bool{false, true} {
			r := newRig(t, func(s *Setup) { s.Rules.SensorExpiry = expiry })
			r.live("slow", 5, 1) // heard first, its mark is stored
			r.note()
			r.live("slow", 10, 1)
			if each {
				r.note()
			}
			r.live("a", 90000, 1)
			r.note()
			r.live("a", 90001, 1)
			r.note()
			r.reopen(nil)
			r.reopen(func(s *Setup) { s.Rules.PerSensor = true })
			if got, want := r.e.known("slow").scope.mark.M, at(10); got != want {
				t.Errorf("expiry %d, a commit each %v: M of the slow sensor is %d, want %d", expiry, each, got, want)
			}
		}
	}
}

// Over any changes of configuration, nothing hangs on how the readings were spread over commits, nor on kills.
func TestChangesDoNotHangOnCommits(t *testing.T) {
	eachDraw(t, func(t *rapid.T, dir string, p sim.Params) {
		p.Strict, p.Allowed = false, 0
		a, b := newBench(t, dir+"/a", setupFor(p)), newBench(t, dir+"/b", setupFor(p))
		b.compactAt = rapid.SampledFrom([]int64{0, 4}).Draw(t, "compact_at")
		defer func() { a.store.Close(); b.store.Close() }()
		front := int64(1000)
		for range rapid.IntRange(2, 4).Draw(t, "runs") {
			for range rapid.IntRange(1, 10).Draw(t, "messages") {
				item := drawItem(t, &front)
				a.feed(item)
				b.feed(item)
				a.note()
				switch rapid.IntRange(0, 11).Draw(t, "cut") {
				case 0, 1:
					b.note()
				case 2:
					a.restart()
				}
			}
			b.note()
			change := drawChange(t)
			change(&a.setup)
			b.setup = a.setup
			a.restart()
			b.restart()
			if rapid.Bool().Draw(t, "again") {
				a.restart()
			}
			if x, y := a.e.Ledger(), b.e.Ledger(); x != y {
				t.Fatalf("ledgers differ by commits:\n%+v\n%+v", x, y)
			}
		}
		if x, y := a.queued(), b.queued(); !slices.Equal(x, y) {
			t.Fatalf("points differ by commits:\n%q\n%q", x, y)
		}
		if x, y := a.e.journal.live, b.e.journal.live; x != y {
			t.Fatalf("%d readings remembered with a commit each, %d else", x, y)
		}
	})
}

// drawChange draws a change of configuration between two runs.
func drawChange(t *rapid.T) func(*Setup) {
	d := rapid.Int64Range(0, 60).Draw(t, "new")
	return rapid.SampledFrom([]func(*Setup){
		func(*Setup) {},
		func(s *Setup) { s.Rules.Delay = d },
		func(s *Setup) { s.Rules.Delay = d },
		func(s *Setup) { s.Rules.Allowed = d },
		func(s *Setup) { s.Rules.Size = 1 + d/4 },
		func(s *Setup) { s.Rules.PerSensor = !s.Rules.PerSensor },
		func(s *Setup) { s.Rules.PerSensor, s.Rules.Delay = !s.Rules.PerSensor, d },
		func(s *Setup) { s.Rules.Size, s.Rules.Delay = 1+d/4, 60-d },
	}).Draw(t, "change")
}
