package window

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"edgeagent/reading"
)

func TestStart(t *testing.T) {
	const size = 300
	cases := []struct {
		name    string
		t, want int64
	}{
		{"epoch", 0, 0},
		{"last instant of a window", 299, 0},
		{"its end belongs to the next", 300, 300},
		{"one before the epoch", -1, -300},
		{"on a boundary before the epoch", -300, -300},
		{"one before that", -301, -600},
		{"several windows before the epoch", -1500, -1500},
		{"far back", -9_000_000_000_000_000_001, -9_000_000_000_000_000_300},
	}
	for _, c := range cases {
		if got := Start(c.t, size); got != c.want {
			t.Errorf("%s: Start(%d) = %d, want %d", c.name, c.t, got, c.want)
		}
	}
}

func TestAggregate(t *testing.T) {
	type fold struct {
		t int64
		v float64
	}
	cases := []struct {
		name                   string
		folds                  []fold
		max, min, sum          float64
		first, last, mean, dev float64
	}{
		{"one", []fold{{5, -3}}, -3, -3, -3, -3, -3, -3, 0},
		{"below zero", []fold{{5, -3}, {6, -2}}, -2, -3, -5, -3, -2, -2.5, math.Sqrt(0.5)},
		{"out of order", []fold{{5, 2}, {9, 4}, {1, 6}}, 6, 2, 12, 6, 4, 4, 2},
		{"equal times: first came first, last came last", []fold{{5, 1}, {5, 2}, {5, 3}}, 3, 1, 6, 1, 3, 2, 1},
	}
	for _, c := range cases {
		var a Aggregate
		for _, f := range c.folds {
			a.Fold(f.t, f.v)
		}
		got := []float64{a.Max, a.Min, a.Sum, a.First, a.Last, a.Mean(), a.Stddev()}
		want := []float64{c.max, c.min, c.sum, c.first, c.last, c.mean, c.dev}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%s: got %v, want %v", c.name, got, want)
				break
			}
		}
		if a.Count != int64(len(c.folds)) {
			t.Errorf("%s: count %d", c.name, a.Count)
		}
	}
}

func TestMemory(t *testing.T) {
	var m memory
	steps := []struct {
		t    int64
		v    float64
		want bool // new
	}{
		{10, 1, true}, {10, 1, false}, {10, 2, true}, {5, 1, true}, {5, 1, false}, {10, 0, true}, {11, 1, true}, {10, 2, false}, {-4, 0, true},
	}
	for i, s := range steps {
		if got := m.add(s.t, s.v); got != s.want {
			t.Errorf("step %d: add(%d, %v) = %v", i, s.t, s.v, got)
		}
	}
	want := memory{{-4, 0}, {5, 1}, {10, 0}, {10, 1}, {10, 2}, {11, 1}}
	if !slices.Equal(m, want) {
		t.Errorf("memory %v, want %v", m, want)
	}
}

// show is an output as text: series, start, count, max, and whether it is the first final one.
func show(out []Output) []string {
	var s []string
	for _, o := range out {
		kind := "open"
		if o.Final {
			kind = "again"
		}
		if o.First {
			kind = "first"
		}
		s = append(s, fmt.Sprintf("%s@%d n=%d max=%v %s", o.Series, o.Start, o.Agg.Count, o.Agg.Max, kind))
	}
	return s
}

