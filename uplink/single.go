package uplink

import (
	"context"
	"fmt"
)

// prove sends a single line to find out whether the server takes any. If it takes none of several, all is kept.
func (u *Uplink) prove(ctx context.Context) {
	e, ok, err := u.candidate(ctx)
	if err != nil {
		u.holdOff(ctx, answer{outcome: down, reason: fmt.Sprintf("read outbox: %v", err)})
		return
	}
	if !ok {
		last := u.batch.last
		u.batch, u.body, u.wary = nil, nil, true
		u.pace.hopeless()
		u.holdOff(ctx, answer{outcome: blocked, reason: "every line is refused: " + last})
		return
	}
	a := u.poster.post(ctx, []Entry{e})
	switch a.outcome {
	case settled:
		through, parked := u.batch.proved(e, a.peer)
		u.settle(ctx, through, parked)
	case refused, tooLarge:
		u.batch.disproved(a.reason)
	default:
		u.holdOff(ctx, a)
	}
}

// candidate chooses the line to prove with: the outbox's newest first.
func (u *Uplink) candidate(ctx context.Context) (Entry, bool, error) {
	if u.batch.wantsNewest() {
		e, ok, err := u.outbox.Newest(ctx)
		if err != nil || ok && !u.batch.doubts(e.Seq) {
			return e, ok, err
		}
		u.batch.probes++
	}
	e, ok := u.batch.sample()
	return e, ok, nil
}

// ask sends a refused line once more, since the server takes others now. If it takes this one too, it was ill for a moment;
// then what it said of sizes holds no more than the rest.
func (u *Uplink) ask(ctx context.Context) {
	e, long := u.batch.suspect()
	a := u.poster.post(ctx, []Entry{e})
	switch a.outcome {
	case settled:
		if long {
			u.pace.hopeless()
		}
		through, parked := u.batch.acquitted()
		u.settle(ctx, through, parked)
	case refused, tooLarge:
		through, parked := u.batch.convicted()
		u.settle(ctx, through, parked)
	default:
		u.holdOff(ctx, a)
	}
}

// leap sends entry i of the batch alone, to find out how far a run of old ones goes.
func (u *Uplink) leap(ctx context.Context, i int) {
	a := u.poster.post(ctx, []Entry{u.batch.entries[i]})
	switch a.outcome {
	case settled:
		through, parked := u.batch.landed(i, a.peer)
		u.settle(ctx, through, parked)
	case refused, tooLarge:
		u.batch.fell(i, &a)
	default:
		u.holdOff(ctx, a)
	}
}
