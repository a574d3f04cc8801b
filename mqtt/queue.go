package mqtt

import (
	"context"
	"sync"
	"time"
)

// A queue holds deliveries until they are taken. One goroutine at a time puts, one takes.
type queue struct {
	maxMessages int
	maxBytes    int64
	ready       chan struct{} // one slot: there is something to take
	taken       chan struct{} // one slot: something was taken since the last look

	mu    sync.Mutex // guards what follows
	items []Delivery
	bytes int64 // of topics and payloads in items
}

func newQueue(maxMessages, maxBytes int) *queue {
	return &queue{
		maxMessages: maxMessages, maxBytes: int64(maxBytes),
		ready: make(chan struct{}, 1), taken: make(chan struct{}, 1),
	}
}

// try appends d if there is room.
func (q *queue) try(d *Delivery) bool {
	size := int64(len(d.Topic)) + int64(len(d.Payload))
	q.mu.Lock()
	n := len(q.items)
	if n >= q.maxMessages || (n > 0 && q.bytes+size > q.maxBytes) {
		q.mu.Unlock()
		return false
	}
	q.items = append(q.items, *d)
	q.bytes += size
	q.mu.Unlock()
	if n == 0 {
		signal(q.ready)
	}
	return true
}

// force appends what must not be refused: the few changes of the connection.
func (q *queue) force(d Delivery) {
	q.mu.Lock()
	q.items = append(q.items, d)
	q.mu.Unlock()
	signal(q.ready)
}

// put appends d, waiting for room for at most limit or until one of the channels is closed, and reports whether it could.
func (q *queue) put(d *Delivery, limit time.Duration, done, quit <-chan struct{}) bool {
	if q.try(d) {
		return true
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	for !q.try(d) {
		select {
		case <-q.taken:
		case <-done:
			return false
		case <-quit:
			return false
		case <-t.C:
			return false
		}
	}
	return true
}

// take appends all to dst and empties the queue.
func (q *queue) take(dst []Delivery) []Delivery {
	q.mu.Lock()
	n := len(q.items)
	dst = append(dst, q.items...)
	clear(q.items) // or the payloads would be held
	q.items = q.items[:0]
	q.bytes = 0
	q.mu.Unlock()
	if n > 0 {
		signal(q.taken)
	}
	return dst
}

// len is the number of deliveries that wait.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// waitBelow waits until fewer than n deliveries are left; false if ctx ended first.
func (q *queue) waitBelow(ctx context.Context, n int) bool {
	for q.len() >= n {
		select {
		case <-q.taken:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
