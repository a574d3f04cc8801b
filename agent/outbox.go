package agent

import (
	"context"
	"math"
	"sync/atomic"

	"edgeagent/buffer"
	"edgeagent/uplink"
)

// outbox is the store as the uplink sees it. Peeking goes straight to the store; settling goes through the run loop, the
// one goroutine that writes.
type outbox struct {
	store    *buffer.Store
	now      func() int64
	settles  chan settle
	ready    chan struct{}
	inFlight atomic.Uint64 // points up to this sequence must not be evicted or superseded
}

// A settle is a request to the run loop; done is closed when it is on disk, or kept in memory because the disk refuses.
type settle struct {
	settlement buffer.Settlement
	done       chan struct{}
}

func newOutbox(store *buffer.Store, now func() int64) *outbox {
	return &outbox{store: store, now: now, settles: make(chan settle), ready: make(chan struct{}, 1)}
}

// Peek copies out the oldest points after seq. While it looks, everything is protected; then what it found.
func (o *outbox) Peek(_ context.Context, after uint64, maxPoints, maxBytes int) ([]uplink.Entry, error) {
	o.inFlight.Store(math.MaxUint64)
	points, err := o.store.Peek(after, maxPoints, maxBytes)
	last := after
	if n := len(points); n > 0 {
		last = points[n-1].Seq
	}
	o.inFlight.Store(last)
	if err != nil {
		return nil, err
	}
	entries := make([]uplink.Entry, len(points))
	for i, p := range points {
		entries[i] = uplink.Entry{Seq: p.Seq, Line: p.Line}
	}
	return entries, nil
}

// Release says that nothing is in flight until the next Peek.
func (o *outbox) Release() { o.inFlight.Store(0) }

// Newest copies out the newest point.
func (o *outbox) Newest(context.Context) (uplink.Entry, bool, error) {
	p, ok, err := o.store.Newest()
	return uplink.Entry{Seq: p.Seq, Line: p.Line}, ok, err
}

// Settle hands a settlement to the run loop and waits until it has been committed or taken over.
func (o *outbox) Settle(ctx context.Context, through uint64, refused []uplink.Refused) error {
	s := settle{settlement: buffer.Settlement{Through: through}, done: make(chan struct{})}
	for _, r := range refused {
		s.settlement.Parked = append(s.settlement.Parked, buffer.Parked{Seq: r.Seq, Reason: r.Reason, Time: o.now()})
	}
	select {
	case o.settles <- s:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ready gets a value when points may have come.
func (o *outbox) Ready() <-chan struct{} { return o.ready }

// wake tells the uplink that points have come.
func (o *outbox) wake() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}
