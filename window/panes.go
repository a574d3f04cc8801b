package window

import (
	"math"
	"sort"

	"edgeagent/reading"
)

// OpenEnd is the largest end of an open window; false if none is open.
func (s *Set) OpenEnd() (int64, bool) {
	for i := len(s.panes) - 1; i >= 0; i-- {
		if p := s.panes[i]; p.stage == open && p.holds() {
			return p.start + s.spec.Size, true
		}
	}
	return 0, false
}

// Open is the number of windows, over all series, that are not final yet.
func (s *Set) Open() int {
	n := 0
	s.EachOpen(func(reading.Series) { n++ })
	return n
}

// EachOpen calls fn with the series of every window that is not final yet, in no order. fn must not use the set.
func (s *Set) EachOpen(fn func(reading.Series)) {
	for _, p := range s.panes {
		if p.stage != open {
			continue
		}
		for series, c := range p.cells {
			if c.agg.Count > 0 {
				fn(series)
			}
		}
	}
}

// Empty reports whether the set holds nothing at all.
func (s *Set) Empty() bool { return len(s.panes) == 0 }

// Released hands over how many readings were forgotten of which journal records since the last call. The slice is valid
// until the set is used again.
func (s *Set) Released() []Ref {
	r := s.released
	s.released = s.released[:0]
	return r
}

// Merge makes every reference to a journal record up to through one to the record through: those records have been
// rewritten as that one.
func (s *Set) Merge(through uint64) {
	for _, p := range s.panes {
		i, merged := 0, Ref{Record: through}
		for ; i < len(p.refs) && p.refs[i].Record <= through; i++ {
			merged.N += p.refs[i].N
		}
		if i > 0 {
			p.refs = append([]Ref{merged}, p.refs[i:]...)
		}
	}
}

// SetQueued restores the outbox sequence of a window's newest point, if the window is still known.
func (s *Set) SetQueued(series reading.Series, start int64, seq uint64) {
	if p := s.find(start); p != nil && p.cells[series] != nil {
		p.cells[series].queued = seq
	}
}

// find is the pane that starts at start, nil if there is none. The newest panes are looked at first.
func (s *Set) find(start int64) *pane {
	i := s.search(start)
	if i < len(s.panes) && s.panes[i].start == start {
		return s.panes[i]
	}
	return nil
}

// search is the place of the first pane that starts at start or later.
func (s *Set) search(start int64) int {
	n := len(s.panes)
	for i := n - 1; i >= 0 && i >= n-4; i-- {
		if s.panes[i].start < start {
			return i + 1
		}
		if s.panes[i].start == start {
			return i
		}
	}
	return sort.Search(n, func(i int) bool { return s.panes[i].start >= start })
}

// pane finds or makes the pane at start, in the stage that w puts it in.
func (s *Set) pane(start, w int64) *pane {
	i := s.search(start)
	if i < len(s.panes) && s.panes[i].start == start {
		return s.panes[i]
	}
	p := &pane{start: start, cells: make(map[reading.Series]*cell)}
	end := start + s.spec.Size
	switch {
	case end > w:
		p.stage = open
	case sat(end, s.spec.Allowed) > w:
		p.stage = final
	default:
		p.stage = remembered
	}
	s.panes = append(s.panes, nil)
	copy(s.panes[i+1:], s.panes[i:])
	s.panes[i] = p
	s.next = min(s.next, s.due(p))
	return p
}

// due is the W at which p moves on.
func (s *Set) due(p *pane) int64 {
	end := p.start + s.spec.Size
	switch p.stage {
	case open:
		return end
	case final:
		return sat(end, s.spec.Allowed)
	}
	return sat(end, s.spec.Keep)
}

func (p *pane) holds() bool {
	for _, c := range p.cells {
		if c.agg.Count > 0 {
			return true
		}
	}
	return false
}

// Clear forgets every window, whatever it holds.
func (s *Set) Clear() {
	for _, p := range s.panes {
		s.forget(p)
	}
	clear(s.panes)
	s.panes, s.next = s.panes[:0], math.MaxInt64
}

// forget hands a pane's journal references to Released. Outputs may still point into its cells, so they are used again only
// from the next call on.
func (s *Set) forget(p *pane) {
	s.released = append(s.released, p.refs...)
	s.gone = append(s.gone, p)
	s.last = found{}
}

// recycle makes the cells of forgotten panes free for use.
func (s *Set) recycle() {
	for i, p := range s.gone {
		for _, c := range p.cells {
			*c = cell{seen: c.seen[:0]}
			s.free = append(s.free, c)
		}
		s.gone[i] = nil
	}
	s.gone = s.gone[:0]
}

func (s *Set) newCell() *cell {
	s.recycle()
	n := len(s.free)
	if n == 0 {
		return &cell{}
	}
	c := s.free[n-1]
	s.free[n-1] = nil
	s.free = s.free[:n-1]
	return c
}

// sat is a + b for b >= 0, held at the largest instant instead of wrapping.
func sat(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
