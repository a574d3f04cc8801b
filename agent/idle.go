package agent

import (
	"slices"
	"strings"

	"edgeagent/watermark"
)

// Idle moves event time on while nothing comes: M = M at the last reading + (silence - idle_timeout), and no further than
// the open windows and late counts need to be put out. Call it now and then while the broker is connected; Moment.Online
// stands still otherwise.
func (e *Engine) Idle(now Moment) {
	if e.rules.IdleTimeout == 0 {
		return
	}
	var due []*scope
	e.eachScope(func(sc *scope) {
		if now.Online-sc.lastTime <= e.rules.IdleTimeout {
			return
		}
		if _, waiting := e.needs(sc); waiting {
			due = append(due, sc)
		}
	})
	slices.SortFunc(due, func(a, b *scope) int { return strings.Compare(a.name(), b.name()) })
	for _, sc := range due {
		e.idle(sc, now.Online-sc.lastTime-e.rules.IdleTimeout)
	}
}

// idle moves a scope on by what it has been silent beyond the timeout.
func (e *Engine) idle(sc *scope, beyond int64) {
	need, _ := e.needs(sc)
	last := sc.lastM
	if last == watermark.None {
		last = e.standing(sc)
	}
	before := sc.mark.M
	moved := sc.mark.Observe(min(watermark.Add(last, beyond), need), e.rules.Delay)
	e.outputs = e.outputs[:0]
	e.advance(sc, before, moved, -1)
}

// needs is the M at which nothing of the scope waits any more: its open windows are final and its late counts reported.
func (e *Engine) needs(sc *scope) (int64, bool) {
	end, open := sc.set.OpenEnd()
	need := watermark.Add(end, e.rules.Delay)
	left, late := sc.late.Waiting()
	switch {
	case open && late:
		return max(need, left), true
	case open:
		return need, true
	}
	return left, late
}

// Close puts out every open window as it stands and every late count, as replay --close does. W becomes the largest end
// closed, so nothing that was sent is opened again.
func (e *Engine) Close() {
	for _, sc := range e.scopes() {
		e.closeScope(sc)
	}
}

func (e *Engine) closeScope(sc *scope) {
	if end, open := sc.set.OpenEnd(); open {
		sc.mark.Raise(end)
		e.touch(sc.owner)
		e.put(sc.set.Advance(sc.mark.W, e.outputs[:0]))
		e.journal.release(sc.set.Released())
	}
	e.reports = sc.late.Close(e.reports[:0])
	for _, r := range e.reports {
		e.batch.late[r.Series] = struct{}{}
	}
	e.report(e.reports)
}

// endLate ends the intervals that closeScope has reported: what comes later is counted in others.
func (e *Engine) endLate(sc *scope) {
	for _, series := range sc.late.End() {
		e.batch.late[series] = struct{}{}
	}
}
