package agent

import (
	"os"
	"path/filepath"
	"testing"

	"edgeagent/buffer"
	"edgeagent/uplink"
)

// lose takes the store away, but for its floor file, and begins another.
func (r *rig) lose(adjust func(*Setup)) {
	r.t.Helper()
	r.close()
	r.wipe()
	if adjust != nil {
		adjust(&r.setup)
	}
	r.open()
}

// wipe deletes the file of a closed store.
func (r *rig) wipe() {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.dir, "*.db"))
	if err != nil || len(files) != 1 {
		r.t.Fatalf("store files %q, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		r.t.Fatal(err)
	}
}

// offered is a rig that has offered the window [0,300) and late counts of [900,1200) to an uplink; F is 1500 then.
func offered(t *testing.T, adjust func(*Setup)) *rig {
	r := newRig(t, adjust)
	r.live("a", 0, 1)
	r.live("a", 900, 2)
	r.live("a", -1, 3)
	r.live("a", 1200, 2)
	r.puts("before", "a@0 count=1 max=1", "late_drops a@900 count=1 max_lateness_s=901 total=1")
	r.queued()
	return r
}

func TestFreshStoreAboveAFloor(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		for _, allowed := range []int64{0, 2 * hour} {
			r := offered(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
			r.lose(func(s *Setup) { s.Rules.Allowed = allowed })
			r.live("a", 1499.999, 9)
			r.counts("a window that ends at F, whatever the allowance", counts{"received": 1, "late": 1})
			r.live("a", 1499.999, 9)
			r.counts("late readings are remembered too", counts{"received": 2, "late": 1, "duplicate": 1})
			r.live("a", 10, 9)
			r.live("a", 1500, 9)
			r.counts("one that begins there", counts{"received": 4, "windowed": 1, "late": 2, "duplicate": 1})
			r.reopen(nil)
			r.live("a", 1499, 9)
			r.counts("and after a restart", counts{"received": 5, "windowed": 1, "late": 3, "duplicate": 1})
			r.live("a", 2401, 9)
			r.puts("late intervals begin at F", "a@1500 count=1 max=9", "late_drops a@1500 count=3 max_lateness_s=1490 total=3")
		}
	}
}

func TestIdleReportsWhatIsBelowTheFloor(t *testing.T) {
	r := offered(t, func(s *Setup) { s.Rules.IdleTimeout = 30 * minute })
	r.lose(nil)
	r.live("a", 100, 9)
	r.idle(1800 + 299)
	r.puts("nothing has been windowed since the start: M counts from F")
	r.idle(1800 + 300)
	r.puts("left", "late_drops a@1500 count=1 max_lateness_s=1400 total=1")
	r.live("a", 1500, 1)
	r.counts("no window is over for that", counts{"received": 2, "windowed": 1, "late": 1})
}

func TestRetainedInAFreshStore(t *testing.T) {
	r := newRig(t, nil)
	r.retained("a", 0, 1)
	r.counts("before anything live", counts{"received": 1, "retained": 1})
	r.live("b", 0, 1)
	r.retained("a", 0, 1)
	r.counts("after it", counts{"received": 3, "windowed": 2, "retained": 1})
	r.retained("a", 0, 1)
	r.retained("a", -700, 1)
	r.counts("a repeat and a late one count as retained", counts{"received": 5, "windowed": 2, "retained": 3})
	r.reopen(nil)
	r.retained("c", 0, 1)
	r.counts("not anew after a restart", counts{"received": 6, "windowed": 3, "retained": 3})
}

// A point of which no line can be made is parked with the reason; the rest goes out.
func TestEncoderErrorsAreParked(t *testing.T) {
	r := newRig(t, nil)
	r.live("a", 0, 1)
	r.live("x\\", 0, 1)
	r.live("b", 900, 1)
	for _, p := range r.e.batch.points {
		if (p.Refused != "") != (len(p.Line) == 0) {
			t.Errorf("point %+v", p)
		}
	}
	if err := r.e.Fill(&r.batch); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Commit(&r.batch); err != nil {
		t.Fatal(err)
	}
	r.e.Committed(&r.batch)
	r.waits("the good one", 0, "a@0 count=1 max=1")
	if c := r.store.Counts(); c.Finalized != 2 || c.Queued != 1 || c.Parked != 1 || !c.Balanced() {
		t.Errorf("points %+v", c)
	}
}

// Points in flight are not superseded: the newer one waits beside them.
func TestSupersedeAndProtect(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.Allowed = hour })
	r.live("a", 0, 1)
	r.live("a", 900, 1)
	r.note()
	commit := func(protect uint64) buffer.PointCounts {
		t.Helper()
		if err := r.e.Fill(&r.batch); err != nil {
			t.Fatal(err)
		}
		r.batch.InFlight = []buffer.InFlight{{Spans: []buffer.Span{{First: 1, Last: protect}}}}
		if _, err := r.store.Commit(&r.batch); err != nil {
			t.Fatal(err)
		}
		r.e.Committed(&r.batch)
		r.batch.InFlight = nil
		return r.store.Counts()
	}
	r.live("a", 1, 2)
	if c := commit(1); c.Finalized != 1 || c.Updated != 1 || c.Superseded != 0 || c.Queued != 2 {
		t.Errorf("in flight: %+v", c)
	}
	r.live("a", 2, 3)
	r.live("a", 3, 4)
	if c := commit(1); c.Updated != 3 || c.Superseded != 2 || c.Queued != 2 {
		t.Errorf("the updates after it, one of the same commit: %+v", c)
	}
	r.waits("both", 0, "a@0 count=1 max=1", "a@0 count=4 max=4")
	r.reopen(nil)
	r.live("a", 4, 5)
	if c := commit(0); c.Superseded != 4 || c.Queued != 1 {
		t.Errorf("over a restart, after which nothing is in flight: %+v", c)
	}
	r.waits("the newest has its place", 0, "a@0 count=5 max=5")
}

func TestHealthLine(t *testing.T) {
	r := newRig(t, nil)
	r.e.Health(at(60), []uplink.Field{uplink.Int("received", 3)})
	r.puts("health", "edgeagent @60 received=3")
	if c := r.store.Counts(); c.Health != 1 || c.Queued != 1 {
		t.Errorf("points %+v", c)
	}
}
