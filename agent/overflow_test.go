package agent

import (
	"testing"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// brim is a rig whose journal is full when the test says so.
func brim(t *testing.T, full *bool, perSensor bool) *rig {
	r := newRig(t, func(s *Setup) { s.Rules.PerSensor, s.Rules.MaxFuture, s.Rules.MaxSensors = perSensor, 2*minute, 3 })
	r.e.JournalFull = func(int64) bool { return *full }
	return r
}

func TestOverflow(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		full := false
		r := brim(t, &full, perSensor)
		r.now.Wall = at(2000)
		r.live("a", 0, 1)
		r.live("b", 0, 2)
		full = true
		r.live("a", 899.999, 9)
		r.puts("W a millisecond short")
		r.counts("refused", counts{"received": 3, "windowed": 2, "overflow": 1})
		r.retained("a", 1000, 9)
		r.live("a", 2121, 9)
		r.live("a", -700, 9)
		r.puts("retained, too far ahead and late ones move nothing")
		r.counts("but are refused", counts{"received": 6, "windowed": 2, "overflow": 4})
		r.live("a", 900, 9)
		if want := []string{"a@0 count=1 max=1", "b@0 count=1 max=2"}; perSensor {
			r.puts("a's own window", want[0])
		} else {
			r.puts("windows become final", want...)
		}
		full = false
		r.live("a", 1000, 3)
		r.counts("there is room again", counts{"received": 8, "windowed": 3, "overflow": 5})
	}
}

// A sensor that is heard first while the journal is full is known from then on, and moves event time like any other.
func TestOverflowOfANewSensor(t *testing.T) {
	full := false
	r := brim(t, &full, false)
	r.now.Wall = at(2000)
	r.live("a", 0, 1)
	full = true
	r.live("new", 900, 9)
	r.puts("final", "a@0 count=1 max=1")
	r.live("third", 901, 9)
	r.live("fourth", 1300, 9)
	r.mark("there is no room for a fourth, which moves nothing", "", 901, 301)
	r.counts("all are refused by the first rule", counts{"received": 4, "windowed": 1, "overflow": 3})
	r.reopen(nil)
	if n := len(r.e.sensors); n != 3 {
		t.Errorf("%d sensors known after the restart, want 3", n)
	}
}

func TestOverflowOfHeldReadings(t *testing.T) {
	full := false
	r := brim(t, &full, false)
	r.now.Trusted = false
	r.live("a", 0, 1)
	r.live("b", 2*86400, 1)
	full = true
	r.now = Moment{Wall: at(2 * 86400), Trusted: true}
	r.e.ClockTrusted(r.now)
	r.counts("released into a full journal", counts{"received": 2, "windowed": 1, "overflow": 1})
	r.puts("it moves event time", "a@0 count=1 max=1")
}

// The share is a real store's: it is never passed by more than a record, and readings are taken again once windows are over.
func TestOverflowOfARealStore(t *testing.T) {
	dir := t.TempDir()
	store, err := buffer.Open(buffer.Options{Dir: dir, NoSync: true, MaxSize: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r := newRig(t, nil)
	restored, err := Restore(store, r.setup)
	if err != nil {
		t.Fatal(err)
	}
	r.e = restored.Engine
	r.e.JournalFull = store.JournalFull
	var b buffer.Batch
	for i := range 100_000 {
		r.live("sensor", float64(i)/50, float64(i))
		if i%500 == 0 {
			if err := r.e.Fill(&b); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Commit(&b); err != nil {
				t.Fatal(err)
			}
			r.e.Committed(&b)
			if got := store.Stats().JournalBytes; got > 1<<19 {
				t.Fatalf("journal of %d bytes after %d readings, its share is %d", got, i, 1<<19)
			}
		}
	}
	l := r.e.Ledger()
	if over := l.Rejected[reading.Overflow]; over < 10_000 || over+l.Windowed != 100_000 || l.Windowed < 30_000 {
		t.Errorf("windowed %d, overflow %d of 100,000", l.Windowed, over)
	}
	if m := r.e.stream.mark.M; m != at(99_999/50.) {
		t.Errorf("M %v", float64(m-t0)/1e9)
	}
	if c := store.Counts(); c.Finalized != 3 {
		t.Errorf("%d windows final, want the first 3: the journal was full before the fourth began, and W is in the fifth", c.Finalized)
	}
}
