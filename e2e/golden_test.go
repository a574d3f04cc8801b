package e2e

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// A golden is one case of the golden folder.
type golden struct {
	name   string
	conf   string
	files  []string
	lines  []sim.Line
	ledger sim.Ledger
	exact  bool // every point is put out once
}

func goldens(t *testing.T) []golden {
	t.Helper()
	dirs, err := filepath.Glob("../sim/testdata/golden/*/config.toml")
	if err != nil || len(dirs) != 20 {
		t.Fatalf("%d golden cases, %v, want 20", len(dirs), err)
	}
	var all []golden
	for _, conf := range dirs {
		dir := filepath.Dir(conf)
		g := golden{name: filepath.Base(dir), conf: conf, ledger: readLedger(t, filepath.Join(dir, "expect-ledger.json"))}
		g.files, _ = filepath.Glob(filepath.Join(dir, "messages-*.ndjson"))
		slices.Sort(g.files)
		g.lines = decode(t, readFile(t, filepath.Join(dir, "expect.lp")))
		g.exact = strings.Contains(string(readFile(t, conf)), `allowed_lateness = "0s"`)
		if len(g.files) == 0 || len(g.lines) == 0 {
			t.Fatalf("%s: %d files, %d lines", g.name, len(g.files), len(g.lines))
		}
		all = append(all, g)
	}
	return all
}

// sameLedger compares all columns; a reason that is absent is 0.
func sameLedger(t *testing.T, got, want sim.Ledger) {
	t.Helper()
	maps.DeleteFunc(got.Rejected, func(_ string, n int64) bool { return n == 0 })
	maps.DeleteFunc(want.Rejected, func(_ string, n int64) bool { return n == 0 })
	rejected := maps.Equal(got.Rejected, want.Rejected)
	if got.Received != want.Received || got.Windowed != want.Windowed || got.Late != want.Late ||
		got.Duplicate != want.Duplicate || got.Retained != want.Retained || !rejected {
		t.Errorf("ledger: got %+v, want %+v", got, want)
	}
	if !got.Balanced() {
		t.Errorf("ledger does not balance: %+v", got)
	}
}

// check compares what was printed. Where points are updated, an update may have replaced one that was not printed yet.
func (g golden) check(t *testing.T, r *replay) {
	t.Helper()
	lines, ledger := r.result()
	sameLedger(t, ledger, g.ledger)
	samePoints(t, "last of each point", last(lines), last(g.lines))
	got, want := sequences(lines), sequences(g.lines)
	for id, seq := range got {
		if g.exact && !slices.Equal(seq, want[id]) || !inOrder(seq, want[id]) {
			t.Errorf("%s: printed %q, want %q", id, seq, want[id])
		}
	}
}

// inOrder reports whether part is all with some left out.
func inOrder(part, all []string) bool {
	for _, s := range all {
		if len(part) > 0 && part[0] == s {
			part = part[1:]
		}
	}
	return len(part) == 0
}

// checkRepeated compares what runs that were killed have printed: what was printed before a kill may stand again.
func (g golden) checkRepeated(t *testing.T, r *replay) {
	t.Helper()
	lines, ledger := r.result()
	sameLedger(t, ledger, g.ledger)
	samePoints(t, "last of each point", last(lines), last(g.lines))
	want := sequences(g.lines)
	for id, seq := range sequences(lines) {
		for _, fields := range seq {
			if !slices.Contains(want[id], fields) {
				t.Errorf("%s: printed %s, want one of %q", id, fields, want[id])
			}
		}
	}
}

// TestGoldenReplay replays each case file after file, all files at once, and killed on the way.
func TestGoldenReplay(t *testing.T) {
	prog := native(t)
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			r := newReplay(t, prog, g.conf)
			for _, file := range g.files {
				r.run(file)
			}
			g.check(t, r)

			r = newReplay(t, prog, g.conf)
			began := time.Now()
			r.run(g.files...)
			whole := time.Since(began)
			g.check(t, r)

			rng := testbed.Random(t)
			r = newReplay(t, prog, g.conf)
			kills := r.runKilled(rng, whole, len(g.lines), g.files...)
			t.Logf("killed %d times within %v", kills, whole)
			g.checkRepeated(t, r)
		})
	}
}

// TestGoldenReplayOfStream kills replays that are still being fed.
func TestGoldenReplayOfStream(t *testing.T) {
	prog := native(t)
	for _, g := range goldens(t) {
		if !strings.HasPrefix(g.name, "random-") {
			continue // too short to be fed in part: an input is known by its first 4 KiB
		}
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			var feed [][]byte
			for _, file := range g.files {
				feed = append(feed, slices.Collect(bytes.Lines(readFile(t, file)))...)
			}
			r := newReplay(t, prog, g.conf)
			r.runFed(testbed.Random(t), time.Second, feed)
			g.checkRepeated(t, r)
		})
	}
}

// TestReplayKnowsItsInput checks that an input that is committed to its end gives nothing more on the same store.
func TestReplayKnowsItsInput(t *testing.T) {
	const dir = "../sim/testdata/golden/boundaries/"
	files := []string{dir + "messages-1.ndjson", dir + "messages-2.ndjson"}
	r := newReplay(t, native(t), dir+"config.toml")
	r.run(files...)
	printed, ledger := len(r.out), readLedger(t, r.ledger)
	r.run(files...)
	if len(r.out) != printed {
		t.Errorf("a second run printed %q", r.out[printed:])
	}
	sameLedger(t, readLedger(t, r.ledger), ledger)
}
