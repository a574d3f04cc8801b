package buffer

import (
	"maps"
	"slices"
)

// A tap is one uplink of the model: a queue, a ring of refused points and books of its own, as if it were alone.
type tap struct {
	name      string
	queue     []Point // ascending by Seq
	overtaken map[uint64]bool
	parked    map[uint64]Parked
	refused   map[uint64]Point // parked points as they were
	counts    PointCounts
}

func newTap(name string) *tap {
	return &tap{name: name, overtaken: map[uint64]bool{}, parked: map[uint64]Parked{}, refused: map[uint64]Point{}}
}

func (m *model) uplink(name string) *tap {
	for i, u := range m.uplinks {
		if u.name == name || name == "" && i == 0 {
			return u
		}
	}
	panic("no uplink " + name)
}

// has gives the place of a point in the queue, -1 if it does not wait.
func (u *tap) has(seq uint64) int {
	return slices.IndexFunc(u.queue, func(p Point) bool { return p.Seq == seq })
}

// take takes a point out of the queue.
func (u *tap) take(i int) Point {
	p := u.queue[i]
	u.queue = slices.Delete(u.queue, i, i+1)
	delete(u.overtaken, p.Seq)
	u.counts.Queued--
	return p
}

func (u *tap) put(p Point) {
	u.queue = append(u.queue, p)
	u.counts.Queued++
}

// unpark takes a point out of the ring, if it is there.
func (u *tap) unpark(seq uint64) (Point, Parked, bool) {
	r, ok := u.parked[seq]
	p := u.refused[seq]
	delete(u.parked, seq)
	delete(u.refused, seq)
	if ok {
		u.counts.Parked--
	}
	return p, r, ok
}

func (u *tap) park(r Parked, p Point) {
	r.Line = p.Line
	u.counts.Parked++
	u.parked[r.Seq], u.refused[r.Seq] = r, p
}

func (u *tap) settle(s Settlement) {
	refused := map[uint64]Parked{}
	for _, p := range s.Parked {
		refused[p.Seq] = p
	}
	for i := 0; i < len(u.queue); {
		p := u.queue[i]
		if p.Seq <= s.After || p.Seq > s.Through {
			i++
			continue
		}
		over := u.overtaken[p.Seq]
		u.take(i)
		if r, ok := refused[p.Seq]; ok && over {
			u.counts.Superseded++
		} else if ok {
			u.park(r, p)
		} else {
			u.counts.Uploaded++
		}
	}
}

// inFlight reports whether a point is on its way to an uplink.
func (m *model) inFlight(b *Batch, u *tap, seq uint64) bool {
	for _, f := range b.InFlight {
		if m.uplink(f.Uplink) != u || u.has(seq) < 0 {
			continue
		}
		if f.All || slices.ContainsFunc(f.Spans, func(s Span) bool { return s.First <= seq && seq <= s.Last }) {
			return true
		}
	}
	return false
}

func (m *model) sweep(b *Batch) {
	for _, u := range m.uplinks {
		for seq := range maps.Clone(u.overtaken) {
			if !m.inFlight(b, u, seq) {
				u.take(u.has(seq))
				u.counts.Superseded++
			}
		}
	}
}

func (m *model) add(b *Batch, p Point) {
	p.Seq = m.nextSeq
	m.nextSeq++
	for _, u := range m.uplinks {
		*u.counts.column(p.Kind)++
		if _, _, ok := u.unpark(p.Replaces); ok {
			u.counts.Superseded++
		}
		if i := u.has(p.Replaces); i >= 0 && m.inFlight(b, u, p.Replaces) {
			u.overtaken[p.Replaces] = true
		} else if i >= 0 {
			u.take(i)
			u.counts.Superseded++
		}
		u.put(p)
	}
}

// column is where a point of a kind is counted when it comes to be.
func (c *PointCounts) column(k PointKind) *int64 {
	switch k {
	case Finalized:
		return &c.Finalized
	case Updated:
		return &c.Updated
	case LateReport:
		return &c.LateReports
	case LateReading:
		return &c.LateReadings
	case Health:
		return &c.Health
	}
	return &c.Carried
}

// outbox is what waits for anyone, oldest first.
func (m *model) outbox() []Point {
	all := map[uint64]Point{}
	for _, u := range m.uplinks {
		for _, p := range u.queue {
			all[p.Seq] = p
		}
	}
	return sorted(all)
}

// evict lets the oldest points that may go make room.
func (m *model) evict(b *Batch, may func(Point) bool) {
	all := m.outbox()
	left := len(all)
	for _, p := range all {
		free := true
		for _, u := range m.uplinks {
			free = free && !m.inFlight(b, u, p.Seq)
		}
		if left <= m.maxPoints || !free || !may(p) {
			continue
		}
		left--
		for _, u := range m.uplinks {
			if i := u.has(p.Seq); i >= 0 {
				u.take(i)
				u.counts.Evicted++
			}
		}
	}
}

// configure is what a start with other uplinks makes of it.
func (m *model) configure(names []string) {
	kept := func(u *tap) bool { return slices.Contains(names, u.name) }
	if !slices.ContainsFunc(m.uplinks, kept) {
		m.uplinks[0].name = names[0]
	}
	all := m.outbox()
	var list []*tap
	for _, name := range names {
		i := slices.IndexFunc(m.uplinks, func(u *tap) bool { return u.name == name })
		if i >= 0 {
			list = append(list, m.uplinks[i])
			continue
		}
		u := newTap(name)
		for _, p := range all {
			*u.counts.column(p.Kind)++
			u.put(p)
		}
		list = append(list, u)
	}
	m.uplinks = list
}
