package watermark

import "math"

// None is the value of M and W before the first reading. It compares below every event time.
const None int64 = math.MinInt64

// A Mark is one advance of event time, for the whole stream or for one sensor. Both instants are ns since the Unix
// epoch, UTC. Start with New: the zero value would claim that 1970 has been seen.
type Mark struct {
	M int64 `json:"m"` // largest event time windowed, or moved to by idle advance; None before the first
	W int64 `json:"w"` // the watermark; None before the first
}

// New is a mark that has seen nothing.
func New() Mark { return Mark{M: None, W: None} }

// Observe moves M to t if t is newer, and W by the equation. It reports whether M moved. The delay is in ns, not negative.
func (k *Mark) Observe(t, delay int64) bool {
	if t <= k.M {
		return false
	}
	k.M = t
	k.Recompute(delay)
	return true
}

// Recompute applies the equation to a stored mark, as at start, when the delay may be another than before.
func (k *Mark) Recompute(delay int64) {
	if k.M != None {
		k.W = max(k.W, sub(k.M, delay))
	}
}

// Raise moves W alone up to w: windows up to w have been closed by hand.
func (k *Mark) Raise(w int64) { k.W = max(k.W, w) }

// A Policy is when a reading is late.
type Policy uint8

const (
	// ByWindow calls a reading late only when its window is gone: end + allowed lateness <= W.
	ByWindow Policy = iota
	// ByEvent is the strict rule: t < W is late, t = W is not. It goes with an allowed lateness of 0.
	ByEvent
)

// Late is the rule: whether a reading at t, whose window ends at end, comes too late for watermark w. All in ns.
func (p Policy) Late(t, end, allowed, w int64) bool {
	if p == ByEvent {
		return t < w
	}
	return Add(end, allowed) <= w
}

// Add is a + b for b >= 0, held at the largest instant instead of wrapping.
func Add(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// sub is a - b for b >= 0, held just above None instead of wrapping.
func sub(a, b int64) int64 {
	if a <= None+1+b {
		return None + 1
	}
	return a - b
}
