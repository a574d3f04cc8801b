package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
	"pgregory.net/rapid"

	"edgeagent/reading"
	"edgeagent/sim"
)

const (
	second = int64(time.Second)
	minute = int64(time.Minute)
	hour   = int64(time.Hour)
	day    = 24 * hour
)

// t0 is a window's start, a day after the build's date.
var t0 = testBuild.UnixNano() + day

// A rig is a bench for table tests: readings are written down by hand, at times in seconds after t0.
type rig struct {
	*bench
	now Moment
}

// newRig is a rig over an empty store with windows of 5 min and a delay of 10 min, unless adjust changes that.
func newRig(t *testing.T, adjust func(*Setup)) *rig {
	t.Helper()
	setup := setupFor(sim.Params{Size: 5 * time.Minute, Delay: 10 * time.Minute, Retained: []string{"drop_untimed"}})
	setup.Identity.Aggregates = []string{"max", "count"}
	if adjust != nil {
		adjust(&setup)
	}
	r := &rig{bench: newBench(t, t.TempDir(), setup), now: Moment{Wall: t0, Trusted: true}}
	t.Cleanup(func() { _ = r.store.Close() })
	return r
}

// reopen commits and starts anew, under another configuration if adjust changes it.
func (r *rig) reopen(adjust func(*Setup)) {
	r.t.Helper()
	r.note()
	if adjust != nil {
		adjust(&r.setup)
	}
	r.restart()
}

// waits compares what waits in the outbox behind the first n points, and tells how many wait in all.
func (r *rig) waits(what string, n int, want ...string) int {
	r.t.Helper()
	var got []string
	all := r.queued()
	for _, text := range all[n:] {
		got = append(got, short(r.t, text))
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: waiting\n\t%q, want\n\t%q", what, got, want)
	}
	return len(all)
}

func (r *rig) message(retained bool, rs ...reading.Reading) {
	res := reading.Result{Readings: rs}
	r.e.Message(Input{Result: &res, Retained: retained, Now: r.now})
}

// live feeds one reading at s seconds after t0.
func (r *rig) live(series string, s float64, v float64) {
	r.message(false, reading.Reading{Series: reading.Series(series), Time: at(s), Value: v})
}

func (r *rig) retained(series string, s float64, v float64) {
	r.message(true, reading.Reading{Series: reading.Series(series), Time: at(s), Value: v})
}

func (r *rig) untimed(series string, v float64) {
	r.message(false, reading.Reading{Series: reading.Series(series), Time: r.now.Wall, Value: v, ArrivalTimed: true})
}

// at is an instant s seconds after t0, to the ms.
func at(s float64) int64 { return t0 + int64(s*1000)*int64(time.Millisecond) }

// took commits, and is what the engine has put out since it was last asked, by short.
func (r *rig) took() []string {
	r.t.Helper()
	r.note()
	var out []string
	for _, text := range r.lines {
		out = append(out, short(r.t, text))
	}
	r.lines = r.lines[:0]
	return out
}

// puts compares what has been put out since the last call.
func (r *rig) puts(what string, want ...string) {
	r.t.Helper()
	if got := r.took(); !slices.Equal(got, want) {
		r.t.Errorf("%s: put out\n\t%q, want\n\t%q", what, got, want)
	}
}

// counts compares the columns of the ledger that are not 0, by name.
func (r *rig) counts(what string, want map[string]int64) {
	r.t.Helper()
	l := r.e.Ledger()
	got := map[string]int64{"received": l.Received, "windowed": l.Windowed, "late": l.Late, "duplicate": l.Duplicate, "retained": l.Retained,
		"held": int64(len(r.e.held))}
	for i, n := range l.Rejected {
		got[reading.Reason(i).String()] = n
	}
	for name, n := range got {
		if n != want[name] {
			r.t.Errorf("%s: %s = %d, want %d", what, name, n, want[name])
		}
	}
	if !l.Balanced() {
		r.t.Errorf("%s: ledger does not balance: %+v", what, l)
	}
}

// short is a line as tests write it down: measurement (unless it is temperature), series, timestamp in seconds after t0,
// and fields in the order of their names.
func short(t rapid.TB, text string) string {
	t.Helper()
	l, err := sim.ParseLine([]byte(text), lineprotocol.Nanosecond)
	if err != nil {
		t.Fatalf("line %q: %v", text, err)
	}
	var b strings.Builder
	if l.Measurement != "temperature" {
		b.WriteString(l.Measurement + " ")
	}
	sensor := ""
	for _, tag := range l.Tags {
		switch {
		case tag.Key == "sensor":
			sensor = tag.Value
		case tag.Key != "gateway" || tag.Value != "gw":
			b.WriteString(tag.Key + "=" + tag.Value + " ")
		}
	}
	b.WriteString(sensor)
	fmt.Fprintf(&b, "@%v", float64(l.Time-t0)/1e9)
	for _, name := range slices.Sorted(maps.Keys(l.Fields)) {
		fmt.Fprintf(&b, " %s=%v", name, l.Fields[name])
	}
	return b.String()
}
