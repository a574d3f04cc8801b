package uplink

import "context"

// An ahead is the next batch, peeked and packed while a request is in flight: reading the store and compressing take a
// small board as long as a near server takes to answer.
type ahead struct {
	after   uint64 // what it comes after
	entries []Entry
	body    *body
}

// next gives the next batch, and its body if that is made already.
func (u *Uplink) next(ctx context.Context) ([]Entry, *body, error) {
	a := u.ahead
	u.ahead = nil
	if a != nil && a.after == u.after && len(a.entries) > 0 {
		return a.entries, a.body, nil
	}
	entries, err := u.outbox.Peek(ctx, u.after, u.cfg.BatchPoints, u.cfg.BatchBytes)
	return entries, nil, err
}

// bodyOf packs a part of the batch. The body of a whole batch is kept for when it must be sent again.
func (u *Uplink) bodyOf(part []Entry) (*body, error) {
	whole := len(part) == len(u.batch.entries)
	if whole && u.body != nil {
		return u.body, nil
	}
	b, err := u.poster.pack(part)
	if whole {
		u.body = b
	}
	return b, err
}

// lookAhead makes the batch after this one ready, if its part up to end is the last of it and there is probably more.
// The poster must do nothing but send until join returns.
func (u *Uplink) lookAhead(ctx context.Context, end int) (join func()) {
	b := u.batch
	full := len(b.entries) == u.cfg.BatchPoints || sizeOf(b.entries) > int64(u.cfg.BatchBytes)/2
	if end < len(b.entries) || !full || u.ahead != nil {
		return func() {}
	}
	u.ahead = &ahead{after: b.entries[end-1].Seq}
	ready := make(chan struct{})
	go func(a *ahead) {
		defer close(ready)
		var err error
		if a.entries, err = u.outbox.Peek(ctx, a.after, u.cfg.BatchPoints, u.cfg.BatchBytes); err != nil || len(a.entries) == 0 {
			return // it will be told when the batch is fetched
		}
		if a.body, err = u.poster.pack(a.entries); err != nil {
			a.body = nil
		}
	}(u.ahead)
	return func() { <-ready }
}
