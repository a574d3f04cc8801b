package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"edgeagent/reading"
)

// Oracle judges items, in arrival order, by the rules.
func Oracle(p Params, items []Item) Result {
	r := NewRun(p)
	for _, item := range items {
		r.Take(item)
	}
	if p.Close {
		r.Close()
	}
	return r.Result()
}

// A Run is the oracle taken item by item. It forgets nothing: its memory grows with the history. Not safe for
// concurrent use.
type Run struct {
	p      Params
	ledger Ledger
	points []Point
	drops  []Late

	live bool             // a live reading has been windowed
	m, w map[string]int64 // M and W by scope; absent: none yet

	known   map[repeat]bool                // every reading ever counted windowed or late
	windows map[Identity][]reading.Reading // every reading ever windowed, in arrival order
	late    map[reading.Series][]drop      // every late reading, in arrival order
	waiting map[Identity]bool              // windows without a final point, late intervals with something to report
	changed map[Identity]bool              // open windows with readings that no point has shown yet
}

// A repeat is what two readings have in common when one repeats the other. 0 and -0 are equal, as parts of a key too.
type repeat struct {
	series reading.Series
	time   int64
	value  float64
}

// A drop is one late reading: the interval M was in, and how far behind M it was, ns.
type drop struct {
	interval, behind int64
	reported         bool
}

// NewRun begins with an empty store.
func NewRun(p Params) *Run {
	return &Run{
		p: p, ledger: Ledger{Rejected: map[string]int64{}},
		m: map[string]int64{}, w: map[string]int64{},
		known: map[repeat]bool{}, windows: map[Identity][]reading.Reading{}, late: map[reading.Series][]drop{},
		waiting: map[Identity]bool{}, changed: map[Identity]bool{},
	}
}

// Take judges the next message and returns the points that it puts out.
func (r *Run) Take(item Item) []Point {
	n := len(r.points)
	for _, f := range item.Refusals {
		r.ledger.Received++
		if item.Again {
			r.ledger.Duplicate++
		} else {
			r.ledger.Rejected[f.Reason.String()]++
		}
	}
	readings := slices.Clone(item.Readings)
	slices.SortStableFunc(readings, func(a, b reading.Reading) int { return cmp.Compare(a.Time, b.Time) })
	for _, rd := range readings {
		r.ledger.Received++
		r.judge(rd, item)
	}
	return r.points[n:len(r.points):len(r.points)]
}

// Result is what has come of all items so far.
func (r *Run) Result() Result {
	l := r.ledger
	l.Rejected = maps.Clone(l.Rejected)
	return Result{Points: slices.Clone(r.points), Late: slices.Clone(r.drops), Ledger: l}
}

// judge finds the first rule of section 2 that applies.
func (r *Run) judge(rd reading.Reading, item Item) {
	switch {
	case item.Again:
		r.ledger.Duplicate++
	case item.Retained && r.stale(rd):
		r.ledger.Retained++
	case r.repeats(rd):
		r.ledger.Duplicate++
	case r.isLate(rd):
		r.ledger.Late++
		r.drop(rd)
	default:
		r.ledger.Windowed++
		r.live = r.live || !item.Retained
		r.fold(rd)
	}
}

// stale reports whether a retained reading is not to be accepted.
func (r *Run) stale(rd reading.Reading) bool {
	rule := ""
	if int(rd.Source) < len(r.p.Retained) {
		rule = r.p.Retained[rd.Source]
	}
	switch {
	case !r.live, rule == "drop":
		return true
	case rd.ArrivalTimed && rule != "keep":
		return true
	}
	return r.repeats(rd) || r.isLate(rd)
}

// repeats reports whether rd repeats a remembered reading: one that was counted windowed or late and whose window is not
// over by more than the larger of allowance and delay. W never goes back, so a reading that was itself too old to be
// remembered fails this test whenever its repeat comes.
func (r *Run) repeats(rd reading.Reading) bool {
	if rd.ArrivalTimed || !r.known[repeat{rd.Series, rd.Time, rd.Value}] {
		return false
	}
	w, ok := r.w[r.scope(rd.Series)]
	return !ok || w < r.end(rd.Time)+int64(max(r.p.Allowed, r.p.Delay))
}

// isLate is rule 6. Before the first reading there is no W and nothing is late.
func (r *Run) isLate(rd reading.Reading) bool {
	w, ok := r.w[r.scope(rd.Series)]
	if !ok {
		return false
	}
	if r.p.Strict {
		return rd.Time < w
	}
	return r.end(rd.Time)+int64(r.p.Allowed) <= w
}

// drop counts a late reading in the interval that M is in. W exists, so M does.
func (r *Run) drop(rd reading.Reading) {
	m := r.m[r.scope(rd.Series)]
	d := drop{interval: floor(m, r.p.Size), behind: m - rd.Time}
	r.late[rd.Series] = append(r.late[rd.Series], d)
	r.drops = append(r.drops, Late{Reading: rd, Behind: d.behind, After: len(r.points)})
	r.waiting[Identity{Late: true, Start: d.interval, Series: rd.Series}] = true
	r.known[repeat{rd.Series, rd.Time, rd.Value}] = true
}

// scope names whose M and W count for a series: its sensor's, or the stream's.
func (r *Run) scope(s reading.Series) string {
	if r.p.PerSensor {
		return s.Sensor()
	}
	return ""
}

// end is the end of the window that t is in, ns.
func (r *Run) end(t int64) int64 { return floor(t, r.p.Size) + int64(r.p.Size) }

// floor is the largest multiple of size that is not above t, ns.
func floor(t int64, size time.Duration) int64 {
	rest := t % int64(size)
	if rest < 0 {
		rest += int64(size)
	}
	return t - rest
}
