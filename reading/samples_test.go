package reading

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// sample is one line of testdata/samples.ndjson: a documented payload and what it must decode to.
type sample struct {
	ID         string
	Topic      string
	Payload    *string
	PayloadB64 []byte `json:"payload_b64"`
	Retained   bool
	Rule       sampleRule
	Expect     []struct {
		Sensor, Time string
		Value        float64
	}
	ExpectError string `json:"expect_error"`

	// of siblings.ndjson
	Family  string
	Refused []string // reasons, in any order
	NoMatch bool     // the topic fits no source
}

type sampleRule struct {
	Preset, Topic, Format, Each string
	Columns                     []string
	ColumnsPath                 string `json:"columns_path"`
	Sensor, Value, Unit         string
	Scale                       float64
	Time                        string
	TimeFormat                  string `json:"time_format"`
	TimeRequired                bool   `json:"time_required"`
	NotBefore                   string `json:"not_before"`
	Zone                        string
	Reject                      []float64
	Tags                        map[string]string
}

func (r sampleRule) rule(t testing.TB) Rule {
	rule := Rule{Preset: r.Preset, Topic: r.Topic, Format: r.Format, Each: r.Each, Columns: r.Columns, ColumnsPath: r.ColumnsPath,
		Sensor: r.Sensor, Value: r.Value, Unit: r.Unit, Scale: r.Scale, Time: r.Time, TimeFormat: r.TimeFormat,
		TimeRequired: r.TimeRequired, Zone: r.Zone, Reject: r.Reject, QoS: 1, NotBefore: NoTime}
	if r.NotBefore != "" {
		rule.NotBefore = at(t, r.NotBefore)
	}
	for key, value := range r.Tags {
		rule.Tags = append(rule.Tags, Tag{key, value})
	}
	return rule
}

func (s *sample) message(t *testing.T) Message {
	m := Message{Topic: s.Topic, Payload: s.PayloadB64, Retained: s.Retained, Arrival: at(t, "2026-11-04T08:01:12Z")}
	if len(s.PayloadB64) == 0 && s.Payload != nil {
		m.Payload = []byte(*s.Payload)
	}
	if s.ID == "tasmota-dst-ambiguous" {
		m.Arrival = at(t, "2026-10-25T01:30:04Z")
	}
	return m
}

// at is an RFC 3339 time in ns.
func at(t testing.TB, s string) int64 {
	t.Helper()
	when, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return when.UnixNano()
}

func loadSamples(t testing.TB) []sample { return loadLines(t, "testdata/samples.ndjson") }

func loadLines(t testing.TB, file string) []sample {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s sample
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		if err := dec.Decode(&s); err != nil {
			t.Fatalf("%s: %v", lines.Text()[:40], err)
		}
		all = append(all, s)
	}
	return all
}

// compileOne compiles a rule; NotBefore is 2020 unless it says otherwise.
func compileOne(t testing.TB, rules ...Rule) *Decoder {
	t.Helper()
	d, err := Compile(rules, at(t, "2020-01-01T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// kept are the readings that count after the retained rule, which the agent applies.
func kept(d *Decoder, m Message, readings []Reading) []Reading {
	var out []Reading
	for _, r := range readings {
		if m.Retained && r.ArrivalTimed && d.Retained(r.Source) == DropUntimed {
			continue
		}
		out = append(out, r)
	}
	return out
}

func (s *sample) when(t *testing.T, text string, arrival int64) int64 {
	rest, ok := strings.CutPrefix(text, "ingest")
	if !ok {
		return at(t, text)
	}
	if rest == "" {
		return arrival
	}
	shift, err := time.ParseDuration(rest)
	if err != nil {
		t.Fatal(err)
	}
	return arrival + int64(shift)
}

// TestSamples decodes every documented payload. Only the Sparkplug samples share a decoder: a birth defines aliases for a
// later message.
func TestSamples(t *testing.T) {
	var sparkplug *Decoder
	for _, s := range loadSamples(t) {
		t.Run(s.ID, func(t *testing.T) {
			d := compileOne(t, s.Rule.rule(t))
			if s.Rule.Format == "sparkplug" {
				if sparkplug == nil {
					sparkplug = d
				}
				d = sparkplug
			}
			s.verify(t, d)
		})
	}
}

func (s *sample) verify(t *testing.T, d *Decoder) {
	m := s.message(t)
	var res Result
	d.decode(m, &res)
	got := kept(d, m, res.Readings)
	if len(got) != len(s.Expect) {
		t.Fatalf("readings %+v, refusals %+v; want %d readings", res.Readings, res.Refusals, len(s.Expect))
	}
	for i, want := range s.Expect {
		r := got[i]
		if r.Series != Series(want.Sensor) || math.Abs(r.Value-want.Value) > 0.005 || r.Time != s.when(t, want.Time, m.Arrival) {
			t.Errorf("reading %d = %+v, want %+v", i, r, want)
		}
		if r.ArrivalTimed != strings.HasPrefix(want.Time, "ingest") {
			t.Errorf("reading %d: arrival-timed %v, want time %s", i, r.ArrivalTimed, want.Time)
		}
	}
	if s.ExpectError != "" && (len(res.Refusals) != 1 || res.Refusals[0].Reason != Decode && res.Refusals[0].Reason != Value) {
		t.Errorf("refusals %+v, want one for %q", res.Refusals, s.ExpectError)
	}
	if ignored := s.ID == "ha-discovery-config"; !ignored && len(res.Readings)+len(res.Refusals) == 0 {
		t.Error("neither a reading nor a refusal")
	}
}
