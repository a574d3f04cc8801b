package buffer

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestOutboxSteps(t *testing.T) {
	type step struct {
		name  string
		b     Batch
		queue []uint64
		want  PointCounts
	}
	two := func(k PointKind) []Point { return []Point{{Kind: k, Line: line(1)}, {Kind: k, Line: line(2)}} }
	steps := []step{
		{"queue", Batch{Points: two(Finalized)}, []uint64{1, 2}, PointCounts{Finalized: 2, Queued: 2}},
		{"settle one", Batch{Settle: []Settlement{{Through: 1}}}, []uint64{2}, PointCounts{Finalized: 2, Queued: 1, Uploaded: 1}},
		{"settle it again", Batch{Settle: []Settlement{{Through: 1}}}, []uint64{2}, PointCounts{Finalized: 2, Queued: 1, Uploaded: 1}},
		{"settle before queueing", Batch{Points: two(Updated), Settle: []Settlement{{Through: 99}}}, []uint64{3, 4},
			PointCounts{Finalized: 2, Updated: 2, Queued: 2, Uploaded: 2}},
		{"park", Batch{Settle: []Settlement{{Through: 4, Parked: []Parked{{Seq: 1}, {Seq: 4, Reason: "no", Time: 9}, {Seq: 7}}}}}, []uint64{},
			PointCounts{Finalized: 2, Updated: 2, Uploaded: 3, Parked: 1}},
		{"update", Batch{Points: []Point{{Kind: Updated, Line: line(5), Series: "a", Start: 1}}}, []uint64{5},
			PointCounts{Finalized: 2, Updated: 3, Queued: 1, Uploaded: 3, Parked: 1}},
		{"supersede", Batch{Points: []Point{{Kind: Finalized, Line: line(6), Replaces: 5}}}, []uint64{6},
			PointCounts{Finalized: 3, Updated: 3, Queued: 1, Uploaded: 3, Parked: 1, Superseded: 1}},
		{"supersede in flight", Batch{InFlight: upTo(6), Points: []Point{{Kind: Health, Line: line(7), Replaces: 6}}}, []uint64{6, 7},
			PointCounts{Finalized: 3, Updated: 3, Health: 1, Queued: 2, Uploaded: 3, Parked: 1, Superseded: 1}},
		{"supersede what is gone, and in the same batch", Batch{InFlight: upTo(6), Points: []Point{{Kind: Updated, Line: line(8), Replaces: 3}, {Kind: Updated, Line: line(9), Replaces: 8}}},
			[]uint64{6, 7, 9}, PointCounts{Finalized: 3, Updated: 5, Health: 1, Queued: 3, Uploaded: 3, Parked: 1, Superseded: 2}},
		{"refused by the encoder", Batch{InFlight: upTo(6), Points: []Point{{Kind: LateReading, Refused: "bad tag", Replaces: 9}, {Kind: LateReport, Line: line(11)}}},
			[]uint64{6, 7, 9, 11}, PointCounts{Finalized: 3, Updated: 5, Health: 1, LateReadings: 1, LateReports: 1, Queued: 4, Uploaded: 3, Parked: 2, Superseded: 2}},
		{"two settlements", Batch{Settle: []Settlement{{Through: 6}, {Through: 8, Parked: []Parked{{Seq: 7, Reason: "old"}}}}}, []uint64{9, 11},
			PointCounts{Finalized: 3, Updated: 5, Health: 1, LateReadings: 1, LateReports: 1, Queued: 2, Uploaded: 4, Parked: 3, Superseded: 2}},
	}
	s := open(t, options(t.TempDir()))
	for _, st := range steps {
		commit(t, s, &st.b)
		if got := seqs(peek(t, s, 0)); !slices.Equal(got, st.queue) {
			t.Errorf("%s: queued %v, want %v", st.name, got, st.queue)
		}
		if got := s.Counts(); got != st.want {
			t.Errorf("%s: counts %+v, want %+v", st.name, got, st.want)
		}
	}
	got, err := s.ParkedPoints(0)
	want := []Parked{{Seq: 4, Reason: "no", Time: 9, Line: line(2)}, {Seq: 7, Reason: "old", Line: line(7)},
		{Seq: 10, Reason: "bad tag", Time: day.UnixNano()}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parked = %+v, %v; want %+v", got, err, want)
	}
	if got, _ := s.ParkedPoints(1); len(got) != 1 {
		t.Errorf("ParkedPoints(1) lists %d", len(got))
	}
}

