package window

import (
	"math"
	"slices"
	"strings"

	"edgeagent/reading"
)

// A Spec is the shape of the windows of a Set, in ns.
type Spec struct {
	Size    int64 // length of a window, above 0
	Allowed int64 // allowed lateness: how long after its end a window still takes readings
	Keep    int64 // how long after its window's end a reading is remembered: max(Allowed, delay)
}

// A stage is how far a window has come.
type stage uint8

const (
	open stage = iota
	final
	remembered
)

// A Ref says how many remembered readings of a window lie in one journal record.
type Ref struct {
	Record uint64
	N      int64
}

// A pane is one window of all series of a Set.
type pane struct {
	start int64
	stage stage
	cells map[reading.Series]*cell
	refs  []Ref // by ascending record
}

// A cell is one window of one series.
type cell struct {
	agg    Aggregate
	seen   memory
	out    bool   // its first final point is out
	dirty  bool   // changed since it was last put out
	shown  bool   // it has been put out while it was open
	queued uint64 // the outbox sequence of its newest point, 0 if none; the caller's
}

// A Set is the windows that one watermark governs. Make it with NewSet. One goroutine owns it.
type Set struct {
	spec     Spec
	panes    []*pane // by ascending start
	next     int64   // the smallest W at which Advance has something to do
	released []Ref
	gone     []*pane // forgotten by the last call; their cells are not free yet
	free     []*cell
	last     found // by the last look
	sorted   []reading.Series
}

// What was found last: a reading is looked for before it is folded.
type found struct {
	pane   *pane
	series reading.Series
	cell   *cell
}

// NewSet is an empty set.
func NewSet(spec Spec) *Set { return &Set{spec: spec, next: math.MaxInt64} }

// An Output is one window to put out.
type Output struct {
	Series     reading.Series
	Start, End int64
	Agg        Aggregate
	First      bool    // the window's first point with End <= W
	Final      bool    // End <= W
	Shown      bool    // this point or an earlier one was put out while the window was open
	Queued     *uint64 // where the caller keeps the sequence of the window's newest point; valid until the set is used again
}

// End is the end of the window in which t falls.
func (s *Set) End(t int64) int64 { return Start(t, s.spec.Size) + s.spec.Size }

// Seen reports whether the reading is remembered.
func (s *Set) Seen(series reading.Series, t int64, v float64) bool {
	p := s.find(Start(t, s.spec.Size))
	if p == nil {
		return false
	}
	c := s.cell(p, series)
	if c == nil {
		return false
	}
	_, seen := c.seen.find(t, v)
	return seen
}

// cell is the window of series in p, nil if there is none.
func (s *Set) cell(p *pane, series reading.Series) *cell {
	if s.last.pane != p || s.last.series != series {
		s.last = found{p, series, p.cells[series]}
	}
	return s.last.cell
}

// Fold takes an accepted reading into its window under watermark w, remembers it as part of a journal record, and, when
// the window is final already, appends its point to out.
func (s *Set) Fold(series reading.Series, t int64, v float64, w int64, record uint64, out []Output) []Output {
	p, c := s.remember(series, t, v, w, record)
	c.agg.Fold(t, v)
	c.dirty = true
	if p.stage == final {
		out = s.put(p, series, c, out)
	}
	return out
}

// Remember keeps a late reading for duplicates, unless w has passed its time already; it reports whether it did.
func (s *Set) Remember(series reading.Series, t int64, v float64, w int64, record uint64) bool {
	if s.Forgotten(t, w) {
		return false
	}
	s.remember(series, t, v, w, record)
	return true
}

// Forgotten reports whether a reading at t is no longer remembered under watermark w.
func (s *Set) Forgotten(t, w int64) bool { return sat(s.End(t), s.spec.Keep) <= w }

// Restore takes a journalled reading back in, at start, under the stored watermark w: in the order of the journal, and
// without putting anything out. A reading that is forgotten under w is passed over, which it reports.
func (s *Set) Restore(series reading.Series, t int64, v float64, windowed bool, w int64, record uint64) bool {
	if s.Forgotten(t, w) {
		return false
	}
	p, c := s.remember(series, t, v, w, record)
	if windowed && p.stage != remembered {
		c.agg.Fold(t, v)
		c.dirty = p.stage == open
		c.out = p.stage == final
	}
	return true
}

func (s *Set) remember(series reading.Series, t int64, v float64, w int64, record uint64) (*pane, *cell) {
	p := s.pane(Start(t, s.spec.Size), w)
	c := s.cell(p, series)
	if c == nil {
		c = s.newCell()
		p.cells[series] = c
		s.last.cell = c
	}
	c.seen.add(t, v)
	if n := len(p.refs); n > 0 && p.refs[n-1].Record == record {
		p.refs[n-1].N++
	} else {
		p.refs = append(p.refs, Ref{record, 1})
	}
	return p, c
}

// Advance moves the windows on to watermark w and appends the points of those that become final, by start and series.
func (s *Set) Advance(w int64, out []Output) []Output {
	if w < s.next {
		return out
	}
	kept := s.panes[:0]
	s.next = math.MaxInt64
	for _, p := range s.panes {
		end := p.start + s.spec.Size
		if p.stage == open && end <= w {
			p.stage = final
			out = s.putAll(p, false, out)
		}
		if p.stage == final && sat(end, s.spec.Allowed) <= w {
			p.stage = remembered
		}
		if p.stage == remembered && sat(end, s.spec.Keep) <= w {
			s.forget(p)
			continue
		}
		s.next = min(s.next, s.due(p))
		kept = append(kept, p)
	}
	clear(s.panes[len(kept):])
	s.panes = kept
	return out
}

// Changed appends the points of open windows that have changed since they were last put out, by start and series.
func (s *Set) Changed(out []Output) []Output {
	for _, p := range s.panes {
		if p.stage == open {
			out = s.putAll(p, true, out)
		}
	}
	return out
}

// Settle marks every open window as put out, as Changed does, without putting anything out: for restoring.
func (s *Set) Settle() {
	for _, p := range s.panes {
		for _, c := range p.cells {
			c.shown = c.shown || c.dirty && p.stage == open
			c.dirty = false
		}
	}
}

// putAll appends the points of p's windows that hold a reading: of all, or of those changed only.
func (s *Set) putAll(p *pane, changed bool, out []Output) []Output {
	s.sorted = s.sorted[:0]
	for series, c := range p.cells {
		if c.agg.Count > 0 && (!changed || c.dirty) {
			s.sorted = append(s.sorted, series)
		}
	}
	slices.SortFunc(s.sorted, func(a, b reading.Series) int { return strings.Compare(string(a), string(b)) })
	for _, series := range s.sorted {
		out = s.put(p, series, p.cells[series], out)
	}
	return out
}

func (s *Set) put(p *pane, series reading.Series, c *cell, out []Output) []Output {
	isFinal := p.stage == final
	c.shown = c.shown || !isFinal
	o := Output{Series: series, Start: p.start, End: p.start + s.spec.Size, Agg: c.agg,
		First: isFinal && !c.out, Final: isFinal, Shown: c.shown, Queued: &c.queued}
	c.dirty = false
	c.out = c.out || isFinal
	return append(out, o)
}
