package buffer

import (
	"math/rand/v2"
	"testing"
)

// With one uplink nothing is written beside what was written before; with two, the place of each costs little more.
func TestWearOfSeveralUplinks(t *testing.T) {
	mean := map[int]int64{}
	for _, names := range [][]string{{"a"}, {"a", "b"}} {
		o := options(t.TempDir())
		o.MaxSize, o.Uplinks = 64<<20, names
		s := open(t, o)
		s.db.NoGrowSync = true
		_, mean[len(names)] = largest(t, s, 300, func(i int) *Batch {
			b := small(i)
			if b.Points = []Point{point(i)}; i > 0 {
				b.Settle = []Settlement{{Uplink: "a", After: uint64(i - 1), Through: uint64(i)}} // b never takes any
			}
			return b
		})
	}
	t.Logf("bytes a commit: %d with one uplink, %d with two of which one is away", mean[1], mean[2])
	if mean[1] > 40<<10 || mean[2] > mean[1]+12<<10 {
		t.Errorf("%d bytes a commit with one uplink, %d with two", mean[1], mean[2])
	}
}

// Many points in flight and overtaken at once make the largest record that there is.
func TestLargeUplinkRecord(t *testing.T) {
	s := open(t, twoUplinks(t))
	var b Batch
	for i := range 2000 {
		first, _ := updates()
		first.Start = int64(i)
		b.Points = append(b.Points, first)
	}
	commit(t, s, &b)
	r := rand.New(rand.NewPCG(1, 2))
	next := Batch{InFlight: []InFlight{{Uplink: "b", Spans: []Span{{1, 2000}}}}}
	over := 0
	for i := range uint64(2000) {
		if r.IntN(2) == 0 {
			_, second := updates()
			second.Replaces, second.Start = i+1, int64(i)
			next.Points = append(next.Points, second)
			over++
		}
	}
	commit(t, s, &next)
	if got := len(seqsFor(t, s, "b")); got != 2000 {
		t.Errorf("b is offered %d points, want the 2000 newest of each", got)
	}
	commit(t, s, &Batch{})
	for _, b := range s.Books() {
		if b.Points.Superseded != int64(over) || b.Points.Queued != 2000 {
			t.Errorf("%+v, want %d superseded and 2000 queued", b, over)
		}
	}
}
