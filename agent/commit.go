package agent

import (
	"errors"
	"fmt"
	"time"

	"edgeagent/buffer"
)

// Pauses between attempts of a commit that the disk refuses. Each attempt costs the store a scan of its file, so they are
// paced.
const (
	commitRetryMin = time.Second
	commitRetryMax = 15 * time.Second
	commitWarn     = time.Minute // a refusing disk is told again after so long, then after twice as long, and so on
	commitWarnMost = time.Hour   // up to this
)

// rejectedPerCommit bounds the raw messages kept with one commit, so that a flood of bad ones does not swell it.
const rejectedPerCommit = 128 << 10

// commits is what waits for the next commit beside the engine's batch, and how commits have fared.
type commits struct {
	batch    buffer.Batch // reused
	conn     uint64
	acks     []uint16 // of conn, in order of arrival
	orphans  bool     // the batch holds messages of an earlier connection, which nobody can acknowledge now
	settles  []settle // answered already if a commit failed with them
	rejected []buffer.Raw
	rawBytes int

	readmitted []buffer.Readmission // messages read in again
	requeue    []uint64             // parked points asked back; only for the commit at hand
	requeueAll bool
	requeueFor string // the uplink; "" all

	err     error
	retryAt time.Duration // Up
	pause   time.Duration
	warnAt  time.Duration // Up, from when it may be told again
	warnIn  time.Duration
	swallow int
	told    bool // the present trouble is in the log, so its end will be
}

func (c *commits) failing() bool { return c.err != nil }

// beyondRepair reports whether commits fail for a cause that does not pass.
func (c *commits) beyondRepair() bool {
	return errors.Is(c.err, buffer.ErrBroken) || errors.Is(c.err, buffer.ErrInDoubt)
}

// waiting reports whether a settlement waits, which a commit must not leave waiting.
func (c *commits) waiting() bool { return len(c.settles) > 0 }

// connected starts a connection: what an earlier one brought can no longer be acknowledged there, and comes again.
func (c *commits) connected(conn uint64) {
	c.orphans = c.orphans || len(c.acks) > 0
	c.conn, c.acks = conn, c.acks[:0]
}

func (c *commits) unacked(conn uint64, id uint16) {
	if conn == c.conn {
		c.acks = append(c.acks, id)
	}
}

// reject keeps a rejected message for the ring, within bounds.
func (c *commits) reject(r buffer.Raw) {
	if size := len(r.Topic) + len(r.Payload); c.rawBytes+size <= rejectedPerCommit {
		c.rawBytes += size
		c.rejected = append(c.rejected, r)
	}
}

// settle takes a settlement of the uplink in and commits it at once, with all that waits.
func (a *Agent) settle(s settle) {
	a.commits.settles = append(a.commits.settles, s)
	_ = a.commit() // has been logged, and the settlement is kept
}

// commit makes everything that waits durable in one transaction, and then, and only then, acknowledges. After a failure
// nothing is given up: the same batch, with what has come meanwhile, is tried again later.
func (a *Agent) commit() error {
	c := &a.commits
	up := a.up()
	if c.failing() && up < c.retryAt {
		a.answerSettles()
		return c.err
	}
	record, err := a.write(up)
	a.commitTime.note(a.up() - up)
	a.answerSettles()
	if err == nil && record != a.engine.Record() {
		err = fmt.Errorf("%w: BUG: record %d was committed as %d", buffer.ErrBroken, a.engine.Record(), record)
	}
	if err != nil {
		a.commitFailed(err, up)
		return err
	}
	a.committed(&c.batch)
	return nil
}

// write fills the batch with all that waits and has the store commit it; it returns the number of the record.
func (a *Agent) write(up time.Duration) (uint64, error) {
	c := &a.commits
	b := &c.batch
	a.noteSuccesses()
	if err := a.engine.Fill(b); err != nil {
		return 0, err
	}
	a.aliases.fill(b)
	a.packets.fill(b, a.engine.Record(), up)
	if len(b.Lags) == 0 && up >= a.periods.lags {
		a.periods.lags = up + lagEvery
		a.engine.fillLags(b, int64(a.cfg.Buffer.MaxSize))
	}
	b.Settle = b.Settle[:0]
	for _, s := range c.settles {
		b.Settle = append(b.Settle, s.settlement)
	}
	b.Rejected = c.rejected
	b.Trace.Up = int64(up)
	b.Readmitted = c.readmitted
	b.Requeue, b.RequeueAll, b.RequeueFor = c.requeue, c.requeueAll, c.requeueFor
	inFlight, let := a.hold()
	defer let()
	b.InFlight = inFlight
	return a.store.Commit(b)
}

// answerSettles tells the uplink that its settlements are on disk, or taken over: it need not wait for a disk that refuses.
func (a *Agent) answerSettles() {
	for i := range a.commits.settles {
		if s := &a.commits.settles[i]; s.done != nil {
			close(s.done)
			s.done = nil
		}
	}
}

// committed acknowledges the batch and starts the next.
func (a *Agent) committed(b *buffer.Batch) {
	c := &a.commits
	record, points := a.engine.Record(), len(b.Points)
	a.engine.Committed(b)
	a.engine.Requeued(&b.Requeued)
	a.packets.committed(b)
	a.aliases.committed()
	acked := a.client.Ack(c.conn, c.acks)
	up := a.up()
	if acked && !c.orphans {
		a.packets.acked(record, up)
	}
	a.pace.committed(acked, up)
	c.acks, c.orphans, c.settles = c.acks[:0], false, c.settles[:0]
	clear(c.rejected)
	c.rejected, c.rawBytes = c.rejected[:0], 0
	c.readmitted = nil
	b.Lags = b.Lags[:0]
	if points > 0 || b.Requeued.Points > 0 {
		a.wake()
	}
	a.commitGood(record)
}

// commitGood ends a trouble, if there was one.
func (a *Agent) commitGood(record uint64) {
	c := &a.commits
	if c.told {
		a.log.Info("store: writes again", "batch", record)
	}
	c.err, c.pause, c.told = nil, 0, false
}

// commitFailed plans the next attempt and says why, at most once a minute.
func (a *Agent) commitFailed(err error, up time.Duration) {
	c := &a.commits
	c.err = err
	c.pause = min(max(2*c.pause, commitRetryMin), commitRetryMax)
	c.retryAt = a.up() + c.pause
	if up < c.warnAt {
		c.swallow++
		return
	}
	if c.warnIn == 0 || up-c.warnAt > 4*c.warnIn { // something new; a disk that is nearly full takes some commits and refuses others
		c.warnIn = commitWarn / 2
	}
	c.warnIn = min(2*c.warnIn, commitWarnMost)
	c.warnAt, c.told = up+c.warnIn, true
	a.log.Warn("store: cannot write; readings stay unacknowledged at the broker, uploads go on", "error", err,
		"waiting", a.pace.messages, "repeated", c.swallow)
	c.swallow = 0
}
