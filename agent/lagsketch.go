package agent

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// lagMost is the longest span that a sketch tells from longer ones: 30 days, in tenths of a second. Spans in whole seconds get as far as 300 days.
const lagMost = 30 * 24 * 3600 * 10

// lagDigits is how many decimal digits of a span a sketch keeps: it is right to 0.8 %, and exact below 256.
const lagDigits = 2

// A sketch counts spans from 0 on, of whatever unit, in buckets that grow with the span. Two of them add up to what one would have counted.
// It is empty until the first is added, and takes a few KiB then.
type sketch struct{ h *hdrhistogram.PackedHistogram }

// add counts a span n times; what is below 0 counts as 0, what is beyond lagMost as that.
func (s *sketch) add(span, n int64) {
	if s.h == nil {
		s.h = hdrhistogram.NewPacked(1, lagMost, lagDigits)
	}
	_ = s.h.RecordValues(min(max(span, 0), lagMost), n) // fails only where it would count past 2^63
}

// each calls fn for every bucket, ascending: the smallest span in it, and how many there are.
func (s *sketch) each(fn func(low, n int64)) {
	if s.h == nil {
		return
	}
	s.h.ForEachBucket(func(low, n int64) bool {
		fn(low, n)
		return true
	})
}

// total is how many spans are counted.
func (s *sketch) total() int64 {
	if s.h == nil {
		return 0
	}
	return s.h.TotalCount()
}

// merge adds what other has counted.
func (s *sketch) merge(other *sketch) { other.each(s.add) }

// high is the largest span that falls into the bucket whose smallest is low.
func high(low int64) int64 {
	width := int64(1)
	for low >= 256*width {
		width *= 2
	}
	return low + width - 1
}

// from counts the spans that may be span or more: a bucket that reaches it counts as a whole.
func (s *sketch) from(span int64) (n int64) {
	s.each(func(low, k int64) {
		if high(low) >= span {
			n += k
		}
	})
	return n
}
