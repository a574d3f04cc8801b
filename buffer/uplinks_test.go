package buffer

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// seqsFor are the numbers of what waits for an uplink.
func seqsFor(t *testing.T, s *Store, name string) []uint64 {
	t.Helper()
	points, err := s.PeekFor(name, 0, 1<<63, 1<<20, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return seqs(points)
}

// twoUplinks are the options of a store with two uplinks, a and b.
func twoUplinks(t *testing.T) Options {
	o := options(t.TempDir())
	o.Uplinks = []string{"a", "b"}
	return o
}

// What cannot be read of an uplink's record is not known to be done: it is sent again and counted as carried.
func TestDamagedUplinkRecord(t *testing.T) {
	for i, name := range []string{"a", "b"} {
		o := twoUplinks(t)
		logger, text := logged()
		o.Logger = logger
		s := open(t, o)
		commit(t, s, &Batch{Points: []Point{point(1), point(2), point(3), point(4)}})
		commit(t, s, &Batch{Settle: []Settlement{{Uplink: name, Through: 3, Parked: []Parked{{Seq: 2, Reason: "no"}}}}})
		corrupt(t, s, bucketUplinks, []byte(name))
		if got := seqsFor(t, s, name); !slices.Equal(got, []uint64{4}) {
			t.Errorf("%s while it runs: %v, what is known in memory holds", name, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, o)
		want := PointCounts{Carried: 5, Queued: 4, Parked: 1}
		if i == 0 {
			want = PointCounts{Finalized: 4, Carried: 3, Uploaded: 2, Queued: 4, Parked: 1}
		}
		if got := s.Books()[i]; got.Name != name || got.Points != want {
			t.Errorf("%+v, want %s %+v", got, name, want)
		}
		if got := seqsFor(t, s, name); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
			t.Errorf("%v wait for %s again, want all", got, name)
		}
		if other := s.Books()[1-i].Points; other != (PointCounts{Finalized: 4, Queued: 4}) {
			t.Errorf("the other has %+v", other)
		}
		if !strings.Contains(text.String(), "uplink="+name) {
			t.Errorf("log:\n%s", text)
		}
		commit(t, s, &Batch{State: []byte("x")})
	}
}

// An update of a point that one uplink has taken, another has in flight, and a third has not seen.
func TestUpdateWithSeveralUplinks(t *testing.T) {
	o := options(t.TempDir())
	o.Uplinks = []string{"took", "flying", "waits", "refused"}
	s := open(t, o)
	first, second := updates()
	commit(t, s, &Batch{Points: []Point{first}})
	commit(t, s, &Batch{Settle: []Settlement{{Uplink: "took", Through: 1}, {Uplink: "refused", Through: 1, Parked: []Parked{{Seq: 1, Reason: "no"}}}}})
	inFlight := []InFlight{{Uplink: "flying", Spans: []Span{{1, 1}}}}
	commit(t, s, &Batch{Points: []Point{second}, InFlight: inFlight})
	made := PointCounts{Finalized: 1, Updated: 1}
	with := func(change func(c *PointCounts)) PointCounts { c := made; change(&c); return c }
	check := func(when string, want ...PointCounts) {
		t.Helper()
		for i, b := range s.Books() {
			if b.Points != want[i] {
				t.Errorf("%s: %s has %+v, want %+v", when, b.Name, b.Points, want[i])
			}
			if got := seqsFor(t, s, b.Name); !slices.Equal(got, []uint64{2}) {
				t.Errorf("%s: %s is offered %v, want the update", when, b.Name, got)
			}
		}
	}
	took := with(func(c *PointCounts) { c.Uploaded, c.Queued = 1, 1 })
	superseded := with(func(c *PointCounts) { c.Superseded, c.Queued = 1, 1 })
	check("while it flies", took, with(func(c *PointCounts) { c.Queued = 2 }), superseded, superseded)
	if !s.Overtaken("flying") || s.Overtaken("waits") {
		t.Error("overtaken: want it of the one in flight alone")
	}
	closeChecked(t, s)
	s = open(t, o)
	commit(t, s, &Batch{})
	check("when it has come back", took, superseded, superseded, superseded)
	if s.Overtaken("flying") || s.Stats().Outbox != 1 {
		t.Errorf("overtaken %t, %d in the outbox; want the update alone", s.Overtaken("flying"), s.Stats().Outbox)
	}
}

// A point that may be updated and that two servers refused, asked back for one of them: an update ends it for both.
func TestRequeueForOneUplink(t *testing.T) {
	s := open(t, twoUplinks(t))
	first, second := updates()
	commit(t, s, &Batch{Points: []Point{first, point(2)}})
	refuse := func(name string) Settlement {
		return Settlement{Uplink: name, Through: 2, Parked: []Parked{{Seq: 1, Reason: "no of " + name}, {Seq: 2, Reason: "no of " + name}}}
	}
	commit(t, s, &Batch{Settle: []Settlement{refuse("a"), refuse("b")}})
	b := &Batch{RequeueAll: true, RequeueFor: "b"}
	commit(t, s, b)
	if r := b.Requeued; r.Points != 2 || r.Numbers != 2 || len(r.Moved) != 1 || r.Moved[0].Seq != 3 {
		t.Errorf("requeued %+v", r)
	}
	if a, b := seqsFor(t, s, "a"), seqsFor(t, s, "b"); len(a) != 0 || !slices.Equal(b, []uint64{3, 4}) {
		t.Errorf("a is offered %v, b %v; want nothing, and both points", a, b)
	}
	list, err := s.ParkedPoints(0)
	if err != nil || len(list) != 2 || list[0].Seq != 2 || list[1].Seq != 3 || list[0].Uplink != "a" || list[1].Reason != "no of a" {
		t.Errorf("parked %+v, %v; want those of a, the one that may be updated under its new number", list, err)
	}
	second.Replaces = 3
	commit(t, s, &Batch{Points: []Point{second}})
	want := []UplinkCounts{
		{"a", PointCounts{Finalized: 2, Updated: 1, Queued: 1, Parked: 1, Superseded: 1}},
		{"b", PointCounts{Finalized: 2, Updated: 1, Queued: 2, Superseded: 1}},
	}
	if got := s.Books(); !reflect.DeepEqual(got, want) {
		t.Errorf("books %+v, want %+v", got, want)
	}
}

// While a point that may be updated is on its way to another server it stays parked for this one.
func TestRequeueOfAPointInFlightElsewhere(t *testing.T) {
	s := open(t, twoUplinks(t))
	first, _ := updates()
	commit(t, s, &Batch{Points: []Point{first}})
	commit(t, s, &Batch{Settle: []Settlement{{Uplink: "a", Through: 1, Parked: []Parked{{Seq: 1, Reason: "no"}}}}})
	b := &Batch{RequeueAll: true, InFlight: []InFlight{{Uplink: "b", Spans: []Span{{1, 1}}}}}
	commit(t, s, b)
	if b.Requeued.Busy != 1 || b.Requeued.Points != 0 || s.Books()[0].Points.Parked != 1 {
		t.Errorf("requeued %+v", b.Requeued)
	}
	b = &Batch{RequeueAll: true}
	commit(t, s, b)
	if a, b := seqsFor(t, s, "a"), seqsFor(t, s, "b"); !slices.Equal(a, []uint64{2}) || !slices.Equal(b, []uint64{2}) {
		t.Errorf("a is offered %v, b %v; want the point under its new number", a, b)
	}
}

// Both checks see each uplink's books: they are sound, and then one point is missing in those of the second.
func TestChecksCompareEveryUplink(t *testing.T) {
	s := spread(t, twoUplinks(t))
	if x, err := s.Examine(t.Context()); err != nil || x.Bad != 0 {
		t.Errorf("%+v, %v", x, err)
	}
	s.cur.Load().uplinks[1].points.Queued--
	commitRaw(t, s)
	_, examined := s.Examine(t.Context())
	for _, err := range []error{s.Check(), examined} {
		if err == nil || !strings.Contains(err.Error(), `points of uplink "b" do not balance`) || strings.Contains(err.Error(), `"a"`) {
			t.Errorf("%v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// commitRaw commits without looking at the books.
func commitRaw(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Commit(&Batch{State: []byte("x")}); err != nil {
		t.Fatal(err)
	}
}
