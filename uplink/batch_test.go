package uplink

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"edgeagent/testbed"
)

// A search runs a batch against a server that refuses the entries in bad, without a network.
type search struct {
	batch    *batch
	bad      map[uint64]bool
	requests int
	stored   map[uint64]bool
	parked   []uint64
	through  uint64
}

func newSearch(n int, bad ...uint64) *search {
	s := &search{bad: map[uint64]bool{}, stored: map[uint64]bool{}}
	for _, seq := range bad {
		s.bad[seq] = true
	}
	s.batch = newBatch(entriesFrom(1, n), false)
	return s
}

func entriesFrom(first, n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = Entry{Seq: uint64(first + i), Line: fmt.Appendf(nil, "m v=1 %d", first+i)}
	}
	return entries
}

// refuses reports whether the server refuses entries, and stores them if not.
func (s *search) refuses(entries []Entry) bool {
	s.requests++
	if slices.ContainsFunc(entries, func(e Entry) bool { return s.bad[e.Seq] }) {
		return true
	}
	for _, e := range entries {
		s.stored[e.Seq] = true
	}
	return false
}

func (s *search) settle(through uint64, parked []Refused) {
	for _, p := range parked {
		s.parked = append(s.parked, p.Seq)
	}
	s.through = max(s.through, through)
}

// run does what Uplink does until the batch is done; it reports false when the batch gives up.
func (s *search) run() bool {
	for b := s.batch; !b.done(); {
		if b.asks() {
			e, _ := b.suspect()
			if s.refuses([]Entry{e}) {
				s.settle(b.convicted())
			} else {
				s.settle(b.acquitted())
			}
			continue
		}
		if b.wantsProof() {
			if !s.prove() {
				return false
			}
			continue
		}
		first, end := b.next, b.span(1<<30)
		if s.refuses(b.entries[first:end]) {
			b.refused(end, &answer{outcome: refused, reason: "no"}, "no")
		} else {
			s.settle(b.took(end, ""))
		}
	}
	return true
}

func (s *search) prove() bool {
	b := s.batch
	e := b.entries[len(b.entries)-1]
	if !b.wantsNewest() || b.doubts(e.Seq) {
		if b.wantsNewest() {
			b.probes++
		}
		var ok bool
		if e, ok = b.sample(); !ok {
			return false
		}
	}
	if s.refuses([]Entry{e}) {
		b.disproved("no")
	} else {
		s.settle(b.proved(e, ""))
	}
	return true
}

// For any set of refused entries: these are parked, in order, the rest is stored, and it takes O(k log n) requests.
func TestBatchFindsRefused(t *testing.T) {
	rng := testbed.Random(t)
	for range 300 {
		n := 2 + rng.IntN(400)
		k := rng.IntN(min(n/3+1, 8))
		var bad []uint64
		for _, i := range rng.Perm(n)[:k] {
			bad = append(bad, uint64(i+1))
		}
		s := newSearch(n, bad...)
		if !s.run() {
			t.Fatalf("gave up with %v of %d refused", bad, n)
		}
		slices.Sort(bad)
		if !reflect.DeepEqual(s.parked, bad) || s.through != uint64(n) || len(s.stored) != n-k {
			t.Fatalf("of %d: parked %v, want %v; settled through %d, stored %d", n, s.parked, bad, s.through, len(s.stored))
		}
		if most := 2 + k*(bits.Len(uint(n))+6) + 3; s.requests > most {
			t.Errorf("%d requests for %v of %d, want at most %d", s.requests, bad, n, most)
		}
	}
}

func TestBatchCostOfTrialD2(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		p := rng.Perm(200)
		s := newSearch(200, uint64(p[0]+1), uint64(p[1]+1), uint64(p[2]+1))
		if !s.run() || s.requests > 40 {
			t.Errorf("%v: %d requests", p[:3], s.requests)
		}
	}
}

// A run of refused entries costs about one request each.
func TestBatchCostOfARun(t *testing.T) {
	var bad []uint64
	for seq := range uint64(1000) {
		bad = append(bad, seq+1)
	}
	s := newSearch(5000, bad...)
	if !s.run() || len(s.parked) != 1000 || s.requests > 1100 {
		t.Errorf("%d parked with %d requests", len(s.parked), s.requests)
	}
}

// A server that takes nothing is found out soon, and nothing is settled.
func TestBatchGivesUp(t *testing.T) {
	for _, n := range []int{1, 2, 100, 5000} {
		var bad []uint64
		for seq := range uint64(n) {
			bad = append(bad, seq+1)
		}
		s := newSearch(n, bad...)
		if s.run() || s.requests > 30 || s.through != 0 || s.parked != nil {
			t.Errorf("of %d: %d requests, through %d, parked %v", n, s.requests, s.through, s.parked)
		}
	}
}

func TestBatchSpanIsBounded(t *testing.T) {
	b := newBatch(entriesFrom(1, 10), false) // 7 bytes each, the last one 8, and a newline
	for _, c := range []struct{ maxBytes, want int }{{1, 1}, {8, 1}, {15, 1}, {16, 2}, {80, 9}, {81, 10}, {1 << 20, 10}} {
		if got := b.span(c.maxBytes); got != c.want {
			t.Errorf("%d bytes: %d entries, want %d", c.maxBytes, got, c.want)
		}
	}
}
