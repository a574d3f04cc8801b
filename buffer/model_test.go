package buffer

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"
	"testing"

	"edgeagent/reading"
)

// A model is the store as plain memory, written from the words of the contract.
type model struct {
	journal             map[uint64][]Entry
	packets             map[uint64][]Packet
	marks               map[string]Mark
	late                map[reading.Series]LateCount
	state, held         []byte
	inputs              map[string]int64
	queue               []Point
	refused             map[uint64]Point // parked points as they were
	parked              []Parked
	rejected            []Raw
	side                []SideReading
	numbers             []uint64 // of rejected
	nextRaw             uint64
	counts              PointCounts
	nextRecord, nextSeq uint64
	maxPoints           int
}

func newModel(maxPoints int) *model {
	return &model{
		journal: map[uint64][]Entry{}, packets: map[uint64][]Packet{}, marks: map[string]Mark{},
		late: map[reading.Series]LateCount{}, inputs: map[string]int64{}, refused: map[uint64]Point{}, nextRecord: 1, nextSeq: 1, nextRaw: 1, maxPoints: maxPoints,
	}
}

func (m *model) commit(b *Batch) {
	maps.DeleteFunc(m.packets, func(n uint64, _ []Packet) bool { return b.ClearPackets || n <= b.ForgetPackets })
	maps.DeleteFunc(m.journal, func(n uint64, _ []Entry) bool { return n <= b.ForgetJournal })
	if b.CompactJournal > 0 {
		m.compact(b.CompactJournal, b.Keep)
	}
	if len(b.Journal) > 0 {
		m.journal[m.nextRecord] = b.Journal
	}
	if len(b.Packets) > 0 {
		m.packets[m.nextRecord] = b.Packets
	}
	m.nextRecord++
	for _, s := range b.DropMarks {
		delete(m.marks, s)
	}
	for _, v := range b.Marks {
		m.marks[v.Sensor] = v
	}
	for _, v := range b.Late {
		m.late[v.Series] = v
	}
	for _, v := range b.Inputs {
		m.inputs[v.Key] = v.Lines
	}
	if b.State != nil {
		m.state = b.State
	}
	if b.Held != nil {
		m.held = b.Held
	}
	for _, s := range b.Settle {
		m.settle(s)
	}
	for i := range b.Points {
		m.add(b.Points[i], b.Protect)
	}
	m.requeue(b)
	m.readmit(b.Readmitted)
	for _, r := range b.Rejected {
		m.rejected, m.numbers = append(m.rejected, r), append(m.numbers, m.nextRaw)
		m.nextRaw++
	}
	m.side = append(m.side, b.Side...)
	m.evict(func(p Point) bool { return p.Seq > b.Protect && p.Kind == LateReading })
	m.evict(func(p Point) bool { return p.Seq > b.Protect })
}

// evict lets the oldest points that may go make room.
func (m *model) evict(may func(Point) bool) {
	for i := 0; len(m.queue) > m.maxPoints && i < len(m.queue); {
		if !may(m.queue[i]) {
			i++
			continue
		}
		m.queue = slices.Delete(m.queue, i, i+1)
		m.counts.Queued--
		m.counts.Evicted++
	}
}

func (m *model) compact(last uint64, keep func(Entry) bool) {
	var kept []Entry
	for _, n := range slices.Sorted(maps.Keys(m.journal)) {
		if n > last {
			continue
		}
		for _, e := range m.journal[n] {
			if keep(e) {
				kept = append(kept, e)
			} else if e.Tick && (len(kept) == 0 || !kept[len(kept)-1].Tick) {
				kept = append(kept, Entry{Series: "s", Time: e.Time, Kind: BareTick, Tick: true})
			}
		}
		delete(m.journal, n)
	}
	if len(kept) > 0 {
		m.journal[last] = kept
	}
}

func (m *model) settle(s Settlement) {
	refused := map[uint64]Parked{}
	for _, p := range s.Parked {
		refused[p.Seq] = p
	}
	var left []Point
	for _, p := range m.queue {
		if p.Seq > s.Through {
			left = append(left, p)
			continue
		}
		m.counts.Queued--
		updated := p.Series != "" && slices.ContainsFunc(m.queue, func(q Point) bool { return q.Replaces == p.Seq })
		if r, ok := refused[p.Seq]; ok && updated {
			m.counts.Superseded++
		} else if ok {
			m.park(Parked{p.Seq, r.Reason, r.Time, p.Line}, p)
		} else {
			m.counts.Uploaded++
		}
	}
	m.queue = left
}

func (m *model) add(p Point, protect uint64) {
	p.Seq = m.nextSeq
	m.nextSeq++
	switch p.Kind {
	case Finalized:
		m.counts.Finalized++
	case Updated:
		m.counts.Updated++
	case LateReport:
		m.counts.LateReports++
	case LateReading:
		m.counts.LateReadings++
	case Health:
		m.counts.Health++
	case Carried:
		m.counts.Carried++
	}
	if m.unpark(p.Replaces) {
		m.counts.Superseded++
	}
	n := len(m.queue)
	m.queue = slices.DeleteFunc(m.queue, func(q Point) bool { return q.Seq == p.Replaces && q.Seq > protect })
	m.counts.Superseded += int64(n - len(m.queue))
	m.counts.Queued += 1 - int64(n-len(m.queue))
	m.queue = append(m.queue, p)
}

// compare wants the store to hold exactly what the model does.
func (m *model) compare(t *testing.T, s *Store) {
	t.Helper()
	snap := load(t, s)
	if snap.NextRecord != m.nextRecord || snap.NextSeq != m.nextSeq || snap.Counts != m.counts {
		t.Fatalf("next record %d, sequence %d, counts %+v; want %d, %d, %+v",
			snap.NextRecord, snap.NextSeq, snap.Counts, m.nextRecord, m.nextSeq, m.counts)
	}
	if !bytes.Equal(snap.State, m.state) || !bytes.Equal(snap.Held, m.held) {
		t.Fatalf("state %q, held %q; want %q, %q", snap.State, snap.Held, m.state, m.held)
	}
	packets := map[uint64][]Packet{}
	for _, r := range snap.Packets {
		packets[r.Record] = r.Packets
	}
	same(t, "packets", packets, m.packets)
	same(t, "marks", snap.Marks, sorted(m.marks))
	same(t, "late", snap.Late, sorted(m.late))
	same(t, "journal", journal(t, s), m.journal)
	same(t, "queue", peek(t, s, 0), m.queue)
	parked, err := s.ParkedPoints(0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "parked", parked, m.parked)
	var rejected []Raw
	if err := s.Rejected(func(r Raw) error { rejected = append(rejected, r); return nil }); err != nil {
		t.Fatal(err)
	}
	same(t, "rejected", rejected, m.rejected)
	if got := sideOutput(t, s); !slices.Equal(got, m.side) {
		t.Fatalf("%d late readings in the side output, want %d, all as they were put there", len(got), len(m.side))
	}
	same(t, "queued late readings", []int64{s.cur.Load().Bytes[inLateOut]}, []int64{m.lateBytes()})
	for key, want := range m.inputs {
		if got, err := s.Input(key); got != want || err != nil {
			t.Fatalf("input %q = %d, %v; want %d", key, got, err, want)
		}
	}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	var list []V
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[k])
	}
	return list
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if reflect.ValueOf(got).Len() == 0 && reflect.ValueOf(want).Len() == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s = %+v\nwant %+v", what, got, want)
	}
}
