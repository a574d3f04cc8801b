package agent

import (
	"strings"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/status"
)

// Each source is told what was refused of it and why, and the last time, with the words of decoding or the sensor and its time.
func TestRefusalsOfEachSource(t *testing.T) {
	r := newRig(t, func(s *Setup) {
		s.Sources, s.Rules.MaxFuture, s.Rules.MaxSensors = []string{"one", "two", "quiet"}, 2*minute, 2
	})
	at := time.Unix(0, t0).UTC()
	send := func(topic string, known bool, res reading.Result) {
		r.e.Message(Input{Result: &res, Known: known, Now: r.now})
		r.e.locate(topic, at)
		at = at.Add(time.Minute)
	}
	good := func(source uint16, sensor string, s float64) reading.Reading {
		return reading.Reading{Source: source, Series: reading.Series(sensor), Time: t0 + int64(s*1e9), Value: s}
	}
	refused := func(source uint16, reason reading.Reason, detail string) reading.Refusal {
		return reading.Refusal{Source: source, Reason: reason, Detail: detail}
	}
	send("a", false, reading.Result{Readings: []reading.Reading{good(0, "x", 1), good(0, "x", 60)}, Refusals: []reading.Refusal{refused(1, reading.NoValue, "t is null")}})
	send("b", false, reading.Result{Refusals: []reading.Refusal{refused(1, reading.Decode, "no JSON"), refused(1, reading.Range, "9999")}})
	send("c", true, reading.Result{Refusals: []reading.Refusal{refused(0, reading.Decode, "again")}})
	send("d", false, reading.Result{Readings: []reading.Reading{good(0, "y", 2), good(0, "z", 3)}})
	r.e.TooBig("x", false, 1)
	r.e.locate(strings.Repeat("long/", 100), at)
	r.e.TooBig("x", false, reading.NoSource)
	r.e.TooBig("x", true, 0)
	got := r.e.sourcesStatus()
	for name, want := range map[string]struct {
		readings int64
		rejected string
		last     status.Refusal
	}{
		"one":   {4, "sensors", status.Refusal{Time: "2026-11-02T00:03:00Z", Topic: "d", Reason: "sensors", Detail: "sensor z at 2026-11-02T00:00:03Z"}},
		"two":   {0, "decode no_value range too_big", status.Refusal{Time: "2026-11-02T00:04:00Z", Topic: strings.Repeat("long/", 48) + "…", Reason: "too_big", Detail: "over max_message_bytes"}},
		"quiet": {0, "", status.Refusal{}},
	} {
		s := got[name]
		var reasons []string
		for reason := range reading.NumReasons {
			if n := s.Rejected[reason.String()]; n == 1 {
				reasons = append(reasons, reason.String())
			} else if n != 0 {
				t.Errorf("%s: %d rejected for %v, want 1", name, n, reason)
			}
		}
		if text := strings.Join(reasons, " "); s.Readings != want.readings || text != want.rejected || len(s.Rejected) != int(reading.NumReasons) {
			t.Errorf("%s: %d readings, rejected %q; want %d, %q", name, s.Readings, text, want.readings, want.rejected)
		}
		var last status.Refusal
		if s.LastRefusal != nil {
			last = *s.LastRefusal
		}
		if last != want.last {
			t.Errorf("%s: last refusal %+v, want %+v", name, last, want.last)
		}
	}
	if sum := r.e.ledger.Rejected.Sum(); sum != 6 {
		t.Errorf("the ledger has %d refused, want 6: one is of no source", sum)
	}
}

// A message that is read in again has been told of when it came.
func TestReadmittedIsNotToldAgain(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Sources = []string{"one"} })
	bad := reading.Result{Refusals: []reading.Refusal{{Reason: reading.Value, Detail: "warm"}}}
	r.e.Message(Input{Result: &bad, Now: r.now})
	r.e.locate("a", time.Unix(0, t0))
	raw := describeLast(r.e)
	r.e.Readmit(&raw, &bad, r.now)
	if s := r.e.sourcesStatus()["one"]; s.Rejected["value"] != 1 || s.LastRefusal.Topic != "a" {
		t.Errorf("told of %+v, want the one refusal", s)
	}
}

// describeLast is the last message as it would be kept.
func describeLast(e *Engine) (raw buffer.Raw) {
	e.verdict.describe(&raw, nil)
	return raw
}
