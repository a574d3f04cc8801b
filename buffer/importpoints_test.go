package buffer

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestImportPoints(t *testing.T) {
	from := full(t, ring(options(t.TempDir())))
	file := export(t, from)
	o := ring(options(t.TempDir()))
	s := open(t, o)
	own := Point{Line: []byte("own v=1 1"), End: 5}
	commit(t, s, &Batch{State: []byte("mine"), Points: []Point{own}})
	closeChecked(t, s)
	for _, again := range []bool{false, true} {
		in, err := ImportPoints(o, bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, o)
		if c := s.Counts(); c.Carried != 22 || c.Queued != 21 || c.Parked != 2 || !c.Balanced() {
			t.Errorf("again %v: counts %+v; want 22 carried, 21 queued, 2 parked", again, c)
		}
		if again && (in.Before != 22 || in.Queued != 0) || !again && (in.Before != 0 || in.Queued != 20 || in.Parked != 2) {
			t.Errorf("again %v: %+v", again, in)
		}
		var lines, want []string
		for _, p := range peek(t, s, 0) {
			lines = append(lines, string(p.Line))
		}
		want = append(want, string(own.Line))
		for _, p := range peek(t, from, 0) {
			want = append(want, string(p.Line))
		}
		same(t, "lines", lines, want)
		if snap := load(t, s); string(snap.State) != "mine" {
			t.Errorf("state %q", snap.State)
		}
		closeChecked(t, s)
	}
}

// A file that was cut short can be followed by the whole one: no point comes in twice.
func TestImportPointsGoesOn(t *testing.T) {
	o := options(t.TempDir())
	from := open(t, o)
	long := strings.Repeat("x", 1000)
	var b Batch
	for i := range 2000 {
		b.Points = append(b.Points, Point{Line: fmt.Appendf(nil, "m f=%q %d", long, i)})
	}
	commit(t, from, &b)
	file := export(t, from)
	to := options(t.TempDir())
	if _, err := ImportPoints(to, bytes.NewReader(file[:len(file)-1000])); !errors.Is(err, ErrNotExport) {
		t.Fatalf("cut file: %v", err)
	}
	s := open(t, to)
	part := s.Counts().Carried
	closeChecked(t, s)
	in, err := ImportPoints(to, bytes.NewReader(file))
	if err != nil || part == 0 || in.Before != part || in.Queued != 2000-part {
		t.Fatalf("%d points of the cut file, then %+v, %v", part, in, err)
	}
	got := peek(t, open(t, to), 0)
	if len(got) != 2000 {
		t.Fatalf("%d points, want 2000", len(got))
	}
	for i, p := range got {
		if !slices.Equal(p.Line, b.Points[i].Line) {
			t.Fatalf("point %d is another", i)
		}
	}
}

// Of a point and an update of it that was overtaking it when the store was exported, the update is what goes out.
func TestImportPointsKeepsUpdatesInOrder(t *testing.T) {
	from := open(t, options(t.TempDir()))
	first, second := updates()
	commit(t, from, &Batch{Points: []Point{point(7), first}})
	second.Replaces = 2
	commit(t, from, &Batch{Points: []Point{second}, InFlight: upTo(2)})
	file := export(t, from)
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("begun"), Points: []Point{point(1)}})
	closeChecked(t, s)
	if _, err := ImportPoints(o, bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	points := peek(t, s, 1)
	if len(points) != 2 || string(points[1].Line) != string(second.Line) || s.Counts() != (PointCounts{Finalized: 1, Carried: 3, Queued: 3, Superseded: 1}) {
		t.Errorf("queued %+v, counts %+v; want the update alone", points, s.Counts())
	}
}

// The points of a store's own past stay out: one that has been put out again since would be overwritten by its older self. What was imported or
// salvaged goes on as the store that it was.
func TestImportPointsOfItself(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("state"), Points: []Point{{Line: []byte("m count=2i 1"), Series: "a", End: 5}}})
	file := export(t, s)
	commit(t, s, &Batch{Points: []Point{{Line: []byte("m count=3i 1"), Series: "a", End: 5, Kind: Updated, Replaces: 1}}})
	closeChecked(t, s)

	twin := options(t.TempDir())
	if _, err := Import(twin, bytes.NewReader(file), func([]byte) bool { return true }); err != nil {
		t.Fatal(err)
	}
	saved := options(t.TempDir())
	if _, err := Rescue(saved, Path(o.Dir)); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{o, twin, saved} {
		s := open(t, o)
		want := peek(t, s, 0)
		closeChecked(t, s)
		if _, err := ImportPoints(o, bytes.NewReader(file)); !errors.Is(err, ErrSameStore) {
			t.Errorf("%v, want %v", err, ErrSameStore)
		}
		s = open(t, o)
		if got := peek(t, s, 0); len(want) != 1 || !reflect.DeepEqual(got, want) {
			t.Errorf("queued %v, want %v", got, want)
		}
		closeChecked(t, s)
	}
}
