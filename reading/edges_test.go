package reading

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestRuleFaults has one rule for every fault that a key may have, and the words that name it.
func TestRuleFaults(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string // key: words
	}{
		{Rule{}, `topic: "": missing: give a topic or a preset`},
		{Rule{QoS: 2}, "qos: 2: 0 or 1 is allowed"},
		{Rule{Format: "xml"}, `format: "xml": one of json, text, csv, influx, form, senml, sparkplug, msgpack, ruuvi is allowed`},
		{Rule{Retained: "yes"}, "retained: \"yes\": drop_untimed, keep or drop is allowed"},
		{Rule{Each: "a..b"}, "each: path \"a..b\": a step is empty"},
		{Rule{Each: "a[x]"}, "each: path \"a[x]\": [x]: [n] from 0, [*] or [key=value] is allowed"},
		{Rule{Each: "a[-1]"}, "[-1]: [n] from 0"},
		{Rule{Each: "a[0"}, "[ ] does not close"},
		{Rule{Each: "a[0]b"}, "a dot is missing"},
		{Rule{Each: "{s}"}, "each: capture {s} is taken already"},
		{Rule{Each: "{a}.{b}.{c}.{d}.{e}"}, "more than 4 captures"},
		{Rule{Value: "x{1}y"}, `capture name "1"`},
		{Rule{Value: "{a}{b}"}, "one {name}"},
		{Rule{Each: "r[*]", Value: "$.v"}, "value: \"$.v\": begins at the root"},
		{Rule{Columns: []string{"a"}, ColumnsPath: "c"}, "columns: either a list of names or a path"},
		{Rule{ColumnsPath: "c.{x}"}, "columns: \"$.c.{x}\": {name} is for each and value"},
		{Rule{ColumnsPath: "c..d"}, "columns: path"},
		{Rule{Format: "csv", Value: "v", ColumnsPath: "c"}, "columns: a list of names is needed with format csv"},
		{Rule{Sensor: "{"}, "sensor: \"{\": a { without its }"},
		{Rule{Sensor: "a}b"}, "a } without its {"},
		{Rule{Sensor: "{}"}, "name a capture or a path"},
		{Rule{Sensor: "{a[*]}"}, "sensor: \"{a[*]}\": must find one value"},
		{Rule{Sensor: "a\x01"}, "has control characters"},
		{Rule{Scale: math.Inf(1)}, "scale: +Inf: a finite number"},
		{Rule{Unit: "a.{b}"}, "unit: \"a.{b}\": must find one value"},
		{Rule{Time: "{nope}"}, "time: {nope} is no capture"},
		{Rule{Time: "a[*]"}, "time: \"a[*]\": must find one value"},
		{Rule{TimeFormat: "soon"}, "time_format: \"soon\" is neither auto"},
		{Rule{TimeFormat: "2006-01-02 MST"}, "a zone's abbreviation"},
		{Rule{TimeFormat: "2006-01-02"}, "with date, hour and minute"},
		{Rule{Format: "senml", Value: "v", TimeFormat: "unix_ms"}, "SenML times are seconds"},
		{Rule{Zone: "Mars/Olympus"}, "zone: \"Mars/Olympus\": an IANA name"},
		{Rule{Zone: "Local"}, "an IANA name"},
		{Rule{TimeRequired: true}, "time_required: true without a time key"},
		{Rule{Reject: []float64{math.NaN()}}, "reject: [NaN]: finite numbers"},
		{Rule{Min: ptr(5.), Max: ptr(5.)}, "min: 5: must be a number below max"},
		{Rule{Min: ptr(math.NaN())}, "min: NaN"},
		{Rule{Tags: []Tag{{"sensor", "x"}}}, "tags: \"sensor\" is taken"},
		{Rule{Tags: []Tag{{"_x", "x"}}}, "is taken"},
		{Rule{Tags: []Tag{{"a", "x"}, {"a", "y"}}}, "\"a\" is there twice"},
		{Rule{Tags: []Tag{{"a\n", "x"}}}, "has control characters"},
		{Rule{Tags: []Tag{{"", "x"}}}, "is empty"},
		{Rule{Tags: []Tag{{"a", ""}}}, "\"a\" has no value"},
		{Rule{Format: "text", Value: "v"}, "value: \"v\": format text has no paths"},
		{Rule{Format: "text", Each: "v"}, "each: \"v\": format text has no paths"},
		{Rule{Format: "text", Columns: []string{"v"}}, "columns: \"v\": format text has no paths"},
		{Rule{Format: "text", Unit: "u"}, "unit: \"u\": C, F or K is allowed"},
		{Rule{Format: "text", Time: "ts"}, "time: a path, or a capture that topic does not have"},
		{Rule{Format: "text", Sensor: "{id}"}, "sensor: a path, or a capture that topic does not have"},
		{Rule{Unit: "a..b"}, "unit: path"},
		{Rule{Min: ptr(200.)}, "min: 200: must be a number below max, which is 150"},
		{Rule{Format: "influx"}, "value: required with format influx"},
		{Rule{Format: "sparkplug", Value: "v"}, "each: required with format sparkplug"},
	} {
		if !strings.HasPrefix(c.want, "topic") {
			c.rule.Topic = "t/{s}"
		}
		var all []string
		for _, err := range c.rule.Check() {
			all = append(all, strings.TrimPrefix(err.Error(), "source: "))
		}
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%+v: %q, want %q", c.rule, all, c.want)
		}
	}
	_, err := Compile([]Rule{{Topic: "a", Name: "x"}, {Topic: "b/{s}"}, {Topic: "c", Scale: math.NaN()}}, 0)
	want := `source 1 ("x"): sensor: required, since the topic has no {capture}
source 3: scale: NaN: a finite number other than 0 is allowed
source 3: sensor: required, since the topic has no {capture}`
	if err == nil || err.Error() != want {
		t.Errorf("Compile: %v\nwant %s", err, want)
	}
}

