package buffer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A truth is what a store held before it was damaged.
type truth struct {
	file     []byte
	floor    []byte
	commits  int
	entries  map[uint64][]Entry
	readings int
	lines    map[uint64]string
}

// fiveThousand makes a store with 5000 readings in its journal, 300 queued points and some parked ones, in 100 commits.
func fiveThousand(t *testing.T, syncFreelist bool) truth {
	t.Helper()
	o := options(t.TempDir())
	s := open(t, o)
	tr := truth{commits: 100, entries: make(map[uint64][]Entry), lines: make(map[uint64]string)}
	for i := range tr.commits {
		b := Batch{
			State: []byte(fmt.Sprintf("state %d %s", i, strings.Repeat("ledger ", 100))), Journal: readings(50, i*50),
			Packets: []Packet{{uint16(i), uint64(i)}}, Marks: []Mark{{fmt.Sprint("sensor ", i%20), int64(i), int64(i), -1 << 63, -1 << 63}},
			Late: []LateCount{{Series: "late", Count: int64(i)}},
		}
		for j := range 4 {
			b.Points = append(b.Points, point(i*4+j+1))
		}
		if i == 50 {
			b.Settle = []Settlement{{Through: 100, Parked: []Parked{{Seq: 7, Reason: "no"}, {Seq: 90, Reason: "no"}}}}
		}
		tr.entries[commit(t, s, &b)] = b.Journal
		tr.readings += len(b.Journal)
	}
	for _, p := range peek(t, s, 0) {
		tr.lines[p.Seq] = string(p.Line)
	}
	closeChecked(t, s)
	if syncFreelist {
		db, err := bolt.Open(s.path, 0o600, &bolt.Options{PageSize: pageSize})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if tr.file, err = os.ReadFile(s.path); err != nil {
		t.Fatal(err)
	}
	if tr.floor, err = os.ReadFile(filepath.Join(o.Dir, floorName)); err != nil {
		t.Fatal(err)
	}
	return tr
}

// A fate is what became of a damaged file.
type fate struct {
	used             bool
	readings, points int // of those that there were
}

// suffer starts on a damaged file, asserts what must hold whatever the damage, and reports the rest. After a clean stop nothing but Open itself
// looks at the file; else a child process checks it too.
func (tr truth) suffer(t *testing.T, damaged []byte, clean bool) (f fate) {
	t.Helper()
	o := options(t.TempDir())
	o.Check = checkInChild()
	path := filepath.Join(o.Dir, fileName)
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(o.Dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(fileName, damaged)
	write(floorName, tr.floor)
	if clean {
		write(cleanName, nil)
	}
	logger, text := logged()
	o.Logger = logger
	start := time.Now()
	s := open(t, o)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the start took %v", took)
	}
	snap := load(t, s)
	f.used = !snap.Fresh
	aside, _ := filepath.Glob(path + damagedMark + "*")
	if f.used != (len(aside) == 0) || f.used != (snap.Resets == 0) {
		t.Errorf("used: %v, resets %d, moved aside: %v", f.used, snap.Resets, aside)
	}
	if !f.used {
		if kept, _ := os.ReadFile(aside[0]); !bytes.Equal(kept, damaged) {
			t.Error("the file moved aside is not what it was")
		}
		if n := strings.Count(text.String(), "\n"); n != 1 || !strings.Contains(text.String(), aside[0]) {
			t.Errorf("%d lines, want one that names %s:\n%s", n, aside[0], text)
		}
		if c := snap.Counts; c.Carried != c.Queued+c.Parked+c.Evicted || c.Made() != c.Carried {
			t.Errorf("counts %+v, want all carried", c)
		}
		tr.floorHolds(t, snap)
	}
	f.readings, f.points = tr.left(t, s)
	n := commit(t, s, &Batch{State: []byte("next"), Journal: readings(3, 0), Points: []Point{point(1)}})
	if n < uint64(len(tr.entries)) && f.readings > 0 {
		t.Errorf("the next record is %d", n)
	}
	closeChecked(t, s)
	if s = open(t, o); string(load(t, s).State) != "next" || !load(t, s).Counts.Balanced() {
		t.Error("what was committed after it is not there at the next start")
	}
	closeChecked(t, s)
	return f
}

// floorHolds wants a store that does not know all that the old one knew to stay above what may have been sent.
func (tr truth) floorHolds(t *testing.T, snap *Snapshot) {
	t.Helper()
	floor, err := decodeFloor(tr.floor)
	if err != nil {
		t.Fatal(err)
	}
	whole := snap.Salvaged.Whole
	if !whole && snap.Floor != floor {
		t.Errorf("saved in part, with floor %d, want %d", snap.Floor, floor)
	}
	last := strings.HasPrefix(string(snap.State), fmt.Sprintf("state %d ", tr.commits-1))
	if whole && !last {
		t.Errorf("saved whole with state %.10q", snap.State)
	}
	if before := fmt.Sprintf("state %d ", tr.commits-2); snap.State != nil && !last && !strings.HasPrefix(string(snap.State), before) {
		t.Errorf("state %.10q is neither the last nor the one before", snap.State)
	}
}

// left counts the readings and points that are still there, each of which must be one of those that there were.
func (tr truth) left(t *testing.T, s *Store) (entries, points int) {
	t.Helper()
	for n, e := range journal(t, s) {
		if !reflect.DeepEqual(e, tr.entries[n]) {
			t.Errorf("journal record %d is not what it was", n)
		}
		entries += len(e)
	}
	for _, p := range peek(t, s, 0) {
		if tr.lines[p.Seq] != string(p.Line) {
			t.Errorf("point %d is %q, it was %q", p.Seq, p.Line, tr.lines[p.Seq])
		}
		points++
	}
	return entries, points
}

// A toll sums up fates.
type toll struct {
	files, used, whole int
	readings, points   float64 // shares, summed
}

func (l *toll) add(tr truth, f fate) {
	l.files++
	if f.used {
		l.used++
	}
	r, p := float64(f.readings)/float64(tr.readings), float64(f.points)/float64(len(tr.lines))
	if r == 1 && p == 1 {
		l.whole++
	}
	l.readings, l.points = l.readings+r, l.points+p
}

func (l *toll) report(t *testing.T) {
	n := float64(l.files)
	t.Logf("%d files, all survived: %d used, %d moved aside; nothing lost in %d; on average %.2f%% of readings and %.2f%% of points are left",
		l.files, l.used, l.files-l.used, l.whole, 100*l.readings/n, 100*l.points/n)
}
