package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"edgeagent/reading"
)

// t0 is 2023-11-14T22:15:00Z, the start of a five-minute window; times in these tables are seconds after it.
const t0 = 1700000100

func ns(seconds float64) int64 { return t0*1e9 + int64(math.Round(seconds*1e9)) }

// read is one live reading of its own message.
func read(sensor string, seconds, value float64) Item {
	return Item{Readings: []reading.Reading{{Series: reading.Series(sensor), Time: ns(seconds), Value: value}}}
}

// with changes the reading or the message of an item.
func with(item Item, change func(*Item, *reading.Reading)) Item {
	change(&item, &item.Readings[0])
	return item
}

func retained(i *Item, _ *reading.Reading)     { i.Retained = true }
func again(i *Item, _ *reading.Reading)        { i.Again = true }
func untimed(_ *Item, r *reading.Reading)      { r.ArrivalTimed = true }
func secondSource(_ *Item, r *reading.Reading) { r.Source = 1 }

// show writes a point as the tables have it: kind, series, start in seconds after t0, numbers.
func show(p Point) string {
	start := (p.Start - t0*1e9) / 1e9
	switch p.Kind {
	case LateReport:
		return fmt.Sprintf("late %s@%d n=%d total=%d by=%v", p.Series, start, p.Count, p.Total, time.Duration(p.MaxLateness))
	case Updated:
		return fmt.Sprintf("updated %s@%d n=%d max=%v final=%v", p.Series, start, p.Count, p.Max, p.Final)
	}
	return fmt.Sprintf("final %s@%d n=%d max=%v", p.Series, start, p.Count, p.Max)
}

func ledger(received, windowed, late, duplicate, retained int64) Ledger {
	return Ledger{Received: received, Windowed: windowed, Late: late, Duplicate: duplicate, Retained: retained}
}

var tenMinutes = Params{Size: 5 * time.Minute, Delay: 10 * time.Minute}

// rules is tenMinutes with a change.
func rules(change func(*Params)) Params {
	p := tenMinutes
	change(&p)
	return p
}