// TestFiltersInTemplates has [key=value], and other steps, where one value is found: in sensor, tags, time and unit.
func TestFiltersInTemplates(t *testing.T) {
	const doc = `{"m":[{"k":"id","v":"s7"},{"k":"at","v":1793779270},{"k":"unit","v":"F"},{"k":5,"v":"five"},{"k":true,"v":"yes"}],
		"one":{"k":"id","v":"alone"},"text":"{\"k\":\"id\",\"v\":\"inner\"}","value":68}`
	for _, c := range []struct {
		what string
		rule Rule
		want string
	}{
		{"sensor", Rule{Sensor: "{m[k=id].v}"}, "s7=68"},
		{"a number as the value of a key", Rule{Sensor: "{m[k=5].v}"}, "five=68"},
		{"a boolean", Rule{Sensor: "{m[k=true].v}"}, "yes=68"},
		{"none fits, then another", Rule{Sensor: "{m[k=no].v|m[0].v}"}, "s7=68"},
		{"an object that fits itself", Rule{Sensor: "{one[k=id].v}"}, "alone=68"},
		{"an object that does not", Rule{Sensor: "{one[k=x].v|m[0].v}"}, "s7=68"},
		{"an object in a text", Rule{Sensor: "{text[k=id].v}"}, "inner=68"},
		{"a text that holds none", Rule{Sensor: "{m[0].k[k=id].v|m[0].v}"}, "s7=68"},
		{"unit", Rule{Sensor: "x", Unit: "m[k=unit].v"}, "x=20"},
		{"tag", Rule{Sensor: "x", Tags: []Tag{{"id", "{m[k=id].v}"}}}, "x;id;s7=68"},
		{"tag that finds nothing", Rule{Sensor: "x", Tags: []Tag{{"id", "{m[k=no].v}"}}}, "x=68"},
		{"an index too large", Rule{Sensor: "{m[9].v|m[0].v}"}, "s7=68"},
		{"sensor that finds nothing", Rule{Sensor: "{m[k=no].v}"}, "decode"},
	} {
		c.rule.Value = "value"
		if got := summary(one(t, c.rule, doc)); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	readings, _ := one(t, Rule{Value: "value", Sensor: "x", Time: "m[k=at].v"}, doc)
	if len(readings) != 1 || readings[0].Time != 1793779270e9 {
		t.Errorf("time by a filter: %+v", readings)
	}
}

func TestSeries(t *testing.T) {
	for _, c := range []struct {
		sensor string
		tags   []Tag
		want   Series
	}{
		{"a", nil, "a"}, {"a b", []Tag{{"k", "v"}}, "a b\x00k\x00v"}, {"a", []Tag{{"k", "v"}, {"l", "w x"}}, "a\x00k\x00v\x00l\x00w x"},
	} {
		s := MakeSeries(c.sensor, c.tags)
		if s != c.want || s.Sensor() != c.sensor || !slices.Equal(s.Tags(), c.tags) {
			t.Errorf("%q %v = %q, %q %v", c.sensor, c.tags, s, s.Sensor(), s.Tags())
		}
	}
	if MakeSeries("a", []Tag{{"z", "1"}}) >= MakeSeries("a b", nil) || MakeSeries("a", nil) >= MakeSeries("a", []Tag{{"b", ""}}) {
		t.Error("series are not in the order of their sensors, then tags")
	}
}

func TestReasonNames(t *testing.T) {
	want := "decode no_value value range time future clock sensors overflow too_big unknown"
	var got []string
	for r := range NumReasons + 1 {
		got = append(got, r.String())
	}
	if strings.Join(got, " ") != want {
		t.Errorf("reasons %v, want %s", got, want)
	}
}

// TestEdges has payloads at the rims of the formats.
func TestEdges(t *testing.T) {
	senml := Rule{Format: "senml", Value: "v", Sensor: "{n}", Time: "t"}
	ruuvi := Rule{Format: "ruuvi", Value: "temperature"}
	for _, c := range []struct {
		what string
		rule Rule
		in   string
		want string
	}{
		{"base alone after a record", senml, `[{"n":"a","v":1},{"bn":"x"},{"n":"b","v":2}]`, "a=1 xb=2"},
		{"a time too far back for its base", senml, `[{"n":"a","v":1,"bt":-9e9,"t":-9e9}]`, "a=1"},
		{"a boolean value", senml, `[{"n":"a","vb":true}]`, "no_value"},
		{"cbor boolean value", senml, "\x81\xa2\x00\x61a\x04\xf5", "no_value"},
		{"cbor decimal fraction of texts", senml, "\x81\xa2\x00\x61a\x02\xc4\x82\x61x\x61y", "no_value"},
		{"cbor other tag", senml, "\x81\xa2\x00\x61a\x02\xc1\x05", "no_value"},
		{"cbor with a text label", senml, "\x81\xa3\x00\x61a\x02\x05\x61z\x05", "a=5"},
		{"ruuvi 3 with no hundredths", ruuvi, `{"data":"06FF9904032905"}`, "no_value"},
		{"ruuvi 3 with a hundredth too many", ruuvi, `{"data":"07FF990403290564"}`, "no_value"},
		{"ruuvi 3", ruuvi, `{"data":"07FF990403290563"}`, "s=5.99"},
		{"ruuvi 4, a link", ruuvi, `{"data":"07FF990404290563"}`, "no_value"},
		{"ruuvi behind another field", ruuvi, `{"data":"0201060302AABB07FF990405006400"}`, "s=0.5"},
		{"ruuvi with a length of 0", ruuvi, `{"data":"0007FF9904050064"}`, "no_value"},
		{"layout that does not fit", Rule{Value: "v", Time: "t", TimeFormat: "02.01.2006 15:04", TimeRequired: true}, `{"v":1,"t":"2026-11-04 08:01"}`, "time"},
		{"kelvin by rule", Rule{Unit: "K"}, `300.15`, "s=27"},
		{"a unit that is empty", Rule{Value: "v", Unit: "u"}, `{"v":1,"u":" "}`, "s=1"},
		{"a list of columns that is none", Rule{Each: "r[*]", ColumnsPath: "names", Value: "v", Sensor: "x"}, `{"names":5,"r":[[1]]}`, "no_value"},
		{"names behind [*]", Rule{Each: "r[*]", ColumnsPath: "f[*].name", Value: "v", Sensor: "x"}, `{"f":[{"name":"u"},{"name":"v"}],"r":[[1,2],[3,4]]}`, "x=2 x=4"},
		{"columns but no row", Rule{Columns: []string{"v"}, Value: "v"}, `{"v":1}`, "decode"},
		{"JSON too deep", Rule{}, strings.Repeat("[", 300) + strings.Repeat("]", 300), "decode"},
		{"JSON just deep enough", Rule{Value: strings.Repeat("[0]", 40)}, strings.Repeat("[", 40) + "5" + strings.Repeat("]", 40), "s=5"},
		{"brackets in a text are no depth", Rule{Value: "v"}, `{"x":"` + strings.Repeat("[", 300) + `","v":5}`, "s=5"},
		{"gzip", Rule{}, "\x1f\x8b\x08\x00", "decode"},
		{"only blanks", Rule{Value: "v"}, " \n\x00", "no_value"},
		{"a very large exponent", Rule{}, "1e99999", "range"},
		{"a tiny one", Rule{}, "1e-99999", "s=0"},
		{"negative zero", Rule{}, "-0.0", "s=0"},
	} {
		if got := summary(one(t, c.rule, c.in)); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
