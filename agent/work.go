package agent

import (
	"sync"
	"time"

	"edgeagent/status"
	"edgeagent/uplink"
)

// latencyBounds are the upper ends of the ranges of a latency, s: from a fast card to a server that is about to be given up.
var latencyBounds = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// A latency counts durations by range. One goroutine owns it.
type latency struct {
	counts [len(latencyBounds) + 1]int64
	sum    time.Duration
}

func (l *latency) note(d time.Duration) {
	i := 0
	for i < len(latencyBounds) && d.Seconds() > latencyBounds[i] {
		i++
	}
	l.counts[i]++
	l.sum += d
}

func (l *latency) count() (n int64) {
	for _, c := range l.counts {
		n += c
	}
	return n
}

// status copies the counts out.
func (l *latency) status() status.Histogram {
	return status.Histogram{Bounds: latencyBounds[:], Counts: append([]int64(nil), l.counts[:]...), SumS: l.sum.Seconds()}
}

// uploads are the latencies of requests by outcome. Uplinks note them from their own goroutines.
type uploads struct {
	mu  sync.Mutex // guards all below
	all map[string]*latency
}

func (u *uploads) note(d time.Duration, outcome string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = make(map[string]*latency)
	}
	l := u.all[outcome]
	if l == nil {
		l = new(latency)
		u.all[outcome] = l
	}
	l.note(d)
}

func (u *uploads) status() map[string]status.Histogram {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := make(map[string]status.Histogram)
	for _, outcome := range uplink.Outcomes() {
		out[outcome] = new(latency).status()
	}
	for outcome, l := range u.all {
		out[outcome] = l.status()
	}
	return out
}
