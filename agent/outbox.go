package agent

import (
	"context"
	"slices"
	"sync"

	"edgeagent/buffer"
	"edgeagent/uplink"
)

// outbox is the store as one uplink sees it. Peeking goes straight to the store; settling goes through the run loop, the
// one goroutine that writes.
type outbox struct {
	store   *buffer.Store
	name    string // of the uplink
	now     func() int64
	settles chan settle // to the run loop, of all uplinks
	ready   chan struct{}

	// gate is held by the run loop from when it asks what is in flight until its commit is done, and by whoever looks at the store: what
	// a look finds is then known to the next commit. Else an update could take the place of a point that is just being read, and that point,
	// kept ready for later, could reach the server after its update.
	gate sync.RWMutex

	mu      sync.Mutex // guards what follows
	peeking bool
	flight  []buffer.Span // points that must not be evicted or superseded
	back    bool          // some were released, and no commit has been asked for since
}

// A settle is a request to the run loop; done is closed when it is on disk, or kept in memory because the disk refuses.
type settle struct {
	settlement buffer.Settlement
	done       chan struct{}
}

func newOutbox(store *buffer.Store, name string, settles chan settle, now func() int64) *outbox {
	return &outbox{store: store, name: name, now: now, settles: settles, ready: make(chan struct{}, 1), back: true}
}

// Peek copies out the oldest points between two numbers. While it looks, everything is protected; then what it found, too. What
// an update has overtaken on its way must be superseded before anything is chosen anew.
func (o *outbox) Peek(ctx context.Context, after, upto uint64, maxPoints, maxBytes int) ([]uplink.Entry, error) {
	if err := o.sweep(ctx); err != nil {
		return nil, err
	}
	o.gate.RLock()
	defer o.gate.RUnlock()
	o.choose(true, nil)
	points, err := o.store.PeekFor(o.name, after, upto, maxPoints, maxBytes)
	if err != nil || len(points) == 0 {
		o.choose(false, nil)
		return nil, err
	}
	o.choose(false, []buffer.Span{{First: points[0].Seq, Last: points[len(points)-1].Seq}})
	entries := make([]uplink.Entry, len(points))
	for i, p := range points {
		entries[i] = uplink.Entry{Seq: p.Seq, Line: p.Line}
	}
	return entries, nil
}

// choose begins or ends a look at the store, with what was found.
func (o *outbox) choose(peeking bool, found []buffer.Span) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.peeking = peeking
	o.flight = append(o.flight, found...)
}

// sweep asks for a commit if points came back from their way since the last, and an update of one waits.
func (o *outbox) sweep(ctx context.Context) error {
	o.mu.Lock()
	back := o.back
	o.back = false
	o.mu.Unlock()
	if !back || !o.store.Overtaken(o.name) {
		return nil
	}
	return o.hand(ctx, buffer.Settlement{Uplink: o.name})
}

// Release says that nothing is in flight until the next Peek.
func (o *outbox) Release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flight, o.back = nil, true
}

// hold keeps the uplink from looking at the store until let is called, and tells what must be left alone.
func (o *outbox) hold() buffer.InFlight {
	o.gate.Lock()
	return o.inFlight()
}

// let ends what hold began.
func (o *outbox) let() { o.gate.Unlock() }

// inFlight is what must be left alone now.
func (o *outbox) inFlight() buffer.InFlight {
	o.mu.Lock()
	defer o.mu.Unlock()
	return buffer.InFlight{Uplink: o.name, All: o.peeking, Spans: slices.Clone(o.flight)}
}

// Newest copies out the newest point.
func (o *outbox) Newest(context.Context) (uplink.Entry, bool, error) {
	p, ok, err := o.store.Newest(o.name)
	return uplink.Entry{Seq: p.Seq, Line: p.Line}, ok, err
}

// Settle hands a settlement to the run loop and waits until it has been committed or taken over.
func (o *outbox) Settle(ctx context.Context, after, through uint64, refused []uplink.Refused) error {
	s := buffer.Settlement{Uplink: o.name, After: after, Through: through}
	for _, r := range refused {
		s.Parked = append(s.Parked, buffer.Parked{Seq: r.Seq, Reason: r.Reason, Time: o.now()})
	}
	if err := o.hand(ctx, s); err != nil {
		return err
	}
	o.settled(after, through)
	return nil
}

// settled takes what was settled out of what is in flight: the run loop knows of it.
func (o *outbox) settled(after, through uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var left []buffer.Span
	for _, s := range o.flight {
		if s.First > after && s.First <= through {
			s.First = through + 1
		}
		if s.First <= s.Last {
			left = append(left, s)
		}
	}
	o.flight = left
}

func (o *outbox) hand(ctx context.Context, settlement buffer.Settlement) error {
	s := settle{settlement: settlement, done: make(chan struct{})}
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
