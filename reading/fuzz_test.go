package reading

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// fuzzRules has a rule for every format, with wildcards, templates and tags.
func fuzzRules() []Rule {
	r := []Rule{
		{Topic: "json/{s}", Value: "v|t{n}|o.{k}", Sensor: "{s}/{id|n|k}", Time: "ts|$.time", Unit: "u", Tags: []Tag{{"room", "{room}"}}},
		{Topic: "json/{s}", Each: "[*]|r[k=T]|{p}", Value: "v", Sensor: "{s}/{id|$.id}", Time: "ts"},
		{Topic: "json/{s...}", Each: "o.{ts}", ColumnsPath: "names[*].n", Value: "a", Sensor: "x", Time: "{ts}"},
		{Topic: "json/#", Each: "[k=T]|$", Value: "a.b[0]", Sensor: "{$.id}"},
		{Topic: "text/{s}", Format: "text"},
		{Topic: "csv/{s}", Format: "csv", Columns: []string{"id", "t", "v"}, Value: "v", Sensor: "{id}", Time: "t", Zone: "Europe/Berlin"},
		{Topic: "influx/{s}", Format: "influx", Value: "fields.{f}", Sensor: "{tags.s|f}", Time: "timestamp"},
		{Topic: "form/{s}", Format: "form", Value: "{f}", Time: "t"},
		{Topic: "senml/{s}", Format: "senml", Value: "v", Sensor: "{n}", Unit: "u", Time: "t"},
		{Topic: "a/DBIRTH/b", Format: "sparkplug", Each: "metrics[*]", Value: "value", Sensor: "{name|alias}", Time: "timestamp"},
		{Topic: "msgpack/{s}", Format: "msgpack", Value: "fields.v|v", Time: "time"},
		{Topic: "ruuvi/{s}", Format: "ruuvi", Value: "temperature", Time: "ts"},
	}
	for i := range r {
		r[i].NotBefore = NoTime
	}
	return r
}

// fuzzTopics has a topic for every format.
var fuzzTopics = []string{"json/a", "text/a", "csv/a", "influx/a", "form/a", "senml/a", "a/DBIRTH/b", "msgpack/a", "ruuvi/a"}

// A seed is a payload and the topic whose format it is in.
type seed struct {
	which   uint8
	payload []byte
}

// decodeSeeds are the payloads of all samples.
func decodeSeeds(t testing.TB) []seed {
	byFormat := map[string]uint8{"text": 1, "csv": 2, "influx": 3, "form": 4, "senml": 5, "sparkplug": 6, "msgpack": 7, "ruuvi": 8}
	var seeds []seed
	for _, s := range append(loadSamples(t), loadLines(t, "testdata/siblings.ndjson")...) {
		rule := s.Rule.rule(t)
		if merged, err := rule.WithPreset(); err == nil {
			rule = merged
		}
		payload := s.PayloadB64
		if len(payload) == 0 && s.Payload != nil {
			payload = []byte(*s.Payload)
		}
		seeds = append(seeds, seed{byFormat[rule.Format], payload})
	}
	return seeds
}

// FuzzDecode decodes any payload in any format without the safety net of Decode, and checks what every reading promises.
func FuzzDecode(f *testing.F) {
	for _, s := range decodeSeeds(f) {
		f.Add(s.which, s.payload)
	}
	d := compileOne(f, fuzzRules()...)
	f.Fuzz(func(t *testing.T, which uint8, payload []byte) { checkDecode(t, d, seed{which, payload}) })
}

func checkDecode(t testing.TB, d *Decoder, s seed) {
	const notBefore = 1577836800e9 // 2020
	m := Message{Topic: fuzzTopics[int(s.which)%len(fuzzTopics)], Payload: s.payload, Arrival: 1793779270e9}
	var first, second Result
	d.decode(m, &first)
	if len(first.Readings)+len(first.Refusals) == 0 {
		t.Fatalf("%q: neither a reading nor a refusal", s.payload)
	}
	for _, r := range first.Readings {
		if !finite(r.Value) || r.Value < defaultMin || r.Value > defaultMax || checkText(r.Series.Sensor()) != "" || !utf8.ValidString(string(r.Series)) {
			t.Errorf("%q: reading %+v", s.payload, r)
		}
		if !r.ArrivalTimed && r.Time < notBefore {
			t.Errorf("%q: time of %+v", s.payload, r)
		}
	}
	for _, r := range first.Refusals {
		if r.Reason >= NumReasons || len(r.Detail) > 200 {
			t.Errorf("%q: refusal %+v", s.payload, r)
		}
	}
	if d.decode(m, &second); len(second.Readings) != len(first.Readings) || len(second.Refusals) != len(first.Refusals) {
		t.Errorf("%q decoded twice: %+v, then %+v", s.payload, first, second)
	}
}