var oracleCases = []struct {
	name   string
	p      Params
	items  []Item
	points []string
	ledger Ledger
}{
	{"boundaries", tenMinutes, []Item{
		read("s", 0, 1), read("s", 299.999999999, 2), read("s", 300, 3), read("s", 899.999999999, 4), read("s", 10, 5),
		read("s", 900, 6), read("s", 299.5, 7), read("s", 301, 8),
	}, []string{"final s@0 n=3 max=5"}, ledger(8, 7, 1, 0, 0)},
	{"nothing before its time", tenMinutes, []Item{
		read("s", 10, 20), read("s", 310, 21), read("s", 20, 25), read("s", 905, 19),
	}, []string{"final s@0 n=2 max=25"}, ledger(4, 4, 0, 0, 0)},
	{"one watermark for the stream, order of output", tenMinutes, []Item{
		read("b", 310, 1), read("a", 10, 2), read("c", 20, 3), read("a", 320, 4), read("d", 1200, 5),
	}, []string{"final a@0 n=1 max=2", "final c@0 n=1 max=3", "final a@300 n=1 max=4", "final b@300 n=1 max=1"}, ledger(5, 5, 0, 0, 0)},
	{"a watermark per sensor", rules(func(p *Params) { p.PerSensor = true }), []Item{
		read("a", 0, 1), read("b", 3600, 2), read("a", 10, 3), read("a", 900, 4), read("a", 20, 5), read("a", 1200, 6),
	}, []string{"final a@0 n=2 max=3", "late a@900 n=1 total=1 by=14m40s"}, ledger(6, 5, 1, 0, 0)},
	{"strict: t = W is not late", rules(func(p *Params) { p.Strict = true }), []Item{
		read("s", 700, 1), read("s", 100, 2), read("s", 99.999999999, 3),
	}, nil, ledger(3, 2, 1, 0, 0)},
	{"allowance: open until end + allowed <= W", rules(func(p *Params) { p.Allowed = 5 * time.Minute }), []Item{
		read("s", 0, 1), read("s", 900, 2), read("s", 1, 3), read("n", 2, 4), read("n", 3, 1), read("s", 1199, 5), read("n", 4, 5),
		read("s", 1200, 6), read("n", 5, 7),
	}, []string{
		"final s@0 n=1 max=1", "updated s@0 n=2 max=3 final=true", "final n@0 n=1 max=4", "updated n@0 n=2 max=4 final=true",
		"updated n@0 n=3 max=5 final=true",
	}, ledger(9, 8, 1, 0, 0)},
	{"repeats are forgotten by W", tenMinutes, []Item{
		read("s", 0, 1), read("s", 0, 1), read("s", 0, 2), read("s", 1499, 3), read("s", 0, 1), read("s", 1500, 4), read("s", 0, 1),
		read("s", 0, 1),
	}, []string{"final s@0 n=2 max=2"}, ledger(8, 4, 2, 2, 0)},
	{"a late reading is remembered, one too late is not", tenMinutes, []Item{
		read("s", 1400, 1), read("s", 10, 2), read("s", 10, 2), read("s", -3000, 3), read("s", -3000, 3), read("s", 1800, 4),
	}, []string{"late s@1200 n=3 total=3 by=1h13m20s"}, ledger(6, 2, 3, 1, 0)},
	{"memory is as long as the allowance", rules(func(p *Params) { p.Allowed = 20 * time.Minute }), []Item{
		read("s", 0, 1), read("s", 2099, 2), read("s", 0, 1), read("s", 2100, 3), read("s", 0, 1),
	}, []string{"final s@0 n=1 max=1"}, ledger(5, 3, 1, 1, 0)},
	{"minus zero repeats zero", tenMinutes, []Item{
		read("s", 0, 0), with(read("s", 0, 0), func(_ *Item, r *reading.Reading) { r.Value *= -1 }),
	}, nil, ledger(2, 1, 0, 1, 0)},
	{"other series, other reading", tenMinutes, []Item{
		read("s", 0, 1), read("s\x00room\x00a", 0, 1), read("s\x00room\x00a", 0, 1),
	}, nil, ledger(3, 2, 0, 1, 0)},
	{"arrival-timed readings repeat nothing", tenMinutes, []Item{
		with(read("s", 0, 1), untimed), with(read("s", 0, 1), untimed), read("s", 0, 1),
	}, nil, ledger(3, 2, 0, 1, 0)},
	{"a redelivered message is a duplicate, whatever it holds", tenMinutes, []Item{
		read("s", 1500, 1), read("s", 0, 2), with(read("s", 0, 3), again), {Again: true, Refusals: make([]reading.Refusal, 2)},
	}, nil, ledger(5, 1, 1, 3, 0)},
	{"retained: only timed, fresh and new, and not before a live one", tenMinutes, []Item{
		with(read("r", 0, 1), retained), read("s", 0, 1), with(read("r", 0, 1), retained), with(read("r", 0, 1), retained),
		with(with(read("u", 0, 1), retained), untimed), with(read("r", -900, 1), retained), with(read("s", 0, 1), retained),
		read("s", 900, 1), with(read("x", 0, 1), retained),
	}, []string{"final r@0 n=1 max=1", "final s@0 n=1 max=1"}, ledger(9, 3, 0, 0, 6)},
	{"retained: a refused or late live reading is not enough", tenMinutes, []Item{
		{Refusals: make([]reading.Refusal, 1)}, with(read("r", 0, 1), retained),
	}, nil, Ledger{Received: 2, Retained: 1, Rejected: map[string]int64{"decode": 1}}},
	{"retained: keep and drop", rules(func(p *Params) { p.Retained = []string{"keep", "drop"} }), []Item{
		read("s", 900, 1), with(with(read("u", 900, 1), retained), untimed), with(read("k", 1, 1), retained),
		with(with(read("d", 900, 1), retained), secondSource), with(read("d", 900, 2), secondSource),
	}, nil, ledger(5, 3, 0, 0, 2)},
	{"readings of one message by event time, equals in text order", tenMinutes, []Item{{Readings: []reading.Reading{
		{Series: "s", Time: ns(1500), Value: 1}, {Series: "s", Time: ns(0), Value: 3}, {Series: "s", Time: ns(0), Value: 2},
	}}, read("s", 1, 1)}, []string{"final s@0 n=2 max=3"}, ledger(4, 3, 1, 0, 0)},
}

func TestOracle(t *testing.T) {
	for _, c := range oracleCases {
		t.Run(c.name, func(t *testing.T) { checkOracle(t, Oracle(c.p, c.items), c.points, c.ledger) })
	}
}

func checkOracle(t *testing.T, got Result, points []string, want Ledger) {
	t.Helper()
	var shown []string
	for _, p := range got.Points {
		shown = append(shown, show(p))
	}
	if !slices.Equal(shown, points) {
		t.Errorf("points: got %q, want %q", shown, points)
	}
	l := got.Ledger
	if !maps.Equal(l.Rejected, want.Rejected) {
		t.Errorf("rejected: got %v, want %v", l.Rejected, want.Rejected)
	}
	l.Rejected, want.Rejected = nil, nil
	if fmt.Sprint(l) != fmt.Sprint(want) {
		t.Errorf("ledger: got %+v, want %+v", l, want)
	}
}
