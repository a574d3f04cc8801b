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
	uplinks             []*tap
	rejected            []Raw
	side                []SideReading
	numbers             []uint64 // of rejected
	nextRaw             uint64
	nextRecord, nextSeq uint64
	maxPoints           int
}

func newModel(maxPoints int) *model {
	return &model{
		journal: map[uint64][]Entry{}, packets: map[uint64][]Packet{}, marks: map[string]Mark{},
		late: map[reading.Series]LateCount{}, inputs: map[string]int64{}, uplinks: []*tap{newTap("uplink")}, nextRecord: 1, nextSeq: 1, nextRaw: 1, maxPoints: maxPoints,
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
		m.uplink(s.Uplink).settle(s)
	}
	m.sweep(b)
	for i := range b.Points {
		m.add(b, b.Points[i])
	}
	m.requeue(b)
	m.readmit(b.Readmitted)
	for _, r := range b.Rejected {
		m.rejected, m.numbers = append(m.rejected, r), append(m.numbers, m.nextRaw)
		m.nextRaw++
	}
	m.side = append(m.side, b.Side...)
	m.evict(b, func(p Point) bool { return p.Kind == LateReading })
	m.evict(b, func(Point) bool { return true })
}

func (m *model) compact(last uint64, keep func(uint64, Entry) bool) {
	var kept []Entry
	for _, n := range slices.Sorted(maps.Keys(m.journal)) {
		if n > last {
			continue
		}
		for _, e := range m.journal[n] {
			if keep(n, e) {
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

// compare wants the store to hold exactly what the model does.
func (m *model) compare(t *testing.T, s *Store) {
	t.Helper()
	snap := load(t, s)
	if snap.NextRecord != m.nextRecord || snap.NextSeq != m.nextSeq {
		t.Fatalf("next record %d, sequence %d; want %d, %d", snap.NextRecord, snap.NextSeq, m.nextRecord, m.nextSeq)
	}
	m.compareUplinks(t, s)
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
	same(t, "queue", peek(t, s, 0), m.outbox())
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
