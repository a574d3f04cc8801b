package agent

import (
	"context"
	"fmt"

	"edgeagent/buffer"
)

// requeue has parked points put back into the outbox by the run loop, in a commit of its own. On an error nothing has changed.
func (a *Agent) requeue(ctx context.Context, req Request) (done buffer.Requeued, err error) {
	err = a.do(ctx, func() error {
		c := &a.commits
		if err := knows(a.store, req.Uplink); err != nil {
			return err
		}
		c.requeue, c.requeueAll, c.requeueFor = req.Seqs, req.All, req.Uplink
		defer func() { c.requeue, c.requeueAll, c.requeueFor = nil, false, "" }()
		if err := a.commit(); err != nil {
			return fmt.Errorf("nothing was queued again: %w", err)
		}
		done = c.batch.Requeued
		return nil
	})
	return done, err
}

// Requeued follows points that a commit has put back into the outbox: the numbers that points get have moved on.
func (e *Engine) Requeued(r *buffer.Requeued) {
	e.batch.seq += uint64(r.Numbers)
	for _, p := range r.Moved {
		if sc := e.scopeOf(p.Series); sc != nil {
			sc.set.SetQueued(p.Series, p.Start, p.Seq)
		}
	}
}
