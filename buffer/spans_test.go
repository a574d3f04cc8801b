package buffer

import (
	"slices"
	"testing"

	"edgeagent/testbed"
)

func TestSpans(t *testing.T) {
	r := testbed.Random(t)
	for range 200 {
		var s spans
		naive := map[uint64]bool{}
		for range r.IntN(20) {
			first := 1 + r.Uint64N(60)
			sp := Span{first, first + r.Uint64N(8) - min(r.Uint64N(2), first)} // now and then an empty one
			for n := sp.First; n <= sp.Last; n++ {
				naive[n] = true
			}
			s = s.with(sp)
		}
		for n := range uint64(80) {
			if s.has(n) != naive[n] {
				t.Fatalf("%v has %d: %t, want %t", s, n, s.has(n), naive[n])
			}
		}
		for i := 1; i < len(s); i++ {
			if s[i].First <= s[i-1].Last+1 {
				t.Fatalf("%v is not merged", s)
			}
		}
		d := decoder{b: appendSpans(nil, s)}
		if got := d.spans(); d.bad || len(d.b) > 0 || !slices.Equal(got, s) {
			t.Fatalf("%v comes back as %v", s, got)
		}
	}
}
