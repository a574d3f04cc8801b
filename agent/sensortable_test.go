package agent

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"edgeagent/reading"
	"edgeagent/sim"
	"edgeagent/status"
)

// shown writes sensors down by name: value, seconds after t0, lag, open windows, late drops.
func shown(list []status.Sensor) map[string]string {
	say := func(p *float64) string {
		if p == nil {
			return "-"
		}
		return fmt.Sprint(*p)
	}
	out := make(map[string]string)
	for _, s := range list {
		at, last := "-", s.Last
		if t, err := time.Parse(time.RFC3339Nano, last); err == nil {
			at = fmt.Sprint(float64(t.UnixNano()-t0) / 1e9)
		}
		out[s.Name] = fmt.Sprint(say(s.Value), " ", at, " ", say(s.LagS), " ", s.Open, " ", s.Late)
	}
	return out
}

func sameTable(t *testing.T, what string, e *Engine, want map[string]string) {
	t.Helper()
	got := shown(sensorTable(e.sensorRows()))
	if len(got) != len(want) {
		t.Errorf("%s: %d sensors, want %d: %v", what, len(got), len(want), got)
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s: %q, want %q", what, name, got[name], want[name])
		}
	}
}

func TestSensorTable(t *testing.T) {
	for _, perSensor := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.PerSensor = perSensor })
		at := func(s float64) { r.now.Wall = t0 + int64(s*1e9) }
		at(100)
		r.live("a", 90, 20)
		r.live("a\x00probe\x002", 310, 25) // another series of a, in another window
		r.live("b", 99.5, -3)
		at(400)
		r.live("a", 305, 22) // older than what came before
		r.untimed("c", 7)
		r.live("a", 1000, 30)
		r.live("b", 1000, 1)
		r.live("b", 95, 2) // late
		r.live("b", 96, 2)
		want := map[string]string{"a": "30 1000 -600 3 0", "b": "1 1000 304 1 2", "c": "7 400 - 1 0"}
		sameTable(t, "running", r.e, want)
		r.note()
		r.restart()
		// The journal brings the values back; what only people look at, the lag, is gone.
		sameTable(t, "after a restart", r.e, map[string]string{"a": "30 1000 - 3 0", "b": "1 1000 - 1 2", "c": "7 400 - 1 0"})
		if t.Failed() {
			t.Fatalf("with a watermark per sensor: %v", perSensor)
		}
	}
}

// A retained reading tells nothing of the lag.
func TestSensorTableRetained(t *testing.T) {
	r := newRig(t, nil)
	r.now.Wall = t0 + 100*second
	r.live("a", 99, 1)
	r.retained("a", 50, 2)
	r.retained("b", 98, 3)
	sameTable(t, "retained", r.e, map[string]string{"a": "1 99 1 1 0", "b": "3 98 - 1 0"})
}

// What the table needs is 16 bytes a sensor, on 32-bit boards too.
func TestSensorTableMemory(t *testing.T) {
	if size := unsafe.Sizeof(heard{}); size > 16 {
		t.Errorf("%d bytes for each sensor, docs say 16", size)
	}
}

// BenchmarkSensorTable is what one look at the table of 10,000 sensors costs the run loop.
func BenchmarkSensorTable(b *testing.B) {
	setup := setupFor(sim.Params{Size: 5 * time.Minute, Delay: 10 * time.Minute, Retained: []string{"drop_untimed"}})
	setup.Rules.MaxSensors = 10_000
	e, err := setup.engine()
	if err != nil {
		b.Fatal(err)
	}
	for i := range 40_000 {
		res := reading.Result{Readings: []reading.Reading{{Series: reading.Series(fmt.Sprintf("device-%05d", i%10_000)), Time: t0 + int64(i/10_000)*5*minute, Value: 1}}}
		e.Message(Input{Result: &res, Now: Moment{Wall: t0, Trusted: true}})
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(e.sensorRows()); n != 10_000 {
			b.Fatal(n)
		}
	}
}