func TestMaxPointsEvictsOldestNotInFlight(t *testing.T) {
	o := options(t.TempDir())
	o.MaxPoints = 4
	s := open(t, o)
	for i, step := range []struct {
		add     int
		protect uint64
		want    []uint64
	}{
		{4, 0, []uint64{1, 2, 3, 4}},
		{1, 0, []uint64{2, 3, 4, 5}},
		{2, 3, []uint64{2, 3, 6, 7}},
		{1, 99, []uint64{2, 3, 6, 7, 8}},
		{0, 0, []uint64{3, 6, 7, 8}},
		{6, 0, []uint64{11, 12, 13, 14}},
	} {
		b := Batch{InFlight: upTo(step.protect)}
		for j := range step.add {
			b.Points = append(b.Points, point(j))
		}
		commit(t, s, &b)
		if got := seqs(peek(t, s, 0)); !slices.Equal(got, step.want) {
			t.Errorf("step %d: queued %v, want %v", i, got, step.want)
		}
	}
	if c := s.Counts(); c.Evicted != 10 || c.Queued != 4 {
		t.Errorf("counts %+v, want 10 evicted", c)
	}
}

func TestPeekLimits(t *testing.T) {
	s := open(t, options(t.TempDir()))
	var b Batch
	for range 5 {
		b.Points = append(b.Points, Point{Line: []byte("0123456789")})
	}
	commit(t, s, &b)
	for _, c := range []struct {
		after            uint64
		points, maxBytes int
		want             []uint64
	}{
		{0, 10, 1000, []uint64{1, 2, 3, 4, 5}},
		{0, 2, 1000, []uint64{1, 2}},
		{0, 10, 25, []uint64{1, 2}},
		{0, 10, 1, []uint64{1}},
		{0, 0, 0, []uint64{1}},
		{3, 10, 1000, []uint64{4, 5}},
		{5, 10, 1000, []uint64{}},
		{1 << 60, 10, 1000, []uint64{}},
	} {
		points, err := s.Peek(c.after, c.points, c.maxBytes)
		if got := seqs(points); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Peek(%d, %d, %d) = %v, %v; want %v", c.after, c.points, c.maxBytes, got, err, c.want)
		}
	}
	if p, ok, err := s.Newest(""); p.Seq != 5 || !ok || err != nil {
		t.Errorf("Newest = %d, %t, %v", p.Seq, ok, err)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: 5}}})
	if _, ok, err := s.Newest(""); ok || err != nil {
		t.Errorf("Newest of an empty outbox = %t, %v", ok, err)
	}
}

func TestQueuedGivesUpdatablePoints(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Points: []Point{{Line: line(1)}, {Line: line(2), Series: "a", Start: 5}, {Line: line(3), Series: "b"}}})
	var got []uint64
	err := s.Queued(func(p Point) error { got = append(got, p.Seq); return nil })
	if err != nil || !slices.Equal(got, []uint64{2, 3}) {
		t.Errorf("Queued = %v, %v", got, err)
	}
	stop := errors.New("stop")
	if err := s.Queued(func(Point) error { return stop }); err != stop {
		t.Errorf("Queued = %v, want the callback's error", err)
	}
}

func TestRings(t *testing.T) {
	o := options(t.TempDir())
	o.RejectedRing = 64 << 10
	s := open(t, o)
	reason := strings.Repeat("r", 600)
	for i := range 400 {
		b := Batch{Points: []Point{{Line: []byte(strings.Repeat("l", 20000))}}}
		b.Rejected = []Raw{{Topic: "t", Payload: make([]byte, 1000), Arrival: int64(i), Reason: reason}}
		commit(t, s, &b)
		seq := b.Points[0].Seq
		commit(t, s, &Batch{Settle: []Settlement{{Through: seq, Parked: []Parked{{Seq: seq, Reason: reason}}}}})
	}
	st := s.Stats()
	if st.ParkedBytes > 1<<20 || st.ParkedBytes < 1<<20-30000 || st.RejectedBytes > 64<<10 || st.RejectedBytes < 60<<10 {
		t.Errorf("parked %d, rejected %d bytes: want both rings full and no more", st.ParkedBytes, st.RejectedBytes)
	}
	c := s.Counts()
	if c.Parked+c.Evicted != 400 || c.Parked < 30 || c.Parked > 40 {
		t.Errorf("counts %+v: want 400 parked or dropped from the ring as evicted", c)
	}
	parked, _ := s.ParkedPoints(0)
	if len(parked) != int(c.Parked) || parked[len(parked)-1].Seq != 400 || len(parked[0].Reason) != 512 {
		t.Errorf("%d parked, want the newest %d, reasons cut to 512 bytes", len(parked), c.Parked)
	}
	last, n := int64(0), int64(0)
	err := s.Rejected(func(r Raw) error { last, n = r.Arrival, n+1; return nil })
	if err != nil || last != 399 || n != st.Rejected {
		t.Errorf("rejected: %d messages, the last came at %d (%v); want %d, 399", n, last, err, st.Rejected)
	}
}
