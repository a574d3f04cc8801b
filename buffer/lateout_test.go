package buffer

import (
	"slices"
	"testing"

	"edgeagent/reading"
)

// TestLateReadingsNeverPushOutWindows fills the outbox with windows and then floods it with late readings, and the other way round.
func TestLateReadingsNeverPushOutWindows(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize, o.SideOutput = 2<<20, true
	s := open(t, o)
	flood := func(kind PointKind, n int) {
		for range n / 100 {
			b := &Batch{}
			for i := range 100 {
				b.Points = append(b.Points, Point{Kind: kind, Line: line(i)})
			}
			commit(t, s, b)
		}
	}
	kinds := func() (late, others int64) {
		for _, p := range peek(t, s, 0) {
			if p.Kind == LateReading {
				late++
			} else {
				others++
			}
		}
		return late, others
	}
	flood(LateReading, 5000)
	late, _ := kinds()
	if bytes := s.cur.Load().Bytes[inLateOut]; late == 5000 || bytes > o.MaxSize/16 || bytes < o.MaxSize/17 || bytes != s.Stats().OutboxBytes {
		t.Fatalf("%d late readings queued in %d of %d bytes, %d in the outbox", late, bytes, o.MaxSize/16, s.Stats().OutboxBytes)
	}
	flood(Finalized, 1000)
	if again, others := kinds(); again != late || others != 1000 {
		t.Fatalf("%d late readings and %d windows, want %d and 1000: there is room for all", again, others, late)
	}
	for s.Counts().Evicted == 5000-late {
		flood(Finalized, 100)
	}
	flood(Finalized, 300)
	if again, others := kinds(); again >= late || again == 0 || others < 2000 || s.Counts().Evicted != 5000-again {
		t.Fatalf("%d late readings, %d windows, counts %+v: late ones are to go first", again, others, s.Counts())
	}
	for late, _ = kinds(); late > 0; late, _ = kinds() {
		flood(Finalized, 100)
	}
	_, before := kinds()
	flood(LateReading, 3000)
	if again, others := kinds(); again > 200 || others != before {
		t.Fatalf("%d late readings and %d windows, want %d windows and what fits beside them", again, others, before)
	}
}

// TestLateReadingsInFlightStay floods while a batch is in flight.
func TestLateReadingsInFlightStay(t *testing.T) {
	o := options(t.TempDir())
	o.MaxPoints = 100
	s := open(t, o)
	b := &Batch{}
	for i := range 100 {
		b.Points = append(b.Points, Point{Kind: []PointKind{LateReading, Finalized}[i%2], Line: line(i)})
	}
	commit(t, s, b)
	commit(t, s, &Batch{Points: []Point{point(1), point(2), point(3)}, InFlight: upTo(50)})
	var want []uint64
	for seq := uint64(1); seq <= 103; seq++ {
		if seq != 51 && seq != 53 && seq != 55 { // the oldest late ones after those in flight
			want = append(want, seq)
		}
	}
	if got := seqs(peek(t, s, 0)); !slices.Equal(got, want) {
		t.Fatalf("queued %v\nwant %v", got, want)
	}
	commit(t, s, &Batch{Points: []Point{point(4)}})
	if got := seqs(peek(t, s, 0)); got[0] != 2 || len(got) != 100 {
		t.Fatalf("queued %v, want the first late reading gone", got)
	}
}

func TestLateReadingsDoNotRaiseTheFloor(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Points: []Point{{Kind: LateReading, Line: line(1)}}})
	if points := peek(t, s, 0); len(points) != 1 || s.Floor() != reading.NoTime {
		t.Fatalf("offered %d points, the floor is %d", len(points), s.Floor())
	}
	if p, ok, err := s.Newest(""); !ok || err != nil || p.Kind != LateReading || s.Floor() != reading.NoTime {
		t.Fatalf("newest %+v %v %v, the floor is %d", p, ok, err, s.Floor())
	}
}
