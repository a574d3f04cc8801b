package buffer

import (
	"slices"
	"testing"

	"edgeagent/reading"
)

func (m *model) readmit(list []Readmission) {
	for _, r := range list {
		i := slices.Index(m.numbers, r.N)
		switch {
		case i < 0:
		case r.Keep != nil:
			m.rejected[i] = *r.Keep
		default:
			m.rejected, m.numbers = slices.Delete(m.rejected, i, i+1), slices.Delete(m.numbers, i, i+1)
		}
	}
}

// updates are the versions 1 and 2 of one window, the second in place of the first.
func updates() (first, second Point) {
	first = Point{Line: []byte("t,sensor=s max=1,count=1i 5"), End: minute, Series: "s", Start: 5}
	second = Point{Kind: Updated, Line: []byte("t,sensor=s max=2,count=2i 5"), End: minute, Series: "s", Start: 5, Replaces: 1}
	return first, second
}

func parkFirst() Settlement { return Settlement{Through: 1, Parked: []Parked{{Seq: 1, Reason: "no"}}} }

// A parked point must never come back after its own update: it would overwrite it at the server.
func TestParkedPointIsSupersededByItsUpdate(t *testing.T) {
	first, second := updates()
	cases := map[string][]*Batch{
		"update after the refusal":    {{Points: []Point{first}}, {Settle: []Settlement{parkFirst()}}, {Points: []Point{second}}},
		"update while in flight":      {{Points: []Point{first}}, {Points: []Point{second}, InFlight: upTo(1)}, {Settle: []Settlement{parkFirst()}, InFlight: upTo(1)}},
		"refusal and update together": {{Points: []Point{first}}, {Settle: []Settlement{parkFirst()}, Points: []Point{second}, InFlight: upTo(1)}},
	}
	for name, batches := range cases {
		t.Run(name, func(t *testing.T) {
			s := open(t, options(t.TempDir()))
			for _, b := range batches {
				commit(t, s, b)
			}
			b := &Batch{RequeueAll: true}
			commit(t, s, b)
			got := peek(t, s, 0)
			if len(got) != 1 || string(got[0].Line) != string(second.Line) || b.Requeued.Points != 0 {
				t.Errorf("queued %+v, requeued %+v; want the update alone", got, b.Requeued)
			}
			if c := s.Counts(); c.Superseded != 1 || c.Parked != 0 {
				t.Errorf("counts %+v; want one superseded, none parked", c)
			}
		})
	}
}

func TestRequeue(t *testing.T) {
	setUp := func(t *testing.T) *Store {
		s := open(t, options(t.TempDir()))
		window, _ := updates()
		commit(t, s, &Batch{Points: []Point{window, point(2), point(3), {Kind: Health, Refused: "no line"}}})
		commit(t, s, &Batch{Settle: []Settlement{{Through: 3, Parked: []Parked{{Seq: 1, Reason: "a", Time: 7}, {Seq: 3, Reason: "b"}}}}})
		return s
	}
	cases := []struct {
		name           string
		batch          Batch
		want           Requeued
		lines          []string // queued after it
		parked, queued int64
	}{
		{"none", Batch{}, Requeued{}, nil, 3, 0},
		{"one", Batch{Requeue: []uint64{3}}, Requeued{Points: 1}, []string{string(line(3))}, 2, 1},
		{"all", Batch{RequeueAll: true}, Requeued{Points: 2, NoLine: 1, Moved: []Point{{Seq: 5, End: minute, Series: "s", Start: 5}}},
			[]string{"t,sensor=s max=1,count=1i 5", string(line(3))}, 1, 2},
		{"what is not parked", Batch{Requeue: []uint64{2, 99}}, Requeued{Missing: []uint64{2, 99}}, nil, 3, 0},
		{"behind new points", Batch{Requeue: []uint64{3}, Points: []Point{point(9)}}, Requeued{Points: 1}, []string{string(line(9)), string(line(3))}, 2, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := setUp(t)
			commit(t, s, &c.batch)
			same(t, "missing", c.batch.Requeued.Missing, c.want.Missing)
			same(t, "moved", c.batch.Requeued.Moved, c.want.Moved)
			if c.batch.Requeued.Points != c.want.Points || c.batch.Requeued.NoLine != c.want.NoLine {
				t.Errorf("requeued %+v, want %+v", c.batch.Requeued, c.want)
			}
			var lines []string
			for _, p := range peek(t, s, 4) {
				lines = append(lines, string(p.Line))
			}
			same(t, "lines", lines, c.lines)
			if n := s.Counts(); n.Parked != c.parked || n.Queued != c.queued {
				t.Errorf("counts %+v, want %d parked and %d queued", n, c.parked, c.queued)
			}
		})
	}
}