func TestStages(t *testing.T) {
	const w0 = math.MinInt64
	s := NewSet(Spec{Size: 10, Allowed: 5, Keep: 20})
	fold := func(series reading.Series, at int64, v float64, w int64) []string {
		return show(s.Fold(series, at, v, w, 1, nil))
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	expect("into an open window", fold("b", 3, 1, w0))
	expect("same window, other series", fold("a", 9, 5, w0))
	expect("next window", fold("b", 10, 7, w0))
	expect("W one short of the end", show(s.Advance(9, nil)))
	expect("W at the end: by series", show(s.Advance(10, nil)), "a@0 n=1 max=5 first", "b@0 n=1 max=1 first")
	expect("into the allowance: out at once", fold("b", 4, 2, 10), "b@0 n=2 max=2 again")
	expect("opened in the allowance", fold("c", 4, 8, 14), "c@0 n=1 max=8 first")
	if n := s.Open(); n != 1 {
		t.Errorf("open windows: %d, want 1", n)
	}
	expect("allowance over", show(s.Advance(15, nil)))
	if !s.Seen("b", 4, 2) || s.Seen("b", 4, 3) || s.Seen("a", 4, 2) {
		t.Error("memory after the aggregate is gone is wrong")
	}
	if end, ok := s.OpenEnd(); !ok || end != 20 {
		t.Errorf("open end %d %v, want 20", end, ok)
	}
	expect("second window final, first still remembered", show(s.Advance(29, nil)), "b@10 n=1 max=7 first")
	if !s.Seen("a", 9, 5) {
		t.Error("forgotten one before its time")
	}
	s.Advance(30, nil)
	if s.Seen("a", 9, 5) || !s.Seen("b", 10, 7) {
		t.Error("not forgotten in time, or too much forgotten")
	}
	if got := s.Released(); !slices.Equal(got, []Ref{{1, 4}}) {
		t.Errorf("released %v, want 4 readings of record 1", got)
	}
	if s.Remember("a", 9, 5, 30, 2) || !s.Remember("a", 15, 5, 30, 2) {
		t.Error("a late reading is remembered while W < end + keep, and not after")
	}
}

func TestChanged(t *testing.T) {
	s := NewSet(Spec{Size: 10, Keep: 10})
	s.Fold("a", 1, 1, 0, 1, nil)
	s.Fold("b", 11, 2, 0, 1, nil)
	if got := show(s.Changed(nil)); !slices.Equal(got, []string{"a@0 n=1 max=1 open", "b@10 n=1 max=2 open"}) {
		t.Errorf("first update %q", got)
	}
	s.Fold("b", 12, 3, 0, 1, nil)
	if got := show(s.Changed(nil)); !slices.Equal(got, []string{"b@10 n=2 max=3 open"}) {
		t.Errorf("second update %q", got)
	}
	if got := show(s.Advance(10, nil)); !slices.Equal(got, []string{"a@0 n=1 max=1 first"}) {
		t.Errorf("final %q", got)
	}
}

func TestMerge(t *testing.T) {
	s := NewSet(Spec{Size: 10, Keep: 10})
	for rec := range uint64(5) {
		s.Fold("a", int64(rec), 1, 0, rec+1, nil)
	}
	s.Merge(3)
	s.Advance(20, nil)
	if got, want := s.Released(), []Ref{{3, 3}, {4, 1}, {5, 1}}; !slices.Equal(got, want) {
		t.Errorf("released %v, want %v", got, want)
	}
}

func TestLateCounts(t *testing.T) {
	l := NewLateCounts(100, Counters{})
	leave := func(m int64) []Report {
		out, _ := l.Leave(m, nil)
		return out
	}
	reports := func(r []Report) []string {
		var s []string
		for _, x := range r {
			s = append(s, fmt.Sprintf("%s@%d n=%d total=%d max=%d", x.Series, x.Interval, x.Count, x.Total, x.MaxNs))
		}
		return s
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	l.Add("b", 10, 150)
	l.Add("a", 20, 199)
	l.Add("b", 100, 199)
	expect("M in the interval", reports(leave(199)))
	expect("M leaves it", reports(leave(200)), "a@100 n=1 total=1 max=179", "b@100 n=2 total=2 max=140")
	expect("nothing twice", reports(leave(900)))
	l.Add("b", 10, 930)
	expect("closed early", reports(l.Close(nil)), "b@900 n=1 total=3 max=920")
	if _, waiting := l.Waiting(); waiting {
		t.Error("a reported count waits")
	}
	expect("closed twice", reports(l.Close(nil)))
	l.Add("b", 0, 940)
	expect("a later report of the interval carries all of it", reports(leave(1000)), "b@900 n=2 total=4 max=940")
	if c := l.counters.Of("b"); c != (Counter{Interval: 900, Total: 4}) {
		t.Errorf("counter %+v", c)
	}
	l.Add("b", 0, 950)
	l.Add("a", 0, 950)
	if m, waiting := l.Waiting(); !waiting || m != 1100 {
		t.Errorf("waits for %d, want 1100", m)
	}
	expect("M is back in an interval of b's that is over", reports(leave(1000)), "a@900 n=1 total=2 max=950")
	expect("the next one is taken for it", reports(leave(1100)), "b@1000 n=1 total=5 max=950")
	l.Add("b", 0, 1200)
	if got := reports(l.Close(nil)); !slices.Equal(got, []string{"b@1200 n=1 total=6 max=1200"}) {
		t.Errorf("closed %q", got)
	}
	if got := l.End(); !slices.Equal(got, []reading.Series{"b"}) || l.counters.Of("b") != (Counter{Interval: 1200, Total: 6}) {
		t.Errorf("ended %q, counter %+v", got, l.counters.Of("b"))
	}
	expect("nothing is left of it", reports(leave(9000)))
}

// A window that is forgotten in the step that finalizes it still has its output's sequence kept where the next user of its
// memory does not find it.
func TestForgottenAtOnce(t *testing.T) {
	s := NewSet(Spec{Size: 10, Keep: 10})
	s.Fold("a", 1, 1, 0, 1, nil)
	s.SetQueued("a", 0, 7)
	out := s.Advance(1000, nil)
	if len(out) != 1 || *out[0].Queued != 7 {
		t.Fatalf("outputs %+v, want one whose newest point is 7", out)
	}
	*out[0].Queued = 8
	s.Fold("b", 1001, 1, 1000, 2, nil)
	if out = s.Advance(1010, nil); *out[0].Queued != 0 {
		t.Errorf("a new window begins with the point %d of a forgotten one", *out[0].Queued)
	}
}
