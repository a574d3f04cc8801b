package uplink

import "context"

// An ahead is the next batch, peeked and packed while a request is in flight: reading the store and compressing take a
// small board as long as a near server takes to answer.
type ahead struct {
	lane    lane // where it comes from, when what is in flight is settled
	entries []Entry
	body    *body
}

// next gives the next batch, and its body if that is made already.
func (u *Uplink) next(ctx context.Context) ([]Entry, *body, error) {
	if err := u.splitNow(ctx); err != nil {
		return nil, nil, err
	}
	for dropped := true; dropped; {
		dropped = false
		for _, l := range u.lanes.order() {
			entries, body, err := u.nextOf(ctx, l)
			if err != nil {
				return nil, nil, err
			}
			if len(entries) > 0 {
				u.lane = l
				return entries, body, nil
			}
			if dropped = u.lanes.drained(l); dropped {
				break
			}
		}
	}
	return nil, nil, nil
}

// splitNow splits the live lane, if an outage asks for it, where the newest batch begins.
func (u *Uplink) splitNow(ctx context.Context) error {
	if !u.lanes.split {
		return nil
	}
	e, ok, err := u.outbox.Newest(ctx)
	if err != nil {
		return err
	}
	u.ahead, u.lanes.split = nil, false
	u.outbox.Release()
	if ok {
		u.lanes.splitAt(e.Seq, u.cfg.BatchPoints)
	}
	return nil
}

// nextOf gives the next batch of a lane. What was made ready of another lane is given back: a point in it may have an update in
// this one, and must not reach the server after that.
func (u *Uplink) nextOf(ctx context.Context, l *lane) ([]Entry, *body, error) {
	if a := u.ahead; a != nil {
		u.ahead = nil
		if a.lane == *l && len(a.entries) > 0 {
			return a.entries, a.body, nil
		}
		if a.lane != *l {
			u.outbox.Release()
		}
	}
	entries, err := u.outbox.Peek(ctx, l.after, l.upto, u.cfg.BatchPoints, u.cfg.BatchBytes)
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
	u.ahead = &ahead{lane: lane{b.entries[end-1].Seq, u.lane.upto}}
	ready := make(chan struct{})
	go func(a *ahead) {
		defer close(ready)
		var err error
		if a.entries, err = u.outbox.Peek(ctx, a.lane.after, a.lane.upto, u.cfg.BatchPoints, u.cfg.BatchBytes); err != nil || len(a.entries) == 0 {
			return // it will be told when the batch is fetched
		}
		if a.body, err = u.poster.pack(a.entries); err != nil {
			a.body = nil
		}
	}(u.ahead)
	return func() { <-ready }
}
