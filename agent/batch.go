package agent

import (
	"encoding/json"
	"fmt"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/watermark"
)

// A batch is what has happened since the last commit.
type batch struct {
	record      uint64 // the number that its store record will get
	seq         uint64 // the outbox sequence that its first point will get
	journal     []buffer.Entry
	points      []buffer.Point
	side        []buffer.SideReading
	trace       []buffer.TraceReading
	marks       []*sensor
	dropped     []string
	bytes       int64                       // that journal adds to the store, at most
	late        map[reading.Series]struct{} // counters that have changed
	heldChanged bool
}

func newBatch() batch {
	return batch{record: 1, seq: 1, late: make(map[reading.Series]struct{})}
}

// Fill writes what has happened since the last commit into b. It may be called again after a commit that failed; nothing
// is given up before Committed.
func (e *Engine) Fill(b *buffer.Batch) error { return e.fill(b, e.state()) }

func (e *Engine) fill(b *buffer.Batch, s state) error {
	var err error
	if b.State, err = json.Marshal(s); err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	e.prune(b)
	b.Journal, b.Points, b.Side = e.batch.journal, e.batch.points, e.batch.side
	b.Trace.Readings, b.Trace.Size = e.batch.trace, e.rules.Size
	e.fillMarks(b)
	b.Late = b.Late[:0]
	for series := range e.batch.late {
		c := e.late.Of(series)
		b.Late = append(b.Late, buffer.LateCount{Series: series, Interval: c.Interval, Count: c.Count, Reported: c.Reported, MaxNs: c.MaxNs, Total: c.Total})
	}
	b.Held = nil
	if e.batch.heldChanged {
		if b.Held, err = e.encodeHeld(); err != nil {
			return err
		}
	}
	return nil
}

// fillMarks writes the sensors that were heard first, or whose watermark moved. A mark holds the sensor's own M and W; with
// one watermark for the stream it holds the newest reading alone.
func (e *Engine) fillMarks(b *buffer.Batch) {
	b.Marks, b.DropMarks = b.Marks[:0], e.batch.dropped
	for _, s := range e.batch.marks {
		m := buffer.Mark{Sensor: s.name, M: s.last, W: watermark.None, Gone: watermark.None}
		if s.scope.owner != nil {
			m.M, m.W, m.Gone = s.scope.mark.M, s.scope.mark.W, s.scope.gone
		}
		if e.sensors[s.name] == s {
			b.Marks = append(b.Marks, m)
		}
	}
}

// prune names the journal records that are dead, and those worth rewriting.
func (e *Engine) prune(b *buffer.Batch) {
	b.ForgetJournal = e.journal.dead(e.batch.record)
	b.CompactJournal = e.journal.sparse(e.batch.record)
	if b.CompactJournal <= b.ForgetJournal {
		b.CompactJournal = 0
	}
	b.Keep = e.remembers
	if b.ForgetJournal > 0 || b.CompactJournal > 0 {
		e.saveSilent()
	}
}

// remembers reports whether a journalled reading is still remembered.
func (e *Engine) remembers(en buffer.Entry) bool {
	if en.Kind == buffer.BareTick {
		return false
	}
	sc := e.scopeOf(en.Series)
	return sc != nil && !sc.set.Forgotten(en.Time, sc.mark.W)
}

// Committed ends the batch that b carried: it is on disk.
func (e *Engine) Committed(b *buffer.Batch) {
	if b.ForgetJournal > 0 {
		e.journal.drop(b.ForgetJournal)
	}
	if b.CompactJournal > 0 {
		e.journal.merge(b.CompactJournal)
		e.eachScope(func(sc *scope) { sc.set.Merge(b.CompactJournal) })
	}
	e.batch.record++
	e.batch.seq += uint64(len(e.batch.points))
	for _, s := range e.batch.marks {
		s.dirty, s.saved = false, s.last
	}
	clear(e.batch.points)
	clear(e.batch.late)
	e.batch.journal, e.batch.bytes = e.batch.journal[:0], 0
	e.batch.points = e.batch.points[:0]
	e.batch.side = e.batch.side[:0]
	clear(e.batch.trace)
	e.batch.trace = e.batch.trace[:0]
	e.batch.marks = e.batch.marks[:0]
	e.batch.dropped = e.batch.dropped[:0]
	e.batch.heldChanged = false
}

// HasPoints reports whether the batch holds points.
func (e *Engine) HasPoints() bool { return len(e.batch.points) > 0 }

// Record is the number of the store record that the batch becomes.
func (e *Engine) Record() uint64 { return e.batch.record }

func (e *Engine) encodeHeld() ([]byte, error) {
	if len(e.held) == 0 {
		return []byte{}, nil
	}
	text, err := json.Marshal(e.held)
	if err != nil {
		return nil, fmt.Errorf("encode held readings: %w", err)
	}
	return text, nil
}
