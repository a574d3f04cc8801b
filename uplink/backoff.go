package uplink

import (
	"math/rand/v2"
	"time"
)

// MaxRetryAfter is the longest wait that a server's Retry-After is granted; what is above is cut to it.
const MaxRetryAfter = 15 * time.Minute

// A backoff says how long to wait before the next attempt. The waits grow until reset is called. All of them are
// random, so that a fleet that failed together does not come back together; none is shorter than half of min.
type backoff struct {
	min, max time.Duration
	random   func() float64 // in [0, 1)
	failures int            // in a row
}

func newBackoff(shortest, longest time.Duration) backoff {
	return backoff{min: shortest, max: longest, random: rand.Float64}
}

// reset is called after a success.
func (b *backoff) reset() { b.failures = 0 }

// next is the wait after one more failure: random between half of min and bound.
func (b *backoff) next() time.Duration {
	return b.between(b.min/2, b.bound())
}

// bound counts one more failure. It is twice min for the first, and doubles up to max.
func (b *backoff) bound() time.Duration {
	bound := b.min
	for i := 0; i <= b.failures && bound < b.max; i++ {
		bound *= 2
	}
	b.failures++
	return min(bound, b.max)
}

// slow is the wait while only an operator can help: the second half of max.
func (b *backoff) slow() time.Duration {
	b.failures++
	return b.between(b.max/2, b.max)
}

// after is the wait that a server asked for, cut to MaxRetryAfter, and up to a tenth more; without one, next. A server
// asks the whole fleet for the same time, so when it does so again, the rest of a fleet that it still cannot serve is
// spread wider each time: by as much as next would.
func (b *backoff) after(asked time.Duration) time.Duration {
	if asked <= 0 {
		return b.next()
	}
	asked = min(asked, MaxRetryAfter)
	spread, again := asked/10, b.failures > 0
	if bound := b.bound(); again {
		spread = max(spread, bound)
	}
	return b.between(asked, asked+spread)
}

// between is random in [low, high).
func (b *backoff) between(low, high time.Duration) time.Duration {
	return low + time.Duration(b.random()*float64(high-low))
}
