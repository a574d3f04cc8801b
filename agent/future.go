package agent

import (
	"cmp"
	"slices"
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/watermark"
)

// Bounds of the rule for readings ahead of the clock. Fixed by the design, not configurable.
const (
	maxHeld       = 100            // readings held at a time
	untrustedLead = 24 * time.Hour // how far ahead of what is known a reading may be while the clock is not trusted
	confirmWithin = time.Hour      // how near another sensor's reading must come to release a held one
)

// A held reading is too far ahead of what an untrusted clock can vouch for. It waits for a second witness.
type held struct {
	Series       reading.Series `json:"series"`
	ArrivalTimed bool           `json:"arrival_timed,omitempty"`
	Time         int64          `json:"time"`
	Value        float64        `json:"value"`
	Retained     bool           `json:"retained,omitempty"`
	Arrival      int64          `json:"arrival,omitempty"` // as of Input

	due bool // vouched for, in the release that is going on
}

func (h held) reading() reading.Reading {
	return reading.Reading{Series: h.Series, ArrivalTimed: h.ArrivalTimed, Time: h.Time, Value: h.Value}
}

// horizon is the instant after which nothing ever passes.
func (r Rules) horizon() int64 { return time.Unix(0, r.BuildDate).UTC().AddDate(20, 0, 0).UnixNano() }

// ahead reports whether t is too far ahead to be judged by its time.
func (e *Engine) ahead(t int64, now Moment) bool {
	switch {
	case t > e.horizon:
		return true
	case e.rules.MaxFuture == 0:
		return false
	case now.Trusted:
		return t > watermark.Add(now.Wall, e.rules.MaxFuture)
	}
	return t > watermark.Add(max(e.newest, now.Wall), int64(untrustedLead))
}

// tooFar rejects a reading that is ahead of a trusted clock, and holds one that is ahead of an untrusted one. A held
// reading is not received yet: its message's count is taken back until it is judged.
func (e *Engine) tooFar(r reading.Reading, retained bool, now Moment) {
	if now.Trusted || r.Time > e.horizon {
		e.refuse(r, reading.Future)
		return
	}
	e.ledger.Received--
	e.hold(held{Series: r.Series, ArrivalTimed: r.ArrivalTimed, Time: r.Time, Value: r.Value, Retained: retained, Arrival: e.arrival})
}

// hold keeps a reading back; when all places are taken the oldest is rejected.
func (e *Engine) hold(h held) {
	if len(e.held) == maxHeld {
		e.refuseHeld(e.held[0])
		e.held = slices.Delete(e.held, 0, 1)
	}
	e.held = append(e.held, h)
	e.batch.heldChanged = true
}

// refuseHeld rejects a reading that was held. One of another share is counted where it belongs.
func (e *Engine) refuseHeld(h held) {
	if e.rules.Share.Has(h.Series.Sensor()) {
		e.ledger.Received++
		e.ledger.Rejected[reading.Future]++
		e.asHeld(h, func(r reading.Reading) { e.traced(r, buffer.Refusal(reading.Future)) })
	}
}

// confirm releases the held readings that the live reading r vouches for, and with them those that event time has come near
// then; all are judged before r. A repeat of one that is held vouches for nothing.
func (e *Engine) confirm(r reading.Reading, now Moment) {
	vouched := func(h held) bool { return e.witness(r, h) }
	if len(e.held) == 0 || r.Time > e.horizon || e.repeatsHeld(r) || !slices.ContainsFunc(e.held, vouched) {
		return
	}
	e.release(vouched, now)
}

// repeatsHeld reports whether r repeats a reading that is held.
func (e *Engine) repeatsHeld(r reading.Reading) bool {
	return !r.ArrivalTimed && slices.ContainsFunc(e.held, func(h held) bool {
		return h.Series == r.Series && h.Time == r.Time && h.Value == r.Value
	})
}

// witness reports whether r, live and no repeat, vouches for h: it is near it in time and of another sensor, or of the
// only sensor there is.
func (e *Engine) witness(r reading.Reading, h held) bool {
	d := r.Time - h.Time
	if d < -int64(confirmWithin) || d > int64(confirmWithin) {
		return false
	}
	return r.Series.Sensor() != h.Series.Sensor() || e.onlySensor(h.Series.Sensor())
}

// onlySensor reports whether no other sensor is known, be it by a held reading.
func (e *Engine) onlySensor(name string) bool {
	for s := range e.sensors {
		if s != name {
			return false
		}
	}
	if slices.ContainsFunc(e.elsewhere.Sensors, func(s string) bool { return s != name }) {
		return false
	}
	return !slices.ContainsFunc(e.held, func(h held) bool { return h.Series.Sensor() != name })
}

// release judges the held readings that are vouched for, in arrival order. After each all that are left are tested again:
// those that event time has come near are released too.
func (e *Engine) release(vouched func(held) bool, now Moment) {
	for i := range e.held {
		e.held[i].due = vouched(e.held[i])
	}
	pass := func(h held) bool { return h.due }
	for {
		i := slices.IndexFunc(e.held, pass)
		if i < 0 {
			return
		}
		h := e.held[i]
		e.held = slices.Delete(e.held, i, i+1)
		e.batch.heldChanged = true
		e.judgeHeld(h, now)
		pass = func(h held) bool { return h.due || !e.ahead(h.Time, now) }
	}
}

// judgeHeld judges a released reading by every rule but the one that held it.
func (e *Engine) judgeHeld(h held, now Moment) {
	r := h.reading()
	if !e.rules.Share.Has(r.Series.Sensor()) {
		if !h.Retained || !e.isLate(r, e.stream) {
			e.follow(r, h.Retained, now)
		}
		return
	}
	e.asHeld(h, func(r reading.Reading) { e.receiveHeld(r, h.Retained, now) })
}

// asHeld has fn look at a held reading as one that came when it did.
func (e *Engine) asHeld(h held, fn func(reading.Reading)) {
	others, arrival := e.verdict.others, e.arrival
	e.verdict.others, e.arrival = true, cmp.Or(h.Arrival, reading.NoTime)
	defer func() { e.verdict.others, e.arrival = others, arrival }()
	fn(h.reading())
}

// receiveHeld puts a held reading into its column.
func (e *Engine) receiveHeld(r reading.Reading, retained bool, now Moment) {
	e.ledger.Received++
	if e.full(r) {
		e.overflow(r, retained, false, now)
		return
	}
	sc := e.scopeOf(r.Series)
	repeat := !r.ArrivalTimed && sc != nil && sc.set.Seen(r.Series, r.Time, r.Value)
	switch {
	case retained && (repeat || e.isLate(r, sc)): // its source's rule let it pass when it came
		e.ledger.Retained++
		e.traced(r, buffer.WasRetained)
	case repeat:
		e.ledger.Duplicate++
		e.traced(r, buffer.WasDuplicate)
	default:
		e.place(r, retained, now)
	}
}

// ClockTrusted tests every held reading against the clock, now that it is trusted: those still too far ahead are rejected,
// the rest is judged.
func (e *Engine) ClockTrusted(now Moment) {
	if len(e.held) == 0 || !now.Trusted {
		return
	}
	all := e.held
	e.held = nil
	e.batch.heldChanged = true
	for _, h := range all {
		if e.ahead(h.Time, now) {
			e.refuseHeld(h)
			continue
		}
		e.judgeHeld(h, now)
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
