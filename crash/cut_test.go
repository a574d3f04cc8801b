package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// A cutter cuts the power of a recorded run at many moments, and looks at what start makes of each.
type cutter struct {
	*recording
	rng     *rand.Rand
	between int  // one of so many moments between syncs is cut, by chance
	harmful bool // other losses than those that keep the order of writes
	goOn    int  // one cut in so many is gone on from to the end

	after func(dir string) error // looks at what a cut left, instead of start

	opened, gone int
	evicted      int64 // most points that a store said were evicted
	slowest      time.Duration
	faults       []error
}

// run walks through the calls, in the order of their lines, and cuts.
func (u *cutter) run() { u.runOn(newDisk(u.dir)) }

// runOn is run on a disk that is not empty at first.
func (u *cutter) runOn(d *disk) {
	type moment struct {
		line int
		c    *call
		ends bool
	}
	var moments []moment
	for i := range u.calls {
		c := &u.calls[i]
		moments = append(moments, moment{c.begin, c, false}, moment{c.end, c, true})
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return a.line - b.line })
	for _, m := range moments {
		switch {
		case !m.ends:
			d.issue(m.c)
			if m.c.name != "openat" && u.rng.IntN(u.between) == 0 {
				u.cut(d, m.line, u.loss())
			}
		case d.isSync(m.c):
			u.cut(d, m.line, u.loss())
			d.sync(m.c)
			u.cut(d, m.line, loseAll)
		}
	}
}

func (u *cutter) loss() loss {
	if u.harmful {
		return loss(u.rng.IntN(int(numLosses)))
	}
	return loss(u.rng.IntN(int(ordered)))
}

// cut rebuilds the folder as a cut at a line of the trace leaves it, and opens it.
func (u *cutter) cut(d *disk, line int, how loss) {
	dir, err := os.MkdirTemp(inMemory(), "edgeagent-cut-")
	if err != nil {
		u.t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	sector := []int64{512, 4096}[u.rng.IntN(2)]
	d.cut(u.t, dir, how, sector, u.rng)
	u.opened++
	after := func() error { return u.start(dir, line) }
	if u.after != nil {
		after = func() error { return u.after(dir) }
	}
	if err := after(); err != nil {
		u.faults = append(u.faults, fmt.Errorf("cut at line %d, loss %d, sectors of %d: %w", line, how, sector, err))
	}
}

// fleet is one with all the usual troubles, n messages or so in three parts.
func fleet(rng *rand.Rand, n int) sim.FleetParams {
	return sim.FleetParams{Sensors: 8, Rate: float64(n) / 3 / 1500, For: 25 * time.Minute, Start: fleetStart.UnixNano(), Seed: rng.Uint64(), Late: 0.06, Repeat: 0.03, Bad: 0.02}
}

// TestPowerCut cuts the power of a recorded run at every sync and at many moments between.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	messages, between, goOn := 300, 20, 30
	if long() {
		messages, between, goOn = 2500, 20, 10
	}
	for _, tt := range []struct{ name, maxPoints string }{{"all kept", ""}, {"oldest points evicted", "max_points = 12\n"}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rng := testbed.Random(t)
			u := cutter{recording: record(t, fleet(rng, messages), tt.maxPoints), rng: rng, between: between, harmful: true, goOn: goOn}
			u.run()
			t.Logf("%d cuts opened, %d gone on from; slowest start %v; %d calls, %d messages, %d offers", u.opened, u.gone, u.slowest.Round(time.Millisecond), len(u.calls), len(u.sent), len(u.offers))
			for _, err := range u.faults[:min(5, len(u.faults))] {
				t.Error(err)
			}
			if len(u.faults) > 5 {
				t.Errorf("and %d more", len(u.faults)-5)
			}
			if u.evicts != (u.evicted > 0) {
				t.Errorf("%d points were evicted", u.evicted)
			}
			if u.opened < 300 {
				t.Errorf("%d cuts only", u.opened)
			}
		})
	}
}

// TestPowerCutWithoutSync shows that the trial can fail: where syncs are not made, cuts take what was acknowledged.
func TestPowerCutWithoutSync(t *testing.T) {
	t.Parallel()
	rng := testbed.Random(t)
	u := cutter{recording: record(t, fleet(rng, 400), "", noSync), rng: rng, between: 10}
	u.run()
	t.Logf("%d of %d cuts lost something, the first: %v", len(u.faults), u.opened, slices.Concat(u.faults, []error{nil})[0])
	if len(u.faults) < u.opened/4 {
		t.Errorf("only %d of %d cuts without a sync lost something", len(u.faults), u.opened)
	}
}