// After a start the agent knows the number of a parked point that may be updated, so that an update ends it.
func TestQueuedTellsOfParkedUpdates(t *testing.T) {
	s := open(t, options(t.TempDir()))
	first, second := updates()
	other := first
	other.Start, second.Replaces, second.Start = 9, 0, 10
	commit(t, s, &Batch{Points: []Point{first, other, second}})
	commit(t, s, &Batch{Settle: []Settlement{parkFirst()}})
	var got []uint64
	if err := s.Queued(func(p Point) error { got = append(got, p.Seq); return nil }); err != nil {
		t.Fatal(err)
	}
	same(t, "numbers", got, []uint64{1, 2, 3})
}

func TestParkedAndRejectedByPages(t *testing.T) {
	o := options(t.TempDir())
	o.RejectedRing = 1 << 20
	s := open(t, o)
	var b Batch
	var settle Settlement
	for i := range 10 {
		b.Points = append(b.Points, point(i))
		b.Rejected = append(b.Rejected, Raw{Topic: "t", Payload: make([]byte, 1000), Arrival: int64(i)})
		settle.Parked = append(settle.Parked, Parked{Seq: uint64(i + 1), Reason: "r"})
	}
	settle.Through = 10
	commit(t, s, &b)
	commit(t, s, &Batch{Settle: []Settlement{settle}})
	list, err := s.ParkedAfter(&Parked{Seq: 4}, 3)
	if err != nil || len(list) != 3 || list[0].Seq != 5 {
		t.Errorf("parked after 4: %+v, %v; want 5, 6, 7", list, err)
	}
	list, err = s.NewestParked(3)
	if err != nil || len(list) != 3 || list[0].Seq != 10 || list[2].Seq != 8 {
		t.Errorf("parked last: %+v, %v; want 10, 9, 8", list, err)
	}
	if list, err = s.NewestParked(100); err != nil || len(list) != 10 || list[9].Seq != 1 {
		t.Errorf("parked last: %+v, %v; want all ten", list, err)
	}
	cases := []struct {
		after       uint64
		most, bytes int
		want        []uint64
	}{
		{0, 3, 1 << 20, []uint64{1, 2, 3}},
		{3, 100, 2500, []uint64{4, 5}},
		{8, 100, 1, []uint64{9}},
		{10, 100, 1, nil},
	}
	for _, c := range cases {
		_, numbers, err := s.RejectedAfter(c.after, c.most, c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "numbers", numbers, c.want)
	}
	if n, err := s.LastRejected(); n != 10 || err != nil {
		t.Errorf("last rejected %d, %v; want 10", n, err)
	}
}

// A message kept by an older version says only its first reason.
func TestOldRejectedMessage(t *testing.T) {
	old := append([]byte{1, 14}, "\x01t\x08no_valuepayload"...)
	r, err := decodeRaw(old)
	if err != nil || !r.Retained || r.Arrival != 7 || r.Topic != "t" || r.Reason != "no_value" || string(r.Payload) != "payload" {
		t.Fatalf("%+v, %v", r, err)
	}
	same(t, "refused", r.Refused, []Refused{{reading.NoValue, 1}})
}

// A message that comes from another store is in nobody's ledger here.
func TestUncounted(t *testing.T) {
	raw := Raw{Topic: "t", Payload: []byte("p"), Arrival: 3, Retained: true, Reason: "range", Refused: []Refused{{reading.Range, 2}}, Taken: []uint64{7}}
	got, err := decodeRaw(uncounted(appendRaw(nil, &raw)))
	if err != nil || got.Refused != nil || got.Topic != "t" || string(got.Payload) != "p" || !got.Retained || got.Taken[0] != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}
