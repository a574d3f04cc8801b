package buffer

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
)

// spread is a store whose uplinks are at different places, with holes.
func spread(t *testing.T, o Options) *Store {
	t.Helper()
	s := open(t, o)
	var b Batch
	for i := range 40 {
		b.Points = append(b.Points, point(i))
	}
	commit(t, s, &b)
	commit(t, s, &Batch{State: []byte("s"), Settle: []Settlement{{Uplink: "a", After: 30, Through: 38, Parked: []Parked{{Seq: 33, Reason: "a"}}},
		{Uplink: "a", Through: 5}, {Uplink: "b", Through: 20, Parked: []Parked{{Seq: 3, Reason: "b"}, {Seq: 9, Reason: "b"}}}}})
	return s
}

// However a store comes into another file, each uplink keeps its place.
func TestPlacesAreKept(t *testing.T) {
	ways := map[string]func(t *testing.T, from *Store, o Options) Options{
		"compaction": func(t *testing.T, from *Store, o Options) Options {
			closeChecked(t, from)
			if _, _, err := Compact(o); err != nil {
				t.Fatal(err)
			}
			return o
		},
		"import": func(t *testing.T, from *Store, o Options) Options {
			file := export(t, from)
			to := twoUplinks(t)
			if _, err := Import(to, bytes.NewReader(file), noState); err != nil {
				t.Fatal(err)
			}
			return to
		},
		"salvage": func(t *testing.T, from *Store, o Options) Options {
			closeChecked(t, from)
			if err := spoil(from.path); err != nil {
				t.Fatal(err)
			}
			return o
		},
		"salvage by hand": func(t *testing.T, from *Store, o Options) Options {
			closeChecked(t, from)
			to := twoUplinks(t)
			if _, err := Rescue(to, from.path); err != nil {
				t.Fatal(err)
			}
			return to
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			o := twoUplinks(t)
			from := spread(t, o)
			a, b := seqsFor(t, from, "a"), seqsFor(t, from, "b")
			parked, _ := from.ParkedPoints(0)
			s := open(t, way(t, from, o))
			if gotA, gotB := seqsFor(t, s, "a"), seqsFor(t, s, "b"); !slices.Equal(gotA, a) || !slices.Equal(gotB, b) {
				t.Errorf("offered to a %v, to b %v; want %v and %v", gotA, gotB, a, b)
			}
			if got, _ := s.ParkedPoints(0); !reflect.DeepEqual(got, parked) {
				t.Errorf("parked %+v, want %+v", got, parked)
			}
			commit(t, s, &Batch{Settle: []Settlement{{Uplink: "a", Through: 40}, {Uplink: "b", Through: 40}}})
			if n := s.Stats().Outbox; n != 0 {
				t.Errorf("%d left in the outbox", n)
			}
		})
	}
}

// Points of a damaged store that join one that has begun keep what uplinks of the same name had done with them.
func TestSalvageIntoAStoreThatHasBegunKeepsPlaces(t *testing.T) {
	from := spread(t, twoUplinks(t))
	closeChecked(t, from)
	o := options(t.TempDir())
	o.Uplinks = []string{"b", "c"}
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("mine"), Points: []Point{point(90)}})
	closeChecked(t, s)
	if _, err := Rescue(o, from.path); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	want := []UplinkCounts{
		{"b", PointCounts{Finalized: 1, Carried: 23, Queued: 21, Parked: 3}}, // 20 that it had not taken, its own 2 and a's
		{"c", PointCounts{Finalized: 1, Carried: 35, Queued: 36}},
	}
	if got := s.Books(); !reflect.DeepEqual(got, want) {
		t.Errorf("books %+v, want %+v", got, want)
	}
}
