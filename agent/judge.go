package agent

import (
	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/watermark"
	"edgeagent/window"
)

// judge puts one reading of a fresh message into its column of the ledger: the first rule that applies, in the order of
// docs/semantics.md. Redeliveries and refusals have been counted before.
func (e *Engine) judge(r reading.Reading, retained bool, now Moment) {
	if !e.rules.Share.Has(r.Series.Sensor()) {
		e.pass(r, retained, now)
		return
	}
	if int(r.Source) < len(e.tallies) {
		e.tallies[r.Source].readings++
	}
	if r.ArrivalTimed && (e.early || now.Wall < e.rules.BuildDate) {
		e.refuse(r, reading.Clock)
		return
	}
	if e.full(r) {
		e.overflow(r, retained, e.ahead(r.Time, now), now)
		return
	}
	sc := e.scopeOf(r.Series)
	repeat := !r.ArrivalTimed && sc != nil && sc.set.Seen(r.Series, r.Time, r.Value)
	if retained && e.snapshot(r, sc, repeat) {
		e.ledger.Retained++
		e.traced(r, buffer.WasRetained)
		return
	}
	if repeat {
		e.ledger.Duplicate++
		e.traced(r, buffer.WasDuplicate)
		return
	}
	if !retained {
		e.confirm(r, now)
	}
	if e.ahead(r.Time, now) {
		e.tooFar(r, retained, now)
		return
	}
	e.place(r, retained, now)
}

// place gives a reading that is neither refused, repeated nor too far ahead its place: no room for its sensor, late, or
// windowed.
func (e *Engine) place(r reading.Reading, retained bool, now Moment) {
	s := e.admit(r.Series.Sensor(), r.Time)
	if s == nil {
		e.refuse(r, reading.Sensors)
		return
	}
	if r.ArrivalTimed {
		e.arrivalTimed++
	}
	s.note(&r, retained, now.Wall)
	if !e.verdict.others {
		e.lags.note(&r, s, s.scope.mark.M, now.Trusted)
	}
	if e.isLate(r, s.scope) {
		e.hear(s, r.Time, e.countLate(r, s.scope))
		return
	}
	e.hear(s, r.Time, true)
	e.ledger.Windowed++
	e.traced(r, buffer.WasWindowed)
	e.live = e.live || !retained
	e.entry(buffer.Windowed, r.Series, r.Time, r.Value)
	sc := s.scope
	e.outputs = sc.set.Fold(r.Series, r.Time, r.Value, sc.mark.W, e.batch.record, e.outputs[:0])
	e.observe(sc, r.Time, now, len(e.batch.journal)-1)
}

// snapshot reports whether a retained reading counts as retained only: by its source's rule, because it is late or a
// repeat, or because no live reading has been windowed in this store yet.
func (e *Engine) snapshot(r reading.Reading, sc *scope, repeat bool) bool {
	policy := e.retained(r.Source)
	if policy == reading.Drop || !e.live || repeat {
		return true
	}
	if policy == reading.DropUntimed && r.ArrivalTimed {
		return true
	}
	return e.isLate(r, sc)
}

// isLate is the late rule, and the floor: a store that was made anew counts as late whatever an earlier one may have sent.
func (e *Engine) isLate(r reading.Reading, sc *scope) bool {
	w, gone := e.base, e.floor
	if sc != nil {
		w, gone = sc.mark.W, max(gone, sc.gone)
	}
	end := window.Start(r.Time, e.rules.Size) + e.rules.Size
	return end <= gone || e.rules.Late.Late(r.Time, end, e.rules.Allowed, w)
}

// countLate counts a late drop in the interval in which event time stands, and hands it to the side output. It moves nothing else. It reports whether the
// reading is journalled, to be remembered.
func (e *Engine) countLate(r reading.Reading, sc *scope) bool {
	e.ledger.Late++
	e.traced(r, buffer.WasLate)
	m := e.standing(sc)
	sc.late.Add(r.Series, r.Time, m)
	e.keepLate(r, m)
	e.batch.late[r.Series] = struct{}{}
	if !sc.set.Remember(r.Series, r.Time, r.Value, sc.mark.W, e.batch.record) {
		return false
	}
	e.entry(buffer.Late, r.Series, r.Time, r.Value)
	return true
}

// standing is M, for the interval of late counts: before the first reading it is what is closed already, and in a store made
// anew nothing an earlier one may have reported.
func (e *Engine) standing(sc *scope) int64 {
	if sc.mark.M == watermark.None {
		return max(e.base, e.born)
	}
	return max(sc.mark.M, e.born)
}

// recordBytes is what a record of the journal costs beside its entries, at most.
const recordBytes = 64

// full reports whether the journal has no room for r.
func (e *Engine) full(r reading.Reading) bool {
	return e.JournalFull != nil && e.JournalFull(recordBytes+e.batch.bytes+buffer.EntrySize(buffer.Entry{Series: r.Series}))
}

// overflow refuses a reading that the journal has no room for. It still moves event time, so that windows become final
// and the journal empties again; but not if it is retained, too far ahead, late, or of a sensor that there is no room for.
func (e *Engine) overflow(r reading.Reading, retained, ahead bool, now Moment) {
	e.refuse(r, reading.Overflow)
	if retained || ahead || e.isLate(r, e.scopeOf(r.Series)) {
		return
	}
	s := e.admit(r.Series.Sensor(), r.Time)
	if s == nil {
		return
	}
	e.hear(s, r.Time, false)
	e.outputs = e.outputs[:0]
	e.observe(s.scope, r.Time, now, -1)
}

// observe moves event time to t, and notes when that was, for the idle rule.
func (e *Engine) observe(sc *scope, t int64, now Moment, entry int) {
	before := sc.mark.M
	moved := sc.mark.Observe(t, e.rules.Delay)
	sc.lastM, sc.lastTime = sc.mark.M, now.Online
	e.advance(sc, before, moved, entry)
}

// advance follows a move of event time: windows become final, changed ones are put out at an update tick, late reports go
// out when their interval is left. The journal entry at index i, if any, notes a tick.
func (e *Engine) advance(sc *scope, before int64, moved bool, i int) {
	if moved {
		e.newest = max(e.newest, sc.mark.M)
		e.touch(sc.owner)
		e.outputs = sc.set.Advance(sc.mark.W, e.outputs)
		e.journal.release(sc.set.Released())
		if e.ticked(before, sc.mark.M) {
			e.outputs = sc.set.Changed(e.outputs)
			e.noteTick(sc, i)
		}
	}
	e.put(e.outputs)
	if moved {
		e.leave(sc)
	}
}

// ticked reports whether event time has passed a multiple of the update interval.
func (e *Engine) ticked(before, after int64) bool {
	if !e.rules.Update || before == watermark.None {
		return false
	}
	return floorDiv(before, e.rules.UpdateInterval) != floorDiv(after, e.rules.UpdateInterval)
}

// noteTick journals a tick, so that a restart knows which open windows have been put out.
func (e *Engine) noteTick(sc *scope, i int) {
	if i < 0 {
		e.entry(buffer.BareTick, reading.Series(sc.name()), 0, 0)
		i = len(e.batch.journal) - 1
	}
	e.batch.journal[i].Tick = true
}

// leave puts out the late reports of intervals that event time has left.
func (e *Engine) leave(sc *scope) {
	var left []reading.Series
	e.reports, left = sc.late.Leave(sc.mark.M, e.reports[:0])
	for _, series := range left {
		e.batch.late[series] = struct{}{}
	}
	e.report(e.reports)
}