var numberSeeds = []string{"21.5", "21,5 °C", "-1e3", "nan", "1.234,5", "+.5F", "0x1", "21 deg C", "5\u00a0℃"}

// FuzzNumber checks that a text is a number or has one reason not to be, and that blanks around it change nothing.
func FuzzNumber(f *testing.F) {
	for _, s := range numberSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkNumber(t, s) })
}

func checkNumber(t testing.TB, s string) {
	x, u, reason := parseNumber(s)
	y, v, again := parseNumber("\t" + s + " \n")
	if reason != again || u != v || reason == NumReasons && x != y {
		t.Errorf("%q = %v %v %v, with blanks %v %v %v", s, x, u, reason, y, v, again)
	}
	if reason != NumReasons && reason != NoValue && reason != Value {
		t.Errorf("%q: reason %v", s, reason)
	}
}

var timeSeeds = []string{"2026-11-04T08:01:10.123+01:00", "1793779270.5", "1e9", "2026-10-25 02:30", "-5", "20261104T080160Z", "2026/11/04 08:01 +01"}

// FuzzTime checks that a time is read alike whatever the arrival, but for the hour that a clock repeats.
func FuzzTime(f *testing.F) {
	for _, s := range timeSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkTime(t, s) })
}

func checkTime(t testing.TB, s string) {
	berlin, err := loadZone("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	format := timeFormat{kind: "auto", exponent: autoExponent}
	v := parseValue(string(appendString(nil, s)))
	utc, a := format.instant(v, berlin, NoTime)
	near, b := format.instant(v, berlin, 1793779270e9)
	if a != b || a == timeGood && abs(utc-near) > 3600e9 {
		t.Errorf("%q = %d (%d), near an arrival %d (%d)", s, utc, a, near, b)
	}
}

var ruleSeeds = []string{
	"t/{s}|[*]|v|{s}|ts", "a/{b...}/c|{p}|Temperature|{b}/{Id|p}|$.Time", "#|metrics[name=a/b]|value|{name}|{x}",
	"x/{y}z/+|r.{k}[0][*]|a\\.b|{y}{|", "$aws/{t}/x|[dtype=Temp + Humidity]|s{ch}v|x{$}|$.a[1]",
}

// FuzzRule compiles any keys of a rule: they are faulty or make a decoder that takes any message.
func FuzzRule(f *testing.F) {
	for _, s := range ruleSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkRule(t, s) })
}

func checkRule(t testing.TB, s string) {
	keys := append(strings.SplitN(s, "|", 5), "", "", "", "")
	d, err := Compile([]Rule{{Topic: keys[0], Each: keys[1], Value: keys[2], Sensor: keys[3], Time: keys[4], NotBefore: NoTime}}, 0)
	if err != nil {
		return
	}
	for _, topic := range []string{"t/x", "a/b/d/c", "x/yz/1", d.Filters()[0].Topic} {
		var res Result
		d.decode(Message{Topic: topic, Payload: []byte(`{"v":1,"ts":5,"a":[{"v":[2]},null],"r":{"k":[[3]]},"dtype":"Temp"}`), Arrival: 1}, &res)
	}
}

// FuzzAliases puts any bytes back as an alias table: they are refused, or the table works on.
func FuzzAliases(f *testing.F) {
	f.Add([]byte(`[{"node":"g/e","metrics":{"5":{"name":"T","type":3}}}]`))
	f.Fuzz(func(t *testing.T, b []byte) { checkAliases(t, b) })
}

func checkAliases(t testing.TB, b []byte) {
	d, err := Compile([]Rule{{Topic: "a/{k}/b", Format: "sparkplug", Each: "metrics[*]", Value: "value", NotBefore: NoTime}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SetAliases(b); err != nil {
		return
	}
	var res Result
	for _, topic := range []string{"a/DDATA/b", "a/NBIRTH/b", "a/DBIRTH/b"} {
		d.decode(Message{Topic: topic, Payload: []byte{0x12, 4, 0x10, 5, 0x50, 1, 0x12, 5, 0x0a, 1, 'T', 0x10, 6}, Arrival: 1}, &res)
	}
	again := d.Aliases()
	if err := d.SetAliases(again); err != nil {
		t.Errorf("%q: its own table is refused: %v", b, err)
	}
}
