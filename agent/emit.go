package agent

import (
	"edgeagent/buffer"
	"edgeagent/window"
)

// put encodes windows and adds them to the batch, in their order.
func (e *Engine) put(outs []window.Output) {
	for i := range outs {
		o := &outs[i]
		p := buffer.Point{Kind: buffer.Updated, End: o.End}
		if o.First {
			p.Kind = buffer.Finalized
			e.finalized++
		}
		line, err := e.encoder.Window(nil, o.Series, o.Start, o.End, &o.Agg, o.Final, o.Shown)
		if e.mayUpdate() {
			p.Series, p.Start, p.Replaces = o.Series, o.Start, *o.Queued
			*o.Queued = e.nextSeq()
		}
		e.queue(p, line, err)
	}
}

// report encodes late reports and adds them to the batch, in their order.
func (e *Engine) report(reports []window.Report) {
	for _, r := range reports {
		p := buffer.Point{Kind: buffer.LateReport, End: r.Interval + e.rules.Size}
		line, err := e.encoder.Late(nil, r.Series, r.Interval, r.Count, r.Total, r.MaxNs)
		e.queue(p, line, err)
	}
}

// queue adds a point to the batch. One that cannot be encoded is kept too: it is parked with the reason.
func (e *Engine) queue(p buffer.Point, line []byte, err error) {
	p.Line = line
	if err != nil {
		p.Refused = err.Error()
	}
	e.batch.points = append(e.batch.points, p)
}

// nextSeq is the outbox sequence that the next point gets.
func (e *Engine) nextSeq() uint64 { return e.batch.seq + uint64(len(e.batch.points)) }

// mayUpdate reports whether a point may be followed by another of the same identity.
func (e *Engine) mayUpdate() bool { return e.rules.Allowed > 0 || e.rules.Update }
