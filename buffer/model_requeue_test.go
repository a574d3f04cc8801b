package buffer

import (
	"cmp"
	"maps"
	"slices"
	"testing"
)

func (m *model) requeue(b *Batch) {
	seqs := slices.Clone(b.Requeue)
	for _, u := range m.uplinks {
		if b.RequeueAll {
			seqs = append(seqs, slices.Collect(maps.Keys(u.parked))...)
		}
	}
	slices.Sort(seqs)
	for _, seq := range slices.Compact(seqs) {
		m.requeueOne(b, seq)
	}
}

func (m *model) requeueOne(b *Batch, seq uint64) {
	var p Point
	back, busy := map[*tap]bool{}, false
	for _, u := range m.uplinks {
		busy = busy || m.inFlight(b, u, seq)
		if r, ok := u.refused[seq]; ok && (b.RequeueFor == "" || m.uplink(b.RequeueFor) == u) {
			p, back[u] = r, true
		}
	}
	if len(back) == 0 || p.Series != "" && busy {
		return
	}
	for _, u := range m.uplinks {
		q, r, ok := Point{}, Parked{}, false
		if back[u] {
			u.unpark(seq)
		} else if p.Series != "" {
			if q, r, ok = u.unpark(seq); ok {
				q.Seq, r.Seq = m.nextSeq, m.nextSeq
				u.park(r, q)
			}
		}
		if i := u.has(seq); i >= 0 && p.Series != "" {
			u.take(i)
			back[u] = true
		}
	}
	p.Seq, p.Replaces = m.nextSeq, 0
	m.nextSeq++
	for u := range back {
		u.put(p)
	}
}

// compareUplinks wants each uplink to have the queue, the refused points and the books that it would have alone.
func (m *model) compareUplinks(t *testing.T, s *Store) {
	t.Helper()
	var parked []Parked
	for i, b := range s.Books() {
		u := m.uplinks[i]
		if b.Name != u.name || b.Points != u.counts || !b.Points.Balanced() {
			t.Fatalf("uplink %d is %+v, want %s %+v", i, b, u.name, u.counts)
		}
		points, err := s.PeekFor(b.Name, 0, 1<<63, 1<<20, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(slices.Clone(u.queue), func(p Point) bool { return u.overtaken[p.Seq] })
		same(t, "queue of "+u.name, points, want)
		newest, ok, err := s.Newest(b.Name)
		if n := len(want); err != nil || ok != (n > 0) || ok && newest.Seq != want[n-1].Seq {
			t.Fatalf("newest of %s is %d, %t, %v", u.name, newest.Seq, ok, err)
		}
		for _, p := range u.parked {
			if len(m.uplinks) > 1 {
				p.Uplink = u.name
			}
			parked = append(parked, p)
		}
	}
	got, err := s.ParkedPoints(0)
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b Parked) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Uplink, b.Uplink)) }
	for i := range got {
		got[i].id = 0
	}
	slices.SortFunc(got, order)
	slices.SortFunc(parked, order)
	same(t, "parked", got, parked)
}
