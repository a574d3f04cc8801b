package agent

import (
	"testing"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// What remains of a store may be its journal alone, in a new one whose floor is F: M is learned from it, windows that may have
// been sent stay gone, the others are rebuilt, and so is the memory of duplicates.
func TestJournalWithoutState(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := offered(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
		journal := func(series string, s, v float64, kind buffer.EntryKind) buffer.Entry {
			return buffer.Entry{Series: reading.Series(series), Time: at(s), Value: v, Kind: kind}
		}
		r.close()
		r.wipe()
		store, err := buffer.Open(buffer.Options{Dir: r.dir, NoSync: true, MaxSize: storeSize, FloorStep: r.setup.Rules.Size})
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Commit(&buffer.Batch{Journal: []buffer.Entry{journal("a", 1200, 2, buffer.Windowed), journal("b", 1510, 3, buffer.Windowed),
			journal("b", 2000, 4, buffer.Windowed), journal("b", 1300, 4, buffer.Late)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		r.open()
		r.mark("b's M", "b", 2000, 1400)
		if n := len(r.e.sensors); n != 2 {
			t.Errorf("%d sensors, want 2", n)
		}
		r.live("b", 1510, 3)
		r.live("b", 1300, 4)
		r.live("a", 1200, 2)
		r.counts("all are remembered", counts{"received": 3, "duplicate": 3})
		r.live("a", 1499, 9)
		r.counts("[1200,1500) ends at F", counts{"received": 4, "duplicate": 3, "late": 1})
		r.reopen(nil)
		r.live("b", 2401, 9)
		got := r.took()
		if len(got) == 0 || got[0] != "b@1500 count=1 max=3" {
			t.Errorf("put out %q, want b@1500 first", got)
		}
		r.live("b", 9000, 9)
		for _, line := range append(got, r.took()...) {
			if line[:6] == "a@1200" {
				t.Errorf("put out %q, which may have been sent", line)
			}
		}
	}
}

// A held retained reading does not ask for its source's rule again: after a restart there may be other sources.
func TestHeldRetainedUnderOtherSources(t *testing.T) {
	r := future(t)
	r.live("x", 0, 0)
	r.retained("a", 2*86400, 1)
	r.counts("held", counts{"received": 1, "windowed": 1, "held": 1})
	r.reopen(func(s *Setup) {
		s.Retained = func(source uint16) reading.RetainPolicy {
			t.Errorf("source %d was asked for", source)
			return reading.Drop
		}
	})
	r.live("b", 2*86400, 1)
	r.counts("released", counts{"received": 3, "windowed": 3})
}
