package sim

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
)

// mixed is a fleet with some of everything.
var mixed = FleetParams{
	Sensors: 20, Rate: 5, For: time.Hour, Start: ns(0), Seed: 7,
	Late: 0.1, Repeat: 0.05, Bad: 0.04, Skew: 5 * time.Second,
}

func messages(t *testing.T, p FleetParams) []Message {
	t.Helper()
	f, err := NewFleet(p)
	if err != nil {
		t.Fatal(err)
	}
	var all []Message
	for m, ok := f.Next(); ok; m, ok = f.Next() {
		all = append(all, m)
	}
	if _, ok := f.Next(); ok {
		t.Error("a fleet that was over went on")
	}
	return all
}

func TestFleetShares(t *testing.T) {
	all := messages(t, mixed)
	var n [Bad + 1]float64
	for _, m := range all {
		n[m.Fate]++
	}
	const made = 3600 * 5
	for _, c := range []struct {
		name           string
		got, low, high float64
	}{
		{"all", float64(len(all)), made * 0.99, made * 1.05}, // repeats add, what is still held up is missing
		{"bad", n[Bad], made * 0.03, made * 0.05},
		{"delayed", n[Delayed], made * 0.04, made * 0.06},
		{"too late", n[TooLate], made * 0.025, made * 0.06},
		{"repeated", n[Repeated], made * 0.035, made * 0.055},
	} {
		if c.got < c.low || c.got > c.high {
			t.Errorf("%s: got %v messages, want %v to %v", c.name, c.got, c.low, c.high)
		}
	}
}

// TestFleetFates checks by the oracle that each message meets the fate it was made for.
func TestFleetFates(t *testing.T) {
	r := NewRun(tenMinutes)
	for i, m := range messages(t, mixed) {
		was := r.ledger
		r.Take(Decode(m.Record(), time.Millisecond))
		now := r.ledger
		switch m.Fate {
		case Bad:
			if now.Received != was.Received+1 || now.Windowed+now.Late+now.Duplicate != was.Windowed+was.Late+was.Duplicate {
				t.Fatalf("message %d: bad %q was not rejected", i, m.Payload)
			}
		case TooLate:
			if now.Late != was.Late+1 {
				t.Fatalf("message %d: too late by design, got %+v after %+v", i, now, was)
			}
		case OnTime:
			if now.Windowed != was.Windowed+1 {
				t.Fatalf("message %d: on time, got %+v after %+v", i, now, was)
			}
		case Repeated:
			if now.Windowed != was.Windowed {
				t.Fatalf("message %d: a repeat was windowed", i)
			}
		}
	}
	l := r.ledger
	if !l.Balanced() || l.Duplicate == 0 || len(l.Rejected) != 4 {
		t.Errorf("got %+v, want repeats and bad ones of four reasons", l)
	}
}

func TestFleetTimesAreUnique(t *testing.T) {
	for _, p := range []FleetParams{mixed, {Sensors: 1, Rate: 500, For: time.Minute, Start: ns(0)},
		{Sensors: 2, Rate: 20000, For: time.Second, Start: ns(0), Nanos: true, Late: 0.5, Skew: time.Second, Delay: time.Millisecond, Size: time.Millisecond}} {
		seen := map[string]bool{}
		last := p.Start
		for _, m := range messages(t, p) {
			if m.Send < last {
				t.Fatalf("%+v: sent at %d after %d", p, m.Send, last)
			}
			last = m.Send
			id := fmt.Sprint(m.Topic, m.Time)
			if seen[id] != (m.Fate == Repeated) {
				t.Fatalf("%+v: fate %d, but %s was seen %v", p, m.Fate, id, seen[id])
			}
			seen[id] = true
		}
	}
}

func TestFleetIsDeterministic(t *testing.T) {
	text := func(p FleetParams) string {
		var b bytes.Buffer
		for _, m := range messages(t, p) {
			b.Write(m.Record().Line())
		}
		return b.String()
	}
	a, other := text(mixed), mixed
	if text(mixed) != a {
		t.Error("same parameters, other messages")
	}
	other.Seed++
	if text(other) == a {
		t.Error("other seed, same messages")
	}
	const first = `{"topic":"sensors/s002/temperature","payload":{"ts": 1700000097862, "temperature": 15.69},"time":"2023-11-14T22:15:00.2Z"}`
	if got, _, _ := strings.Cut(a, "\n"); got != first {
		t.Errorf("first message: got %s, want %s", got, first)
	}
}

