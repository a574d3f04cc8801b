package reading

import (
	"math"
	"strings"
	"testing"
)

// one decodes a payload under one rule and gives its readings and the reasons of its refusals.
func one(t *testing.T, r Rule, payload string) ([]Reading, []Reason) {
	t.Helper()
	if r.Topic == "" {
		r.Topic = "t/{sensor}"
	}
	r.NotBefore = NoTime
	d := compileOne(t, r)
	return outcome(d, Message{Topic: "t/s", Payload: []byte(payload), Arrival: at(t, "2026-11-04T08:01:12Z")})
}

func outcome(d *Decoder, m Message) ([]Reading, []Reason) {
	var res Result
	d.decode(m, &res)
	var reasons []Reason
	for _, r := range res.Refusals {
		reasons = append(reasons, r.Reason)
	}
	return res.Readings, reasons
}

func TestNumbers(t *testing.T) {
	const refused = -1000 // no reading
	text := []struct {
		in     string
		want   float64
		reason Reason
	}{
		{"21.5", 21.5, 0}, {" 21.5 \r\n\x00", 21.5, 0}, {"21,5", 21.5, 0}, {"+21.5", 21.5, 0}, {"-18.42", -18.42, 0}, {"1e1", 10, 0},
		{"2.15E+1", 21.5, 0}, {"026.9", 26.9, 0}, {".5", 0.5, 0}, {"-0", 0, 0}, {"0", 0, 0}, {"85", 85, 0},
		{"21.5 °C", 21.5, 0}, {"21.5C", 21.5, 0}, {"21.5 ºC", 21.5, 0}, {"70 °F", 190.0 / 9, 0}, {"295.65K", 22.5, 0}, {"21.5 \xb0C", 21.5, 0}, {"21.5\xffC", refused, Value}, {"21.5\xb0", refused, Value},
		{"\ufeff21.5", 21.5, 0}, {" \ufeff\x0021.5\n\x00\ufeff\n", 21.5, 0}, {"\ufeff", refused, NoValue}, {"2\ufeff1", refused, Value}, {`"4.6"`, 4.6, 0}, {"1,234", 1.234, 0},
		{"", refused, NoValue}, {"nan", refused, NoValue}, {"-nan", refused, NoValue}, {"INF", refused, NoValue}, {"NULL", refused, NoValue},
		{"None", refused, NoValue}, {"unavailable", refused, NoValue}, {"Unknown", refused, NoValue}, {"N/A", refused, NoValue}, {"-", refused, NoValue},
		{"1.234,5", refused, Value}, {"1,234.5", refused, Value}, {"N", refused, Value}, {"0x15", refused, Value}, {"Infinity", refused, Value},
		{"21.5 %", refused, Value}, {"5.", refused, Value}, {"1_000", refused, Value}, {"1e", refused, Value}, {"21.5 22", refused, Value}, {"--1", refused, Value}, {"+", refused, Value},
		{"1e400", refused, Range}, {"151", refused, Range}, {"-90.1", refused, Range}, {"150", 150, 0}, {"-90", -90, 0},
	}
	for _, c := range text {
		readings, reasons := one(t, Rule{Format: "text"}, c.in)
		verifyNumber(t, "text "+c.in, readings, reasons, c.want, c.reason)
	}
	json := []struct {
		in     string
		want   float64
		reason Reason
	}{
		{`20.5`, 20.5, 0}, {"\n\ufeff20.5\x00", 20.5, 0}, {`-0.0`, 0, 0}, {`"20,5"`, 20.5, 0}, {`1e1`, 10, 0}, {`1e400`, refused, Range},
		{`null`, refused, NoValue}, {`nan`, refused, NoValue}, {`"nan"`, refused, NoValue}, {`-Infinity`, refused, NoValue},
		{`true`, refused, Decode}, {`{}`, refused, Decode}, {`[21.5]`, refused, Decode}, {`"ERR"`, refused, Value},
		{`01`, refused, Decode}, {`+1`, refused, Decode}, {`1 2`, refused, Decode}, {`{"a":1}{`, refused, Decode}, {`.5`, refused, Decode},
	}
	for _, c := range json {
		readings, reasons := one(t, Rule{}, c.in)
		verifyNumber(t, "root "+c.in, readings, reasons, c.want, c.reason)
	}
}

func verifyNumber(t *testing.T, what string, readings []Reading, reasons []Reason, want float64, reason Reason) {
	t.Helper()
	if want > -1000 {
		if len(readings) != 1 || math.Abs(readings[0].Value-want) > 1e-12 || math.Signbit(readings[0].Value) != (want < 0) {
			t.Errorf("%s = %v, %v; want %v", what, readings, reasons, want)
		}
		return
	}
	if len(readings) != 0 || len(reasons) != 1 || reasons[0] != reason {
		t.Errorf("%s = %v, %v; want refused %v", what, readings, reasons, reason)
	}
}

