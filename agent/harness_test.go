package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
)

var testBuild = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// bench runs an engine on a real store, and lets a test cut the run into commits and restarts anywhere.
type bench struct {
	t     rapid.TB
	dir   string
	setup Setup
	store *buffer.Store
	e     *Engine
	lines []string // in order of emission, collected from the outbox before anything may supersede them
	batch buffer.Batch

	compactAt int64 // of the engine's journal, if above 0
}

func newBench(t rapid.TB, dir string, setup Setup) *bench {
	b := &bench{t: t, dir: dir, setup: setup}
	b.open()
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.store, err = buffer.Open(buffer.Options{Dir: b.dir, NoSync: true, MaxSize: storeSize, FloorStep: b.setup.Rules.Size, RejectedRing: 1 << 20,
		SideOutput: b.setup.Rules.Side != SideDrop, Retain: map[bool]time.Duration{true: time.Hour}[b.setup.Rules.Trace]}); err != nil {
		b.t.Fatal(err)
	}
	r, err := Restore(b.store, b.setup)
	if err != nil {
		b.t.Fatal(err)
	}
	b.e = r.Engine
	if b.compactAt > 0 {
		b.e.journal.compactAt = b.compactAt
	}
	b.note()
}

// note collects what the engine has put out since the last commit, and commits it.
func (b *bench) note() {
	b.t.Helper()
	for _, p := range b.e.batch.points {
		b.lines = append(b.lines, string(p.Line))
	}
	if err := b.e.Fill(&b.batch); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.store.Commit(&b.batch); err != nil {
		b.t.Fatal(err)
	}
	b.e.Committed(&b.batch)
	if c := b.store.Counts(); !c.Balanced() {
		b.t.Fatalf("points do not balance: %+v", c)
	}
	if l := b.e.Ledger(); !l.Balanced() {
		b.t.Fatalf("ledger does not balance: %+v", l)
	}
}

func (b *bench) close() {
	b.t.Helper()
	if err := b.store.Check(); err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.Close(); err != nil {
		b.t.Fatal(err)
	}
}

// restart ends the process as a kill would: what was not committed is gone, which the caller feeds again.
func (b *bench) restart() {
	b.t.Helper()
	b.close()
	b.open()
}

// sameAfterRestart restarts after a commit, and compares what is remembered.
func (b *bench) sameAfterRestart() {
	b.t.Helper()
	before, open := b.e.journal.live, b.e.OpenWindows()
	b.restart()
	if b.e.journal.live != before || b.e.OpenWindows() != open {
		b.t.Fatalf("%d readings remembered, %d windows open, want %d, %d as before the restart", b.e.journal.live, b.e.OpenWindows(), before, open)
	}
}

func (b *bench) feed(item sim.Item) {
	res := reading.Result{Readings: slices.Clone(item.Readings), Refusals: item.Refusals}
	b.e.Message(Input{Result: &res, Retained: item.Retained, Known: item.Again, Now: Moment{Wall: testBuild.UnixNano(), Trusted: true}})
}

// eachDraw runs fn on what rapid draws, again and again, with rules, and with a folder that is gone afterwards.
func eachDraw(t *testing.T, fn func(t *rapid.T, dir string, p sim.Params)) {
	root := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(root, fmt.Sprint(runs))
		defer os.RemoveAll(dir)
		fn(t, dir, drawParams(t))
	})
}

// queued is what waits in the outbox, oldest first.
func (b *bench) queued() []string {
	b.t.Helper()
	points, err := b.store.Peek(0, 1<<20, 1<<30)
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, p := range points {
		lines = append(lines, string(p.Line))
	}
	return lines
}

// storeSize is small, so that the address space of a 32-bit board holds the stores of a whole test.
const storeSize = 16 << 20
