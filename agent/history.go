package agent

import (
	"time"

	"edgeagent/status"
)

// The history that the status page draws: an hour in steps of 10 s and a day in steps of 2 min, of 20 bytes each. That is
// 21,600 bytes, taken as it fills, whatever the agent does.
const (
	fineEvery   = 10 * time.Second
	fineKept    = 360
	coarseEvery = 2 * time.Minute
	coarseKept  = 720
)

// history samples the state for the charts. The run loop owns it; the samples live in memory alone.
type history struct {
	fine, coarse ring
	next         time.Duration // Up at which the next sample is due
	nextCoarse   time.Duration
	worst        point // since the last coarse sample
}

// A point is one sample. What is too large for its field is the largest that it holds.
type point struct {
	up              uint32  // s since the process began, by the monotonic clock
	behind, wBehind float32 // s, clock minus newest event time, and minus the watermark
	queued          uint32
	flags           uint8
}

const (
	knownTime uint8 = 1 << iota // behind and wBehind mean something
	brokerAway
	uplinkDown
)

// A ring keeps the newest points, at most its bound.
type ring struct {
	points []point
	next   int // the oldest, once it is full
}

func (r *ring) add(p point, most int) {
	if len(r.points) < most {
		r.points = append(r.points, p)
		return
	}
	r.points[r.next] = p
	r.next = (r.next + 1) % most
}

// each calls fn with all points, oldest first.
func (r *ring) each(fn func(point)) {
	for i := range r.points {
		fn(r.points[(r.next+i)%len(r.points)])
	}
}

// due reports whether a sample is to be taken.
func (h *history) due(up time.Duration) bool { return up >= h.next }

// note takes a sample in. What is worst in 2 min goes into the coarse one, so that no short fault is lost to it.
func (h *history) note(p point, up time.Duration) {
	h.next = up + fineEvery
	p.up = uint32(up / time.Second)
	h.fine.add(p, fineKept)
	h.worst = worse(h.worst, p)
	if up >= h.nextCoarse {
		h.nextCoarse = up + coarseEvery
		h.coarse.add(h.worst, coarseKept)
		h.worst = point{}
	}
}

// worse is b with what is worse in a.
func worse(a, b point) point {
	if a.flags&knownTime != 0 {
		b.behind, b.wBehind = max(a.behind, b.behind), max(a.wBehind, b.wBehind)
	}
	b.queued, b.flags = max(a.queued, b.queued), a.flags|b.flags
	return b
}

// samples copies the history out, oldest first, by the clock of now: the coarse samples from before the fine ones, and
// these.
func (h *history) samples(now time.Time, up time.Duration) []status.Sample {
	out := make([]status.Sample, 0, len(h.fine.points)+len(h.coarse.points))
	take := func(p point) {
		age := up - time.Duration(p.up)*time.Second
		out = append(out, status.Sample{
			At: rfc3339(now.Add(-age)), Known: p.flags&knownTime != 0, BehindS: float64(p.behind), WatermarkBehind: float64(p.wBehind),
			Queued: int64(p.queued), BrokerAway: p.flags&brokerAway != 0, UplinkDown: p.flags&uplinkDown != 0,
		})
	}
	first := uint32(0)
	if len(h.fine.points) > 0 {
		first = h.fine.points[h.fine.next%len(h.fine.points)].up
	}
	h.coarse.each(func(p point) {
		if p.up < first {
			take(p)
		}
	})
	h.fine.each(take)
	return out
}
