package uplink

import (
	"context"
	"fmt"
	"time"
)

// startSpread is how many times RetryMin the first attempts of a fleet that starts at once are spread over.
const startSpread = 5

// An Uplink brings the points of one outbox to one server. Run does all the work in one goroutine; the other methods
// may be called from any.
type Uplink struct {
	cfg    Config
	outbox Outbox
	poster *poster
	board  board
	reload chan struct{}

	// owned by Run
	lanes lanes
	lane  *lane // the one that batch is from
	batch *batch
	body  *body  // of the whole batch, if it is made already
	ahead *ahead // the next batch, while or since it was made ready
	wary  bool   // the server took no line at all: try a single one first
	wait  backoff
	pace  pace
}

// New returns an uplink that does nothing before Run, or what is wrong with cfg.
func New(cfg Config, outbox Outbox) (*Uplink, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := newPoster(cfg)
	if err != nil {
		return nil, err
	}
	return &Uplink{
		cfg:    cfg,
		outbox: outbox,
		poster: p,
		board:  newBoard(cfg.Logger, p.target.where, time.Now),
		reload: make(chan struct{}, 1),
		lanes:  newLanes(cfg.Order),
		wait:   newBackoff(cfg.RetryMin, cfg.RetryMax),
		pace:   newPace(cfg.BatchBytes, cfg.RetryMin),
	}, nil
}

// Run delivers until ctx ends and then returns nil; it must be called once. A request in flight at that time may end
// and be settled, which takes up to some seconds: the outbox must outlive Run. It begins with a random wait of up to
// five times RetryMin, for a fleet that got its power back.
func (u *Uplink) Run(ctx context.Context) error {
	defer u.poster.hangUp()
	if t := u.cfg.TLS; t != nil && t.InsecureSkipVerify {
		u.cfg.Logger.Warn("tls.insecure_skip_verify is set: anyone on the way can read and change what is sent, and take the token", "to", u.poster.target.where)
	}
	u.pause(ctx, u.wait.between(0, startSpread*u.cfg.RetryMin), false)
	for ctx.Err() == nil {
		u.step(ctx)
	}
	return nil
}

// Reload ends a wait, so that a changed token or a mended server is tried at once. Token and password are read before
// every request anyway.
func (u *Uplink) Reload() {
	select {
	case u.reload <- struct{}{}:
	default:
	}
}

// Status is the state of now.
func (u *Uplink) Status() Status { return u.board.status() }

// step does one thing: it fetches a batch, or makes one request and draws its consequence.
func (u *Uplink) step(ctx context.Context) {
	switch {
	case u.batch.done():
		u.fetch(ctx)
	case u.batch.asks():
		u.ask(ctx)
	case u.batch.wantsProof():
		u.prove(ctx)
	default:
		if i, ok := u.batch.leapsTo(); ok {
			u.leap(ctx, i)
		} else {
			u.deliver(ctx)
		}
	}
}

// fetch peeks the next batch, and waits for points if there are none.
func (u *Uplink) fetch(ctx context.Context) {
	entries, body, err := u.next(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		u.holdOff(ctx, answer{outcome: down, reason: fmt.Sprintf("read outbox: %v", err)})
	case len(entries) == 0:
		u.batch, u.body = nil, nil
		u.board.idle()
		select {
		case <-ctx.Done():
		case <-u.reload:
		case <-u.outbox.Ready():
		}
	default:
		u.batch, u.body = newBatch(entries, u.wary), body
	}
}

// deliver sends the next part of the batch, and makes the next batch ready meanwhile if this is the last of a full one.
func (u *Uplink) deliver(ctx context.Context) {
	b := u.batch
	first, end := b.next, b.span(u.pace.bytes())
	part := b.entries[first:end]
	size := int(sizeOf(part))
	body, err := u.bodyOf(part)
	if err != nil {
		u.holdOff(ctx, answer{outcome: down, reason: err.Error()})
		return
	}
	if u.pace.gap > 0 {
		if u.pause(ctx, u.pace.gap, false); ctx.Err() != nil {
			return
		}
	}
	join := u.lookAhead(ctx, end)
	a := u.poster.send(ctx, body)
	join()
	switch {
	case a.outcome == settled:
		u.pace.taken(size)
		through, parked := b.took(end, a.peer)
		u.settle(ctx, through, parked)
	case a.outcome == refused:
		b.refused(end, &a, a.reason)
	case a.outcome == tooLarge && len(part) > 1:
		u.pace.tooLarge(size)
	case a.outcome == tooLarge:
		b.refused(end, &a, fmt.Sprintf("line of %d bytes is too long for the server: %s", size-1, a.reason))
	default:
		if a.timeout {
			u.pace.timedOut(size)
		}
		u.holdOff(ctx, a)
	}
}

// settle is called when the server has taken a line. It ends what lies in the batch's lane up to through; 0 is none.
func (u *Uplink) settle(ctx context.Context, through uint64, parked []Refused) {
	u.wary = false
	u.wait.reset()
	u.board.up()
	if through == 0 {
		return
	}
	inner, cancel := withGrace(ctx)
	defer cancel()
	if err := u.outbox.Settle(inner, u.lane.after, through, parked); err != nil {
		return // we are stopping; it will be sent again
	}
	u.lane.after = through
	if u.batch.done() {
		u.lanes.took(u.lane)
	}
	u.board.parked(parked)
}
