package buffer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lost opens what is left of tr's file without the first page of a bucket, after an outage in which nothing was offered.
func (tr truth) lost(t *testing.T, bucket string) (*Store, Options) {
	t.Helper()
	data := append([]byte(nil), tr.file...)
	list, _ := leaves(t, tr.file)
	for _, l := range firsts(list) {
		if l.bucket == bucket {
			clear(page(data, l.id))
		}
	}
	o := options(t.TempDir())
	if err := os.WriteFile(filepath.Join(o.Dir, fileName), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, o), o
}

// With the state of the last commit its windows count as open again: the points that were made of them are carried over, and what is left of the
// readings must not take their place. Journal and state are of two commits then, until a state is committed.
func TestSalvageOfTwoCommits(t *testing.T) {
	for _, synced := range []bool{false, true} {
		tr := fiveThousand(t, synced)
		s, o := tr.lost(t, bucketState)
		snap := load(t, s)
		// The empty commit of a synced file may have put its free list where the state of the one before last was.
		if !synced && !strings.HasPrefix(string(snap.State), "state 98 ") || snap.Salvaged.Readings != 5000 || snap.Salvaged.Points != int64(len(tr.lines)) {
			t.Fatalf("state %.10q with %+v, want that of commit 98 with all readings and points", snap.State, snap.Salvaged)
		}
		if snap.Floor != 400*minute {
			t.Errorf("floor %d, want the end of the last point, %d", snap.Floor, 400*minute)
		}
		for i, b := range []Batch{{}, {Journal: readings(1, 5000)}, {State: []byte("new")}, {}} {
			closeChecked(t, s)
			s = open(t, o)
			if partial := load(t, s).Partial; partial != (i < 3) {
				t.Errorf("partial: %v before commit %d; the third stores a state", partial, i+1)
			}
			commit(t, s, &b)
		}
		if got := load(t, s); got.Partial || got.Floor != 400*minute || got.Salvaged != nil {
			t.Errorf("later: %+v", got)
		}
	}
}

// A packet memory that is lost costs no readings and closes no windows.
func TestSalvageWithoutPackets(t *testing.T) {
	tr := fiveThousand(t, false)
	s, _ := tr.lost(t, bucketPackets)
	snap := load(t, s)
	if !snap.Salvaged.Whole || snap.Partial || snap.Salvaged.Readings != 5000 || !strings.HasPrefix(string(snap.State), "state 99 ") {
		t.Errorf("state %.10q with %+v, want all of the last commit", snap.State, snap.Salvaged)
	}
	if n := len(snap.Packets); n != 99 {
		t.Errorf("packets of %d commits, want the 99 before the last", n)
	}
}
