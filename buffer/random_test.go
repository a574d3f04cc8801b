package buffer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"edgeagent/reading"
)

// batch makes a random batch that fits what the model holds.
func (m *model) batch(r *rand.Rand) *Batch {
	chance := func(percent int) bool { return r.IntN(100) < percent }
	b := &Batch{}
	for range r.IntN(40) * r.IntN(2) {
		b.Journal = append(b.Journal, Entry{Series: series(r), Time: r.Int64N(1e6) * 1e6, Value: float64(r.IntN(50)), Kind: EntryKind(r.IntN(2)), Tick: chance(10)})
	}
	for range r.IntN(10) * r.IntN(2) {
		b.Packets = append(b.Packets, Packet{uint16(r.Uint32()), r.Uint64()})
	}
	if chance(30) {
		b.Marks = append(b.Marks, Mark{fmt.Sprint("s", r.IntN(50)), r.Int64(), -r.Int64(), -r.Int64N(2) * r.Int64(), reading.NoTime + r.Int64N(2)})
		b.DropMarks = append(b.DropMarks, fmt.Sprint("s", r.IntN(50)))
		b.Late = append(b.Late, LateCount{series(r), r.Int64(), r.Int64(), 0, r.Int64(), r.Int64()})
		b.Inputs = append(b.Inputs, Input{fmt.Sprint("in", r.IntN(5)), r.Int64()})
	}
	if chance(50) {
		b.State = bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(3000))
	}
	if chance(10) {
		b.Held = bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(3000))
	}
	for i := range r.IntN(30) * r.IntN(2) {
		b.Points = append(b.Points, m.point(r, i))
	}
	for range r.IntN(60) * r.IntN(2) * r.IntN(2) {
		b.Side = append(b.Side, SideReading{series(r), r.Int64(), r.NormFloat64(), r.Int64() - r.Int64(), r.Int64()})
	}
	if chance(10) {
		b.Rejected = append(b.Rejected, Raw{Topic: "t", Payload: bytes.Repeat([]byte("x"), 1+r.IntN(2000)), Arrival: r.Int64(), Reason: "decode", Refused: []Refused{{reading.Decode, 1}}})
	}
	m.deliveries(r, b)
	b.RequeueAll = chance(5)
	if chance(10) {
		b.Requeue = append(b.Requeue, r.Uint64N(m.nextSeq)/2, m.nextSeq/2+r.Uint64N(m.nextSeq))
	}
	if chance(50) {
		b.RequeueFor = m.uplinks[r.IntN(len(m.uplinks))].name
	}
	if chance(10) && len(m.numbers) > 0 {
		b.Readmitted = append(b.Readmitted, Readmission{N: r.Uint64N(m.nextRaw + 3)}, Readmission{N: m.numbers[0],
			Keep: &Raw{Topic: "again", Payload: []byte("p"), Reason: "range", Refused: []Refused{{reading.Range, 2}}, Taken: []uint64{r.Uint64()}}})
	}
	b.ClearPackets = chance(3)
	if chance(10) {
		b.ForgetPackets = m.nextRecord - r.Uint64N(min(m.nextRecord, 20))
	}
	if chance(5) {
		b.ForgetJournal = r.Uint64N(m.nextRecord)
	}
	if chance(5) && m.nextRecord > 1 {
		b.CompactJournal = max(1+r.Uint64N(m.nextRecord-1), b.ForgetJournal)
		b.Keep = func(n uint64, e Entry) bool { return e.Kind != BareTick && (uint64(e.Value)+n)%3 == 0 }
	}
	return b
}

// deliveries are what uplinks settle, and what they have in flight.
func (m *model) deliveries(r *rand.Rand, b *Batch) {
	chance := func(percent int) bool { return r.IntN(100) < percent }
	for _, u := range m.uplinks {
		if len(u.queue) == 0 {
			continue
		}
		if chance(20) {
			b.Settle = append(b.Settle, u.settlement(r))
		}
		if chance(30) {
			f := InFlight{Uplink: u.name, All: chance(5)}
			for range r.IntN(3) {
				first := u.queue[r.IntN(len(u.queue))].Seq
				f.Spans = append(f.Spans, Span{first, first + r.Uint64N(20)})
			}
			b.InFlight = append(b.InFlight, f)
		}
	}
}

func (m *model) point(r *rand.Rand, i int) Point {
	p := Point{Kind: PointKind(r.IntN(int(NumPointKinds))), Line: line(r.IntN(1000)), End: r.Int64N(1000) * minute}
	if r.IntN(3) == 0 {
		p.Series, p.Start = series(r), r.Int64()
		p.Replaces = r.Uint64N(m.nextSeq + uint64(i) + 1)
	}
	return p
}

// settlement ends a prefix, or a stretch somewhere.
func (u *tap) settlement(r *rand.Rand) Settlement {
	n := r.IntN(len(u.queue))
	s := Settlement{Uplink: u.name, Through: u.queue[n].Seq}
	if r.IntN(2) == 0 {
		s.After = u.queue[r.IntN(n+1)].Seq - 1
	}
	for _, p := range u.queue[:n+1] {
		if p.Seq > s.After && r.IntN(20) == 0 {
			s.Parked = append(s.Parked, Parked{Seq: p.Seq, Reason: "refused", Time: r.Int64()})
		}
	}
	return s
}

// series is always of one sensor: then only one tick of a run stays when the journal is compacted.
func series(r *rand.Rand) reading.Series {
	return reading.MakeSeries("s", []reading.Tag{{Key: "room", Value: fmt.Sprint(r.IntN(5))}})
}

// Whatever is put, settled, refused, asked back, replaced and evicted, whatever uplinks come and go, and wherever it is stopped: the store
// is what the model is, and the books of every uplink are exact.
func TestRandomOperationsAgainstModel(t *testing.T) {
	for _, several := range []bool{false, true} {
		t.Run(fmt.Sprintf("several=%t", several), func(t *testing.T) {
			r := seed(t)
			o := options(t.TempDir())
			o.MaxPoints, o.RejectedRing = 60, 1<<20
			m := newModel(o.MaxPoints)
			s := open(t, o)
			for i := range 600 {
				b := m.batch(r)
				commit(t, s, b)
				m.commit(b)
				for j, got := range s.Books() {
					if got.Points != m.uplinks[j].counts {
						t.Fatalf("commit %d: uplink %+v, want %+v", i, got, m.uplinks[j].counts)
					}
				}
				if r.IntN(20) == 0 {
					closeChecked(t, s)
					if several {
						o.Uplinks = someNames(r)
						m.configure(o.Uplinks)
					}
					s = open(t, o)
					m.compare(t, s)
				}
			}
			m.compare(t, s)
		})
	}
}

// someNames are one to three names in any order.
func someNames(r *rand.Rand) []string {
	names := []string{"central", "mirror", "third", "uplink"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:1+r.IntN(3)]
}
