package buffer

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Who keeps what when the configuration changes: ten points are made, a has settled 4 of them and b 7.
func TestConfiguredUplinks(t *testing.T) {
	books := func(name string, uploaded, queued, evicted int64) UplinkCounts {
		return UplinkCounts{name, PointCounts{Finalized: 10, Uploaded: uploaded, Queued: queued, Evicted: evicted}}
	}
	fresh := func(name string) UplinkCounts { return UplinkCounts{name, PointCounts{Finalized: 6, Queued: 6}} }
	for _, c := range []struct {
		before, after []string
		want          []UplinkCounts
		outbox        int64
		log           string
	}{
		{[]string{"a", "b"}, []string{"a", "b"}, []UplinkCounts{books("a", 4, 6, 0), books("b", 7, 3, 0)}, 6, ""},
		{[]string{"a", "b"}, []string{"b", "a"}, []UplinkCounts{books("b", 7, 3, 0), books("a", 4, 6, 0)}, 6, ""},
		{[]string{"a", "b"}, nil, []UplinkCounts{books("a", 4, 6, 0), books("b", 7, 3, 0)}, 6, ""},
		{[]string{"a", "b"}, []string{"a"}, []UplinkCounts{books("a", 4, 6, 0)}, 6, "uplink=b points=3"},
		{[]string{"a", "b"}, []string{"b"}, []UplinkCounts{books("b", 7, 3, 0)}, 3, "uplink=a points=6"},
		{[]string{"a", "b"}, []string{"c", "b"}, []UplinkCounts{fresh("c"), books("b", 7, 3, 0)}, 6, "uplink=a points=6"},
		{[]string{"a", "b"}, []string{"c", "a", "b"}, []UplinkCounts{fresh("c"), books("a", 4, 6, 0), books("b", 7, 3, 0)}, 6, ""},
		{[]string{"a", "b"}, []string{"uplink"}, []UplinkCounts{books("uplink", 4, 6, 0)}, 6, "uplink=b points=3"},
		{[]string{"a"}, []string{"b"}, []UplinkCounts{books("b", 4, 6, 0)}, 6, ""},
		{nil, []string{"central", "mirror"}, []UplinkCounts{books("central", 4, 6, 0), fresh("mirror")}, 6, ""},
		{[]string{"a"}, []string{"mirror", "a"}, []UplinkCounts{fresh("mirror"), books("a", 4, 6, 0)}, 6, ""},
	} {
		t.Run(fmt.Sprint(c.before, " then ", c.after), func(t *testing.T) {
			o := options(t.TempDir())
			logger, text := logged()
			o.Uplinks, o.Logger = c.before, logger
			s := open(t, o)
			var b Batch
			for i := range 10 {
				b.Points = append(b.Points, point(i))
			}
			commit(t, s, &b)
			settled := &Batch{Settle: []Settlement{{Through: 4}}}
			if len(c.before) > 1 {
				settled.Settle = append(settled.Settle, Settlement{Uplink: "b", Through: 7})
			}
			commit(t, s, settled)
			for range 2 { // the second start finds it done
				closeChecked(t, s)
				o.Uplinks = c.after
				s = open(t, o)
				if got := s.Books(); !reflect.DeepEqual(got, c.want) || s.Stats().Outbox != c.outbox {
					t.Fatalf("books %+v, %d in the outbox; want %+v, %d", got, s.Stats().Outbox, c.want, c.outbox)
				}
				commit(t, s, &Batch{State: []byte("x")})
			}
			if got := strings.Count(text.String(), "not configured any more"); got != min(len(c.log), 1) || !strings.Contains(text.String(), c.log) {
				t.Errorf("log, want %q once:\n%s", c.log, text)
			}
		})
	}
}

// To let go of many points takes several transactions; a cut between them loses none of the books.
func TestDropUplinkInSteps(t *testing.T) {
	o := twoUplinks(t)
	o.MaxSize = 64 << 20
	s := open(t, o)
	const n = 2*dropStep + 5
	for made := 0; made < n; {
		var b Batch
		for range min(5000, n-made) {
			b.Points = append(b.Points, point(made))
			made++
		}
		commit(t, s, &b)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Uplink: "a", Through: 10}, {Uplink: "b", After: 100, Through: dropStep,
		Parked: []Parked{{Seq: 101, Reason: "no"}}}}})
	s.writing.Lock()
	err := s.write(func(w *writer) error { _, err := w.dropSome(1); return err })
	s.writing.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	want := PointCounts{Finalized: n, Uploaded: dropStep - 101, Parked: 1, Evicted: dropStep, Queued: n - 2*dropStep + 100}
	if got := s.Books()[1].Points; got != want {
		t.Errorf("after a step %+v, want %+v", got, want)
	}
	closeChecked(t, s)
	o.Uplinks = []string{"a"}
	s = open(t, o)
	if got, want := s.Counts(), (PointCounts{Finalized: n, Uploaded: 10, Queued: n - 10}); got != want || len(s.Books()) != 1 || s.Stats().ParkedBytes != 0 {
		t.Errorf("at the end %+v, want %+v", got, want)
	}
}