// TestMended has bare nan tokens beside values: one dead probe must not lose its neighbours.
func TestMended(t *testing.T) {
	for in, want := range map[string][]Reading{
		`{"a":20.5,"b":nan}`:                          {{Series: "s/a", Value: 20.5}},
		`{"a":NaN,"b":-3}`:                            {{Series: "s/b", Value: -3}},
		`{"a":-Infinity, "b":Infinity}`:               nil,
		`{"a":-nan,"b":1,"x":"nan , inf:nan \" nan"}`: {{Series: "s/b", Value: 1}},
		`{"a":nano,"b":1}`:                            nil,
		`{"a":1nan,"b":1}`:                            nil,
	} {
		got, _ := one(t, Rule{Value: "{p}", Sensor: "{sensor}/{p}", Max: ptr(100.)}, in)
		n := 0
		for _, r := range got {
			if n < len(want) && r.Series == want[n].Series && r.Value == want[n].Value {
				n++
			}
		}
		if n != len(want) || len(got) != n {
			t.Errorf("%s = %+v, want %+v", in, got, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		what string
		rule Rule
		in   string
		ok   bool
	}{
		{"85 without reject", Rule{}, "85", true},
		{"85", Rule{Reject: []float64{85}}, "85", false},
		{"near 85", Rule{Reject: []float64{85}}, "85.0625", true},
		{"-127 within min", Rule{Reject: []float64{-127}, Min: ptr(-200.)}, "-127", false},
		{"327.67", Rule{Reject: []float64{327.67}, Max: ptr(400.)}, "327.67", false},
		{"327.67 as float32", Rule{Reject: []float64{327.67}, Max: ptr(400.)}, "327.670013427734375", false},
		{"raw before scale", Rule{Reject: []float64{32767}, Scale: 0.01, Max: ptr(400.)}, "32767", false},
		{"after scale", Rule{Reject: []float64{327.67}, Scale: 0.01, Max: ptr(400.)}, "32767", false},
		{"raw fahrenheit", Rule{Reject: []float64{185}, Unit: "F"}, "185", false},
		{"celsius of fahrenheit", Rule{Reject: []float64{85}, Unit: "F"}, "185", false},
		{"below min in celsius", Rule{Unit: "F", Min: ptr(0.)}, "31", false},
		{"at min in celsius", Rule{Unit: "F", Min: ptr(0.)}, "32", true},
		{"zero is a value", Rule{}, "0", true},
	} {
		readings, reasons := one(t, c.rule, c.in)
		if ok := len(readings) == 1; ok != c.ok || !ok && reasons[0] != Range {
			t.Errorf("%s: %v %v, want ok %v", c.what, readings, reasons, c.ok)
		}
	}
}

// TestUnitNamedInFull has units that would be paths which find nothing: 70 °F is never read as 70 °C.
func TestUnitNamedInFull(t *testing.T) {
	for in, want := range map[string]string{
		"Fahrenheit": `unit: "Fahrenheit": write "F"`, "°F": `"°F": write "F"`, "f": `"f": write "F"`, "degC": `write "C"`, "kelvin": `write "K"`,
		"F": "", "C": "", "K": "", "unit": "", "$.F": "", "fahrenheit_unit": "", "a|b": "",
	} {
		faults := Rule{Topic: "t/{sensor}", Value: "v", Unit: in}.Check()
		if len(faults) > 1 || (len(faults) == 1) != (want != "") || want != "" && !strings.Contains(faults[0].Error(), want) {
			t.Errorf("%q: %v, want %q", in, faults, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct {
		in     string
		want   float64
		reason Reason
	}{
		{`{"v":21,"u":"C"}`, 21, 0}, {`{"v":69.8,"u":"F"}`, 21, 0}, {`{"v":294.15,"u":"K"}`, 21, 0}, {`{"v":21,"u":"Cel"}`, 21, 0},
		{`{"v":21}`, 21, 0}, {`{"v":21,"u":null}`, 21, 0}, {`{"v":21,"u":""}`, 21, 0}, {`{"v":"69.8 °F","u":"C"}`, 21, 0},
		{`{"v":45,"u":"%RH"}`, -1000, Value}, {`{"v":21,"u":{}}`, -1000, Decode}, {`{"v":null,"u":"%RH"}`, -1000, NoValue},
	} {
		readings, reasons := one(t, Rule{Value: "v", Unit: "u"}, c.in)
		if len(readings) == 1 {
			readings[0].Value = math.Round(readings[0].Value*1e9) / 1e9
		}
		verifyNumber(t, c.in, readings, reasons, c.want, c.reason)
	}
	readings, _ := one(t, Rule{Scale: 0.1}, "211")
	if readings[0].Value != 21.1 {
		t.Errorf("211 x 0.1 = %v, want exactly 21.1", readings[0].Value)
	}
}
