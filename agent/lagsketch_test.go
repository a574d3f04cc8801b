package agent

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever is added, a bucket holds spans within 0.8 % of each other, a count from a span on is never too small, and counts only what is within 0.8 %
// of that span too much.
func TestSketchAgainstAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s sketch
	var all []int64
	for range 20_000 {
		v := rng.Int64N(1 << (1 + rng.IntN(24)))
		s.add(v, 1)
		all = append(all, v)
	}
	slices.Sort(all)
	seen := int64(0)
	s.each(func(low, n int64) {
		top := high(low)
		if top-low > low/128 {
			t.Errorf("bucket %d to %d is wider than 0.8 %%", low, top)
		}
		from, _ := slices.BinarySearch(all, low)
		to, _ := slices.BinarySearch(all, top+1)
		if int64(to-from) != n {
			t.Errorf("bucket %d to %d counts %d, the list has %d", low, top, n, to-from)
		}
		seen += n
	})
	if seen != 20_000 {
		t.Errorf("%d counted, want 20000", seen)
	}
	for _, ms := range []int64{0, 1, 255, 256, 257, 1000, 59_999, 60_000, 3_600_000, 1 << 23} {
		i, _ := slices.BinarySearch(all, ms)
		j, _ := slices.BinarySearch(all, ms-ms/128)
		if got := s.from(ms); got < int64(len(all)-i) || got > int64(len(all)-j) {
			t.Errorf("from %d: %d, want %d to %d", ms, got, len(all)-i, len(all)-j)
		}
	}
}

func TestSketchBounds(t *testing.T) {
	var s sketch
	if s.from(0) != 0 {
		t.Error("an empty sketch counts")
	}
	s.add(-5, 1)
	s.add(1<<62, 2)
	if s.from(0) != 3 || s.from(1) != 2 || s.from(lagMost) != 2 {
		t.Errorf("from 0, 1 and the most: %d, %d, %d; want 3, 2, 2", s.from(0), s.from(1), s.from(lagMost))
	}
}
