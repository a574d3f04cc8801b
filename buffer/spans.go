package buffer

import (
	"encoding/binary"
	"slices"
)

// A Span is a stretch of sequence numbers, both ends included.
type Span struct{ First, Last uint64 }

// spans are stretches of sequence numbers, ascending, with something between neighbours. A value is never changed, so that any
// goroutine may read it.
type spans []Span

// find gives the span that n lies in.
func (s spans) find(n uint64) (Span, bool) {
	i, _ := slices.BinarySearchFunc(s, n, func(sp Span, n uint64) int {
		if sp.Last < n {
			return -1
		}
		return 1
	})
	if i < len(s) && s[i].First <= n {
		return s[i], true
	}
	return Span{}, false
}

func (s spans) has(n uint64) bool {
	_, ok := s.find(n)
	return ok
}

// with is s and the numbers of sp, which may be none.
func (s spans) with(sp Span) spans {
	if sp.First > sp.Last {
		return s
	}
	out := make(spans, 0, len(s)+1)
	i := 0
	for ; i < len(s) && s[i].Last < sp.First-min(sp.First, 1); i++ {
		out = append(out, s[i])
	}
	for ; i < len(s) && s[i].First-1 <= sp.Last; i++ {
		sp.First, sp.Last = min(sp.First, s[i].First), max(sp.Last, s[i].Last)
	}
	return append(append(out, sp), s[i:]...)
}

// appendSpans encodes each as its distance from the one before and its length.
func appendSpans(dst []byte, s spans) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	at := uint64(0)
	for _, sp := range s {
		dst = binary.AppendUvarint(dst, sp.First-at)
		dst = binary.AppendUvarint(dst, sp.Last-sp.First)
		at = sp.Last
	}
	return dst
}

// spans decodes what appendSpans wrote.
func (d *decoder) spans() (s spans) {
	at := uint64(0)
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		gap, length := d.uvarint(), d.uvarint()
		sp := Span{at + gap, at + gap + length}
		if sp.First < at || sp.Last < sp.First || len(s) > 0 && gap < 2 {
			d.bad = true
		}
		s, at = append(s, sp), sp.Last
	}
	return s
}
