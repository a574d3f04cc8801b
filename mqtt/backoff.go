package mqtt

import (
	"context"
	"time"
)

// A backoff gives the pauses between attempts: random, below a bound that doubles from min to max.
type backoff struct {
	min, max time.Duration
	random   func() float64 // in [0,1)
	n        int            // doublings
}

// next is the pause before the next attempt, and makes the one after it longer.
func (b *backoff) next() time.Duration {
	bound := b.max
	if b.n < 30 && b.min<<b.n < b.max && b.min<<b.n>>b.n == b.min {
		bound = b.min << b.n
		b.n++
	}
	return time.Duration(b.random() * float64(bound))
}

// cap makes the next bound at most min doubled n times.
func (b *backoff) cap(n int) { b.n = min(b.n, n) }

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Judging connections.
const (
	settled  = 30 * time.Second // a connection that lived this long was a good one
	quick    = 10 * time.Second // one that was lost sooner was lost right after connecting
	fightAt  = 3                // so many quick losses in a row look like two clients with one id
	usefulUp = 2                // doublings at most after quick losses of connections that got something done
)

// A record remembers how the last connections ended.
type record struct {
	quick int  // losses in a row right after connecting
	told  bool // the likely cause has been said
}

// judge takes in how long a lost connection lived and whether messages were acknowledged on it, and sets the back-off: a
// connection that lived a while resets it; one that got something done resets it unless such losses go on; one that died at once
// lets it grow.
func (r *record) judge(b *backoff, lived time.Duration, useful bool) {
	if lived >= quick {
		r.quick = 0
	} else {
		r.quick++
	}
	switch {
	case lived >= settled:
		b.cap(0)
		r.told = false
	case useful && r.quick < fightAt:
		b.cap(0)
	case useful:
		b.cap(usefulUp)
	}
}

// suspect reports, once, that the losses look like another client with the same id. The last one ended with err: one that has
// another cause says nothing of that.
func (r *record) suspect(err error) bool {
	if r.quick < fightAt || r.told || otherCause(err) {
		return false
	}
	r.told = true
	return true
}
