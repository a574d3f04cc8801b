package window

import "math"

// An Aggregate is the state of one window of one series. The zero value is an empty window. It depends on the order in
// which readings are folded only in the last bits of Sum (and of what is derived from it), so it is rebuilt from the
// journal in that same order.
type Aggregate struct {
	Count   int64
	Max     float64
	Min     float64
	Sum     float64
	First   float64 // value at the earliest event time; of equal times the one that came first
	Last    float64 // value at the latest event time; of equal times the one that came last
	firstAt int64
	lastAt  int64
	mean    float64 // Welford's running mean and sum of squared distances from it
	m2      float64
}

// Fold takes in one value with its event time in ns. The value must be finite.
func (a *Aggregate) Fold(t int64, v float64) {
	a.Count++
	if a.Count == 1 {
		*a = Aggregate{Count: 1, Max: v, Min: v, Sum: v, First: v, Last: v, firstAt: t, lastAt: t, mean: v}
		return
	}
	a.Max = max(a.Max, v)
	a.Min = min(a.Min, v)
	a.Sum += v
	if t < a.firstAt {
		a.First, a.firstAt = v, t
	}
	if t >= a.lastAt {
		a.Last, a.lastAt = v, t
	}
	d := v - a.mean
	a.mean += d / float64(a.Count)
	a.m2 += d * (v - a.mean)
}

// Mean is the arithmetic mean, NaN for an empty window.
func (a *Aggregate) Mean() float64 { return a.Sum / float64(a.Count) }

// Stddev is the sample standard deviation, 0 for fewer than two readings (as InfluxQL and Flux have it, but for a single
// value, where they give none).
func (a *Aggregate) Stddev() float64 {
	if a.Count < 2 {
		return 0
	}
	return math.Sqrt(a.m2 / float64(a.Count-1))
}
