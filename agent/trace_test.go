package agent

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
)

// trace is all that the store keeps for tracing.
func (b *bench) trace() []buffer.TraceReading {
	b.t.Helper()
	b.note()
	list, _, err := b.store.TraceAfter(0, 1<<30)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// columns counts traced readings by what became of them.
func columns(list []buffer.TraceReading) map[buffer.Outcome]int64 {
	n := make(map[buffer.Outcome]int64)
	for _, r := range list {
		n[r.Outcome]++
	}
	return n
}

// TestTraceChangesNothing feeds the same to an engine that keeps readings for tracing and to one that does not: state, journal, points and ledger are
// the same to the byte. What is traced is what the columns of the ledger count.
func TestTraceChangesNothing(t *testing.T) {
	eachDraw(t, func(t *rapid.T, dir string, p sim.Params) {
		setup := setupFor(p)
		setup.Rules.MaxFuture = rapid.SampledFrom([]int64{0, 20}).Draw(t, "max_future")
		setup.Rules.MaxSensors = rapid.IntRange(1, 4).Draw(t, "max_sensors")
		off := newBench(t, filepath.Join(dir, "off"), setup)
		setup.Rules.Trace, setup.Sources = true, []string{"source"}
		on := newBench(t, filepath.Join(dir, "on"), setup)
		both := []*bench{off, on}
		var refused, again int64 // records and readings of which there is nothing to trace
		front := testBuild.UnixNano()
		for range rapid.IntRange(1, 60).Draw(t, "messages") {
			item := drawItem(t, &front)
			now := Moment{Wall: front - rapid.Int64Range(0, 60).Draw(t, "behind"), Trusted: rapid.Bool().Draw(t, "trusted")}
			full, cut := rapid.IntRange(0, 19).Draw(t, "full") == 0, rapid.IntRange(0, 6).Draw(t, "cut")
			for _, b := range both {
				b.e.JournalFull = func(int64) bool { return full }
				res := reading.Result{Readings: slices.Clone(item.Readings), Refusals: item.Refusals}
				b.e.Message(Input{Result: &res, Retained: item.Retained, Known: item.Again, Arrival: now.Wall, Now: now})
				if now.Trusted {
					b.e.ClockTrusted(now)
				}
				if cut < 2 {
					b.note()
				}
				if cut == 0 {
					b.restart()
				}
			}
			if item.Again {
				again += int64(len(item.Refusals))
			} else {
				refused += int64(len(item.Refusals))
			}
			sameBatch(t, off, on)
		}
		traced := columns(on.trace())
		off.note()
		l := on.e.Ledger()
		want := map[buffer.Outcome]int64{buffer.WasWindowed: l.Windowed, buffer.WasLate: l.Late, buffer.WasDuplicate: l.Duplicate - again, buffer.WasRetained: l.Retained}
		for reason, n := range l.Rejected {
			want[buffer.Refusal(reading.Reason(reason))] += n
		}
		want[buffer.Refusal(reading.Value)] -= refused
		for as, n := range want {
			if traced[as] != n {
				t.Fatalf("%d readings traced as %d, the ledger counts %d: %+v", traced[as], as, n, l)
			}
		}
		if !slices.Equal(off.lines, on.lines) || off.store.Counts() != on.store.Counts() || len(off.trace()) > 0 {
			t.Fatalf("put out\n%q\nwith a trace\n%q", off.lines, on.lines)
		}
		off.close()
		on.close()
	})
}

// sameBatch compares what the next commit holds, but for the trace.
func sameBatch(t *rapid.T, off, on *bench) {
	t.Helper()
	var a, b buffer.Batch
	if off.e.Fill(&a) != nil || on.e.Fill(&b) != nil {
		t.Fatal("no batch")
	}
	if len(a.Trace.Readings) > 0 {
		t.Fatal("traced while it is off")
	}
	a.Keep, b.Keep, a.Trace, b.Trace = nil, nil, buffer.Trace{}, buffer.Trace{}
	slices.SortFunc(a.Late, byLateSeries)
	slices.SortFunc(b.Late, byLateSeries)
	slices.SortFunc(a.Marks, bySensor) // in no order either
	slices.SortFunc(b.Marks, bySensor)
	if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
		t.Fatalf("batch\n%+v\nwith a trace\n%+v", a, b)
	}
}

func bySensor(a, b buffer.Mark) int { return strings.Compare(a.Sensor, b.Sensor) }

func byLateSeries(a, b buffer.LateCount) int {
	return strings.Compare(string(a.Series), string(b.Series))
}

// TestTraceOfEveryColumn looks at what is told of each reading: source, arrival, also of one that was held, and what became of it.
func TestTraceOfEveryColumn(t *testing.T) {
	r := newRig(t, func(s *Setup) {
		s.Rules.Trace, s.Rules.MaxSensors, s.Rules.MaxFuture, s.Sources = true, 2, 2*minute, []string{"hall", "attic"}
	})
	feed := func(in Input, arrival float64, source uint16, series reading.Series, s float64) {
		in.Result = &reading.Result{Readings: []reading.Reading{{Source: source, Series: series, Time: at(s), Value: 21.5}}}
		in.Arrival, in.Now = at(arrival), r.now
		r.e.Message(in)
	}
	r.now.Wall = at(1300)
	feed(Input{}, 1, 0, "a", 0)
	feed(Input{}, 2, 1, "b\x00room\x001", 1200)
	feed(Input{}, 3, 0, "a", 10)
	feed(Input{}, 4, 0, "a", 10)
	feed(Input{Known: true}, 5, 0, "a", 1201)
	feed(Input{Retained: true}, 6, 1, "a", 20)
	feed(Input{}, 7, 1, "c", 1210)
	feed(Input{}, 8, 0, "a", 1500)
	r.reopen(nil)
	r.now.Trusted = false
	feed(Input{}, 9, 1, "a", 90000) // held until the clock is trusted
	r.now.Trusted, r.now.Wall = true, at(90001)
	r.e.ClockTrusted(r.now)
	r.e.JournalFull = func(int64) bool { return true }
	feed(Input{}, 10, 1, "b\x00room\x001", 90000)
	one := func(arrival float64, source string, series reading.Series, s float64, as buffer.Outcome) buffer.TraceReading {
		return buffer.TraceReading{Series: series, Source: source, Time: at(s), Value: 21.5, Arrival: at(arrival), Size: 5 * minute, Outcome: as}
	}
	want := []buffer.TraceReading{
		one(1, "hall", "a", 0, buffer.WasWindowed),
		one(2, "attic", "b\x00room\x001", 1200, buffer.WasWindowed),
		one(3, "hall", "a", 10, buffer.WasLate),
		one(4, "hall", "a", 10, buffer.WasDuplicate),
		one(5, "hall", "a", 1201, buffer.WasDuplicate),
		one(6, "attic", "a", 20, buffer.WasRetained),
		one(7, "attic", "c", 1210, buffer.Refusal(reading.Sensors)),
		one(8, "hall", "a", 1500, buffer.Refusal(reading.Future)),
		one(9, "", "a", 90000, buffer.WasWindowed),
		one(10, "attic", "b\x00room\x001", 90000, buffer.Refusal(reading.Overflow)),
	}
	if got := r.trace(); !reflect.DeepEqual(got, want) {
		t.Errorf("trace\n%+v\nwant\n%+v", got, want)
	}
}