func TestPayload(t *testing.T) {
	for _, c := range []struct {
		ts, hundredths int64
		want           string
	}{
		{1, 2150, `{"ts": 1, "temperature": 21.50}`}, {-1, -5, `{"ts": -1, "temperature": -0.05}`}, {0, -1234, `{"ts": 0, "temperature": -12.34}`},
	} {
		if got := string(payload(c.ts, c.hundredths)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestFleetParams(t *testing.T) {
	for _, c := range []struct {
		change func(*FleetParams)
		want   string
	}{
		{func(p *FleetParams) { p.Sensors = 0 }, "sensors: must be at least 1 (got 0)"},
		{func(p *FleetParams) { p.Rate = 0 }, "rate: must be above 0 and at most 500 a sensor (got 0)"},
		{func(p *FleetParams) { p.Rate = 10001 }, "rate: must be above 0 and at most 500 a sensor (got 10001)"},
		{func(p *FleetParams) { p.Late = 1.5 }, "late: must be from 0 to 1 (got 1.5)"},
		{func(p *FleetParams) { p.Repeat = -1 }, "repeat: must be from 0 to 1 (got -1)"},
		{func(p *FleetParams) { p.Late, p.Bad = 0.6, 0.6 }, "late and bad: must be 1 together at most (got 1.2)"},
		{func(p *FleetParams) { p.Skew = -1 }, "skew: must be from 0s to below 1h (got -1ns)"},
		{func(p *FleetParams) { p.For = -1 }, "for, delay and size: must not be negative"},
	} {
		p := mixed
		c.change(&p)
		_, err := NewFleet(p)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestDecode(t *testing.T) {
	const topic = "sensors/s1/temperature"
	for _, c := range []struct {
		topic, payload string
		want           reading.Reason // NumReasons: a reading
	}{
		{topic, `{"ts": 1700000100000, "temperature": 20.5}`, reading.NumReasons},
		{topic, `{"ts": 1700000100000, "temperature": "20.5"}`, reading.NumReasons},
		{topic, ``, reading.NoValue},
		{topic, `{"ts": 1`, reading.Decode},
		{topic, `{"ts": 1} x`, reading.Decode},
		{topic, `{"ts": 1}`, reading.NoValue},
		{topic, `{"ts": 1, "temperature": null}`, reading.NoValue},
		{topic, `{"ts": 1, "temperature": "Unknown"}`, reading.NoValue},
		{topic, `{"ts": 1, "temperature": "hot"}`, reading.Value},
		{topic, `{"ts": 1, "temperature": 150.1}`, reading.Range},
		{topic, `{"ts": 1.5, "temperature": 15}`, reading.Time},
		{topic, `{"temperature": 15}`, reading.Time},
	} {
		got := Decode(Record{Topic: c.topic, Payload: []byte(c.payload)}, time.Millisecond)
		switch {
		case c.want != reading.NumReasons:
			if len(got.Readings) != 0 || len(got.Refusals) != 1 || got.Refusals[0].Reason != c.want {
				t.Errorf("%s: got %+v, want %v", c.payload, got, c.want)
			}
		case len(got.Readings) != 1 || got.Readings[0] != (reading.Reading{Series: "s1", Time: ns(0), Value: 20.5}):
			t.Errorf("%s: got %+v, want s1 at t0 = 20.5", c.payload, got)
		}
	}
	for _, topic := range []string{"other/s1/temperature", "sensors/a/b/temperature", "sensors//temperature", "sensors/a/humidity"} {
		if got := Decode(Record{Topic: topic, Payload: []byte(`{"ts":1,"temperature":1}`)}, 1); got.Readings != nil || got.Refusals != nil {
			t.Errorf("%s: got %+v, want nothing", topic, got)
		}
	}
}
