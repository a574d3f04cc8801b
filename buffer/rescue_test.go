package buffer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// wrecked makes a store with a bit of everything, takes its meta pages away, and gives its file and what was in it.
func wrecked(t *testing.T, o Options) (file string, held []any) {
	t.Helper()
	s := open(t, o)
	varied(t, s, 40)
	held = contents(t, s).([]any)
	closeChecked(t, s)
	if err := spoil(s.path); err != nil {
		t.Fatal(err)
	}
	return s.path, held
}

// By hand all goes into a store in which nothing has been stored, as with a start on the file itself.
func TestRescueIntoAnEmptyStore(t *testing.T) {
	from, to := options(t.TempDir()), options(t.TempDir())
	from.RejectedRing, to.RejectedRing = 1<<20, 1<<20
	file, held := wrecked(t, from)
	sum, err := Rescue(to, file)
	if err != nil {
		t.Fatal(err)
	}
	want := Salvage{Points: 205, Parked: 8, Records: 40, Readings: 800, Rejected: 40, State: true, Whole: true}
	if *sum != want {
		t.Errorf("Rescue = %+v, want %+v", *sum, want)
	}
	s := open(t, to)
	got := contents(t, s).([]any)
	snap, was := got[0].(*Snapshot), held[0].(*Snapshot)
	if c := snap.Counts; c != (PointCounts{Carried: 213, Queued: 205, Parked: 8}) {
		t.Errorf("counts %+v", c)
	}
	if !bytes.Equal(snap.State, was.State) || !bytes.Equal(snap.Held, was.Held) || !bytes.Equal(snap.Aliases, was.Aliases) || snap.NextRecord != was.NextRecord ||
		snap.NextSeq != was.NextSeq || !reflect.DeepEqual(snap.Marks, was.Marks) || !reflect.DeepEqual(snap.Late, was.Late) || !reflect.DeepEqual(snap.Packets, was.Packets) {
		t.Errorf("carried over %+v, want %+v", snap, was)
	}
	for _, i := range []int{2, 3, 4, 6} { // journal, parked, rejected, input
		if !reflect.DeepEqual(got[i], held[i]) {
			t.Errorf("part %d is not what it was", i)
		}
	}
	for i, p := range got[1].([]Point) {
		q := held[1].([]Point)[i]
		q.Kind, q.Replaces = Carried, 0
		if !reflect.DeepEqual(p, q) {
			t.Errorf("point %+v, want %+v", p, q)
		}
	}
}

// A store that has begun takes what cannot count twice, under numbers of its own.
func TestRescueIntoAStoreThatHasBegun(t *testing.T) {
	from, to := options(t.TempDir()), options(t.TempDir())
	from.RejectedRing, to.RejectedRing = 1<<20, 1<<20
	file, held := wrecked(t, from)
	s := open(t, to)
	commit(t, s, &Batch{State: []byte("mine"), Journal: readings(5, 0), Points: []Point{point(1), point(2)}, Settle: []Settlement{{Through: 0}}})
	commit(t, s, &Batch{Settle: []Settlement{{Through: 1}}})
	closeChecked(t, s)
	sum, err := Rescue(to, file)
	if err != nil || *sum != (Salvage{Points: 205, Parked: 8, Rejected: 40}) {
		t.Fatalf("Rescue = %+v, %v", sum, err)
	}
	s = open(t, to)
	snap := load(t, s)
	if want := (PointCounts{Finalized: 2, Carried: 213, Uploaded: 1, Queued: 206, Parked: 8}); snap.Counts != want || string(snap.State) != "mine" || snap.NextSeq != 216 {
		t.Errorf("%+v, want %+v and the state as it was", snap, want)
	}
	points := peek(t, s, 2)
	for i, p := range held[1].([]Point) {
		if string(points[i].Line) != string(p.Line) || points[i].Seq != uint64(i+3) {
			t.Fatalf("point %d is %q, want %q", points[i].Seq, points[i].Line, p.Line)
		}
	}
	if got := journal(t, s); len(got) != 1 {
		t.Errorf("%d journal records, want the one that was there", len(got))
	}
	closeChecked(t, s)
	if _, err := Rescue(to, s.path); err == nil || !strings.Contains(err.Error(), "it is the store itself") {
		t.Errorf("Rescue of the store itself = %v", err)
	}
	if _, err := Rescue(to, filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Rescue of nothing = %v", err)
	}
	if got := open(t, to).Counts().Queued; got != 206 {
		t.Errorf("%d queued after attempts that were refused, want 206", got)
	}
}

// To look at a store changes nothing in its folder.
func TestOpenReadOnly(t *testing.T) {
	o := options(t.TempDir())
	if _, err := OpenReadOnly(o); !errors.Is(err, os.ErrNotExist) || len(names(t, o.Dir)) != 0 {
		t.Errorf("where there is no store: %v, files %v", err, names(t, o.Dir))
	}
	s := open(t, o)
	varied(t, s, 5)
	o.LockTimeout = lockPause
	if _, err := OpenReadOnly(o); !errors.Is(err, ErrLocked) {
		t.Errorf("while it is in use: %v, want ErrLocked", err)
	}
	before := s.Stats()
	closeChecked(t, s)
	file, files := mustRead(t, s.path), names(t, o.Dir)
	look, err := OpenReadOnly(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := look.Stats(); got.UsedBytes != before.UsedBytes || got.JournalRecords != 5 {
		t.Errorf("Stats = %+v, want %+v", got, before)
	}
	if got := len(peek(t, look, 0)); got != 30 {
		t.Errorf("%d points, want 30", got)
	}
	if _, err := look.Commit(&Batch{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Commit = %v, want ErrReadOnly", err)
	}
	if err := look.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustRead(t, s.path), file) || !reflect.DeepEqual(names(t, o.Dir), files) || readFloor(t, o.Dir) >= 0 {
		t.Errorf("something was changed: files %v, before %v, floor %d", names(t, o.Dir), files, readFloor(t, o.Dir))
	}
	if err := spoil(s.path); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(o); !errors.Is(err, ErrDamaged) || !reflect.DeepEqual(names(t, o.Dir), files) {
		t.Errorf("a damaged one: %v, files %v; want ErrDamaged, and left as it is", err, names(t, o.Dir))
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A store that was made anew because nothing of it could be read holds nothing yet, as one that was not there.
func TestRescueIntoAStoreMadeAnew(t *testing.T) {
	from := full(t, ring(options(t.TempDir())))
	want := load(t, from)
	closeChecked(t, from)
	for name, text := range map[string]string{"empty": "", "not a store": strings.Repeat("x", 50000)} {
		o := ring(options(t.TempDir()))
		if err := os.WriteFile(Path(o.Dir), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := Rescue(o, Path(from.o.Dir))
		if err != nil || !sum.State || sum.Readings == 0 {
			t.Fatalf("%s: carried over %+v, %v; want state and readings too", name, sum, err)
		}
		s := open(t, o)
		if got := load(t, s); string(got.State) != string(want.State) || got.NextRecord < want.NextRecord {
			t.Errorf("%s: state %q from record %d on, want %q and %d", name, got.State, got.NextRecord, want.State, want.NextRecord)
		}
		closeChecked(t, s)
	}
}
