package agent

import (
	"context"
	"fmt"
	"slices"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// Bounds of what is read in again with one commit.
const (
	readmitMessages = 500
	readmitBytes    = 256 << 10
)

// Readmitted is what came of reading rejected messages in again.
type Readmitted struct {
	Messages int64            `json:"messages"` // in the ring
	Accepted int64            `json:"accepted"` // of these, have left it
	Partly   int64            `json:"partly"`   // of these, stay for a part that is refused still
	Refused  int64            `json:"refused"`  // of these, stay as they were
	Readings int64            `json:"readings"` // judged
	Columns  map[string]int64 `json:"columns"`  // of the ledger, by how much they changed; rejected_REASON for the reasons
	DryRun   bool             `json:"dry_run,omitempty"`
}

// A readmitter reads the ring of rejected messages in again, with the present configuration and in order of arrival.
type readmitter struct {
	agent   *Agent
	decoder *reading.Decoder // of its own: an old birth must not change the alias tables that live messages are read by
	after   uint64           // messages up to this number are done
	last    uint64           // the newest of the ring at the start
	sum     Readmitted
	result  reading.Result
}

// readmit reads in again whatever the ring holds now. Each step is one request to the run loop and one commit, so a cut leaves
// every message either in the ring and counted as rejected, or out of it and counted as what it became.
func (a *Agent) readmit(ctx context.Context, dryRun bool) (Readmitted, error) {
	r := &readmitter{agent: a, sum: Readmitted{DryRun: dryRun, Columns: map[string]int64{}}}
	if err := a.do(ctx, r.begin); err != nil {
		return r.sum, err
	}
	for more := r.last > 0; more; {
		err := a.do(ctx, func() (err error) { more, err = r.step(); return err })
		if err != nil {
			return r.sum, err
		}
	}
	return r.sum, nil
}

// begin readies the decoder and notes where the ring ends.
func (r *readmitter) begin() (err error) {
	a := r.agent
	if a.commits.failing() {
		return fmt.Errorf("the store cannot be written now: %w", a.commits.err)
	}
	if r.decoder, err = reading.Compile(a.cfg.Sources, a.cfg.Watermark.NotBefore); err != nil {
		return err
	}
	if err := r.decoder.SetAliases(a.aliases.now()); err != nil {
		return err
	}
	r.last, err = a.store.LastRejected()
	return err
}

// step reads some messages in and commits what came of them; false when there are no more.
func (r *readmitter) step() (more bool, err error) {
	a := r.agent
	list, numbers, err := a.store.RejectedAfter(r.after, readmitMessages, readmitBytes)
	if err != nil {
		return false, err
	}
	var before Ledger
	if !r.sum.DryRun { // which may be on a store that is only looked at
		before = a.engine.Ledger()
	}
	for i := range list {
		if numbers[i] > r.last {
			list = list[:i]
			break
		}
		r.after = numbers[i]
		r.message(&list[i], numbers[i])
	}
	if r.sum.DryRun || len(list) == 0 {
		return len(list) > 0, nil
	}
	r.note(before, a.engine.Ledger())
	if len(a.commits.readmitted) == 0 {
		return true, nil
	}
	if err := a.commit(); err != nil {
		return false, fmt.Errorf("what was read in again so far is kept in memory until the store can be written: %w", err)
	}
	return true, nil
}

// message reads one message in.
func (r *readmitter) message(raw *buffer.Raw, number uint64) {
	r.sum.Messages++
	r.decoder.Decode(reading.Message{Topic: raw.Topic, Payload: raw.Payload, Retained: raw.Retained, Arrival: raw.Arrival}, &r.result)
	r.result.Readings = untaken(r.result.Readings, raw.Taken)
	n := int64(len(r.result.Readings))
	if n == 0 {
		r.sum.Refused++
		return
	}
	r.sum.Readings += n
	if r.sum.DryRun {
		r.count(len(r.result.Refusals) == 0, true)
		return
	}
	keep, taken := r.agent.engine.Readmit(raw, &r.result, r.agent.moment())
	r.count(keep == nil, taken)
	if keep == nil || taken || !slices.Equal(keep.Refused, raw.Refused) {
		r.agent.commits.readmitted = append(r.agent.commits.readmitted, buffer.Readmission{N: number, Keep: keep})
	}
}

// count counts a message by whether all or any of it was accepted.
func (r *readmitter) count(all, any bool) {
	switch {
	case all:
		r.sum.Accepted++
	case any:
		r.sum.Partly++
	default:
		r.sum.Refused++
	}
}

// note adds by how much the columns of the ledger changed.
func (r *readmitter) note(before, after Ledger) {
	add := func(name string, n int64) {
		if r.sum.Columns[name] += n; r.sum.Columns[name] == 0 {
			delete(r.sum.Columns, name)
		}
	}
	add("received", after.Received-before.Received)
	add("windowed", after.Windowed-before.Windowed)
	add("late", after.Late-before.Late)
	add("duplicate", after.Duplicate-before.Duplicate)
	add("retained", after.Retained-before.Retained)
	for i := range after.Rejected {
		add("rejected_"+reading.Reason(i).String(), after.Rejected[i]-before.Rejected[i])
	}
}

// untaken are the readings that do not bear a mark of taken; each mark stands for one.
func untaken(rs []reading.Reading, taken []uint64) []reading.Reading {
	if len(taken) == 0 {
		return rs
	}
	left := make(map[uint64]int, len(taken))
	for _, mark := range taken {
		left[mark]++
	}
	return slices.DeleteFunc(rs, func(r reading.Reading) bool {
		mark := markOf(r)
		left[mark]--
		return left[mark] >= 0
	})
}

// Readmit judges a rejected message again, as if it came now: res is what it decodes to, without the readings that were judged
// before. What the ledger counts of it as rejected is taken back, as far as new columns make up for it: received never goes
// down. keep is the message as it is to stay in the ring, nil if nothing of it is refused any more; taken tells whether any
// of its readings was accepted.
func (e *Engine) Readmit(raw *buffer.Raw, res *reading.Result, now Moment) (keep *buffer.Raw, taken bool) {
	e.refuseUntimed(res)
	e.takeBack(raw.Refused, int64(len(res.Readings)+len(res.Refusals)))
	tallies := e.tallies
	e.tallies = nil // its sources have had it counted when it came
	e.Message(Input{Result: res, Topic: raw.Topic, Retained: raw.Retained, Arrival: raw.Arrival, Now: now})
	e.tallies = tallies
	taken = slices.Contains(e.verdict.turned, false)
	if e.verdict.refused.Sum() == 0 {
		return nil, taken
	}
	k := *raw
	e.verdict.describe(&k, res.Readings)
	return &k, taken
}

// refuseUntimed refuses readings timed by an arrival at which the gateway's clock was wrong for certain.
func (e *Engine) refuseUntimed(res *reading.Result) {
	res.Readings = slices.DeleteFunc(res.Readings, func(r reading.Reading) bool {
		early := r.ArrivalTimed && r.Time < e.rules.BuildDate
		if early {
			res.Refusals = append(res.Refusals, reading.Refusal{Source: r.Source, Reason: reading.Clock, Detail: "it came before the clock was right"})
		}
		return early
	})
}

// takeBack takes at most n refusals out of the ledger.
func (e *Engine) takeBack(refused []buffer.Refused, n int64) {
	for _, f := range refused {
		back := min(f.N, n, e.ledger.Rejected[f.Reason])
		e.ledger.Rejected[f.Reason] -= back
		e.ledger.Received -= back
		n -= back
	}
}
