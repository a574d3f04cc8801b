package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/testbed"
)

// shown is what a step put out.
func shown(points []Point) []string {
	var s []string
	for _, p := range points {
		s = append(s, show(p))
	}
	return s
}

func TestUpdateMode(t *testing.T) {
	r := NewRun(rules(func(p *Params) { p.UpdateInterval, p.Allowed = time.Minute, 5*time.Minute }))
	for _, c := range []struct {
		item Item
		want []string
	}{
		{read("s", 10, 1), nil}, // M begins; it passes nothing
		{read("s", 59, 2), nil},
		{read("s", 60, 5), []string{"updated s@0 n=3 max=5 final=false"}},
		{read("s", 20, 9), nil}, // M does not move
		{read("s", 119, 3), nil},
		{read("s", 250, 3), []string{"updated s@0 n=6 max=9 final=false"}}, // several multiples, one point
		{read("u", 251, 3), nil},
		{read("t", 300, 1), []string{"updated u@0 n=1 max=3 final=false", "updated t@300 n=1 max=1 final=false"}}, // s@0 unchanged
		{read("s", 899, 1), []string{"updated s@600 n=1 max=1 final=false"}},
		{read("s", 900, 4), []string{"final s@0 n=6 max=9", "final u@0 n=1 max=3", "updated s@900 n=1 max=4 final=false"}},
		{read("s", 1, 99), []string{"updated s@0 n=7 max=99 final=true"}},
		{read("s", 1200, 1), []string{"final t@300 n=1 max=1", "updated s@1200 n=1 max=1 final=false"}},
	} {
		if got := shown(r.Take(c.item)); !slices.Equal(got, c.want) {
			t.Errorf("%v: got %q, want %q", c.item.Readings, got, c.want)
		}
	}
}

func TestClose(t *testing.T) {
	r := NewRun(tenMinutes)
	for _, item := range []Item{read("s", 0, 1), read("s", 310, 2), read("n", 5, 3), read("s", 1000, 4), read("s", 1, 5)} {
		r.Take(item)
	}
	for _, c := range []struct {
		step func() []Point
		want []string
	}{
		{r.Close, []string{"final s@300 n=1 max=2", "final s@900 n=1 max=4", "late s@900 n=1 total=1 by=16m39s"}},
		{r.Close, nil},
		{func() []Point { return r.Take(read("s", 1199, 6)) }, nil}, // W is 1200 now
		{func() []Point { return r.Take(read("s", 1300, 7)) }, []string{"late s@900 n=2 total=2 by=16m39s"}},
		{func() []Point { return r.Take(read("s", 1198, 8)) }, nil}, // and stays there, though M - delay is 700
		{r.Close, []string{"final s@1200 n=1 max=7", "late s@1200 n=1 total=3 by=1m42s"}},
	} {
		if got := shown(c.step()); !slices.Equal(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if l := r.Result().Ledger; l.Late != 3 || l.Windowed != 5 {
		t.Errorf("ledger: got %+v, want 5 windowed and 3 late", l)
	}
}

func TestCloseBySensor(t *testing.T) {
	r := NewRun(rules(func(p *Params) { p.PerSensor = true }))
	r.Take(read("b", 3600, 1))
	r.Take(read("a", 0, 2))
	if got, want := shown(r.Close()), []string{"final a@0 n=1 max=2", "final b@3600 n=1 max=1"}; !slices.Equal(got, want) {
		t.Errorf("close: got %q, want %q", got, want)
	}
	r.Take(read("a", 299, 2)) // a's W is 300
	r.Take(read("a", 300, 2))
	if l := r.Result().Ledger; l.Late != 1 || l.Windowed != 3 {
		t.Errorf("ledger: got %+v, want 3 windowed and 1 late", l)
	}
}

func TestAggregates(t *testing.T) {
	r := NewRun(tenMinutes)
	for _, c := range []struct{ seconds, value float64 }{{50, 4}, {10, 2}, {90, 9}, {90, 5}, {10, 7}, {20, 3}} {
		r.Take(read("s", c.seconds, c.value))
	}
	got := r.Close()
	// sum 30, mean 5, squares of -1 -3 4 0 2 -2 are 34, over 5
	want := Point{Identity: Identity{Start: ns(0), Series: "s"}, Final: true,
		Count: 6, Max: 9, Min: 2, Sum: 30, Mean: 5, First: 2, Last: 5, Stdev: math.Sqrt(6.8)}
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestSums checks on random histories what must hold whatever the rules are.
func TestSums(t *testing.T) {
	rng := testbed.Random(t)
	for n := range 60 {
		p := rules(func(p *Params) {
			p.PerSensor, p.Strict = rng.IntN(2) == 0, rng.IntN(3) == 0
			if !p.Strict {
				p.Allowed = time.Duration(rng.IntN(3)) * 4 * time.Minute
			}
			p.UpdateInterval = time.Duration(rng.IntN(2)) * 100 * time.Second
			p.Close = true
		})
		items := randomItems(rng, 400)
		got := Oracle(p, items)
		checkSums(t, fmt.Sprintf("history %d, %+v", n, p), got)
	}
}

func randomItems(rng *rand.Rand, n int) []Item {
	var items []Item
	for i := range n {
		item := read(fmt.Sprintf("s%d", rng.IntN(4)), float64(i*20-rng.IntN(1500)), float64(rng.IntN(3)))
		item.Retained = rng.IntN(10) == 0
		item.Again = rng.IntN(20) == 0
		if rng.IntN(10) == 0 {
			item.Refusals = []reading.Refusal{{Reason: reading.Reason(rng.IntN(int(reading.NumReasons)))}}
		}
		if len(items) > 0 && rng.IntN(5) == 0 {
			item.Readings = append(slices.Clone(items[rng.IntN(len(items))].Readings), item.Readings...)
		}
		items = append(items, item)
	}
	return items
}

func checkSums(t *testing.T, name string, got Result) {
	t.Helper()
	var windowed, late, finals int64
	totals := map[reading.Series]int64{}
	for id, p := range got.Last() {
		if id.Late {
			late += p.Count
			totals[id.Series] = max(totals[id.Series], p.Total)
			continue
		}
		finals++
		windowed += p.Count
		if !p.Final {
			t.Errorf("%s: %v left open by Close", name, id)
		}
	}
	var total int64
	for _, n := range totals {
		total += n
	}
	l := got.Ledger
	if !l.Balanced() || windowed != l.Windowed || late != l.Late || total != l.Late || finals != got.Count(Finalized) {
		t.Errorf("%s: points hold %d windowed, %d late, totals %d, %d windows of %d finalized; ledger %+v",
			name, windowed, late, total, finals, got.Count(Finalized), l)
	}
}

// TestSteps checks that taking items one by one gives the same as all at once.
func TestSteps(t *testing.T) {
	items := randomItems(rand.New(rand.NewPCG(1, 2)), 300)
	r := NewRun(tenMinutes)
	var points []Point
	for _, item := range items {
		points = append(points, r.Take(item)...)
	}
	want := Oracle(tenMinutes, items)
	if got := r.Result(); !reflect.DeepEqual(got, want) || !slices.Equal(points, want.Points) {
		t.Errorf("step by step: got %d points, %+v, want %d, %+v", len(points), got.Ledger, len(want.Points), want.Ledger)
	}
}
