package status

import (
	"context"
	"time"
)

// A cache keeps one answer for a while, so that many readers cost no more than one. Make it with newCache.
type cache[T any] struct {
	lock  chan struct{} // holds a value while somebody uses the fields below; unlike a mutex it can be waited for with a context
	value T
	at    time.Time
	took  time.Duration
}

// dear is by how many times an answer is kept longer than it took to get: a large one takes 2 % of the time at most.
const dear = 50

func newCache[T any]() *cache[T] { return &cache[T]{lock: make(chan struct{}, 1)} }

// get is the kept answer if it is younger than keep, or than dear times what it took to get; else a fresh one, which all
// who wait share. An error is not kept.
func (c *cache[T]) get(ctx context.Context, keep time.Duration, fetch func(context.Context) (T, error)) (T, error) {
	select {
	case c.lock <- struct{}{}:
		defer func() { <-c.lock }()
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
	began := time.Now()
	if !c.at.IsZero() && began.Sub(c.at) < max(keep, dear*c.took) {
		return c.value, nil
	}
	value, err := fetch(ctx)
	if err != nil {
		return value, err
	}
	c.value, c.at, c.took = value, time.Now(), time.Since(began)
	return value, nil
}
