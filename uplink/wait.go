package uplink

import (
	"context"
	"time"
)

// secretPoll is how often token and password are looked at while the server refuses them.
const secretPoll = 10 * time.Second

// holdOff keeps everything and waits as the outcome of a asks for. What fails because we stop is not told.
func (u *Uplink) holdOff(ctx context.Context, a answer) {
	if ctx.Err() != nil {
		return
	}
	u.batch.trouble()
	u.lanes.outage()
	var d time.Duration
	switch a.outcome {
	case denied, blocked:
		d = u.wait.slow()
	case busy:
		u.pace.busy()
		d = u.wait.after(a.after)
	default:
		d = u.wait.next()
	}
	u.board.trouble(a, d)
	u.release()
	u.pause(ctx, d, a.outcome == denied)
}

// release gives a batch back of which nothing is known but what has been settled.
func (u *Uplink) release() {
	if u.batch.unknown() {
		u.batch, u.body, u.ahead = nil, nil, nil
		u.outbox.Release()
	}
}

// pause waits for d, until Reload or the end of ctx, or, if watch is set, until token or password change.
func (u *Uplink) pause(ctx context.Context, d time.Duration, watch bool) {
	end := time.NewTimer(d)
	defer end.Stop()
	var poll <-chan time.Time
	if watch {
		t := time.NewTicker(max(secretPoll, u.cfg.RetryMin))
		defer t.Stop()
		poll = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.reload:
			return
		case <-end.C:
			return
		case <-poll:
			if _, secret, err := u.poster.credential(); err == nil && secret != u.poster.secret {
				return
			}
		}
	}
}
