package reading

import (
	"fmt"
	"strings"
	"testing"
)

// summary is readings as "series=value …", then reasons.
func summary(readings []Reading, reasons []Reason) string {
	var parts []string
	for _, r := range readings {
		parts = append(parts, fmt.Sprintf("%s=%v", strings.ReplaceAll(string(r.Series), "\x00", ";"), r.Value))
	}
	for _, r := range reasons {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, " ")
}

func TestPaths(t *testing.T) {
	for _, c := range []struct{ each, value, sensor, in, want string }{
		{"", "a.b", "", `{"a":{"b":1}}`, "s=1"},
		{"", "a.b", "", `{"a":{"B":1},"b":2}`, "s no_value"},
		{"", "a.b", "", `{"a":5}`, "s no_value"},
		{"", "a.b", "", `[{"a":{"b":1}}]`, "s no_value"},
		{"", "temp", "", `{"Temp":20,"x":{"temp":20},"temps":20}`, "s no_value"},
		{"", "temp", "", `{"temp":20,"TEMP":99}`, "s=20"},
		{"", "temp", "", `{"temp":20,"temp":99}`, "s=20"},
		{"", "a|b", "", `{"a":null,"b":2}`, "s=2"},
		{"", "a|b", "", `{"b":2}`, "s=2"},
		{"", "a|b", "", `{"a":{},"b":2}`, "s decode"},
		{"", "a|b", "", `{"a":null}`, "s no_value"},
		{"", "$.a", "", `{"a":3}`, "s=3"},
		{"", "a[1]", "", `{"a":[1,2]}`, "s=2"},
		{"", "a[2]", "", `{"a":[1,2]}`, "s no_value"},
		{"", "[0].v", "", `[{"v":7}]`, "s=7"},
		{"", "a[0][1]", "", `{"a":[[1,2],3]}`, "s=2"},
		{"", "[*]", "", `[1,null,"x",2]`, "s=1 s=2 no_value value"},
		{"", "a.b", "", `{"a":"{\"b\":4}"}`, "s=4"},
		{"", "a[0]", "", `{"a":"[5]"}`, "s=5"},
		{"", "a[0]", "", `{"a":"[5"}`, "s no_value"},
		{"", `a\.b`, "", `{"a.b":6,"a":{"b":1}}`, "s=6"},
		{"", `a\[0\]`, "", `{"a[0]":6}`, "s=6"},
		{"", `temp\u00e9`, "", `{"tempu00e9":6}`, "s=6"},
		{"", "é", "", `{"\u00e9":6}`, "s=6"},
		{"", "t{n}", "{n}", `{"t1":1,"t2_alarm":2,"t":3,"t22":4,"x1":5,"t-1":6}`, "1=1 22=4"},
		{"", "t{n}c", "{n}", `{"t1c":1,"t2":2}`, "1=1"},
		{"", "o.{k}", "{k}", `{"o":{"a":1,"b":"-","c":[]}}`, "a=1 no_value decode"},
		{"", "o.{k}", "{k}", `{"o":{}}`, "no_value"},
		{"[*]", "v", "{id}", `[{"id":1,"v":1},{"id":2},{"id":3,"v":3}]`, "1=1 3=3 no_value"},
		{"[*]", "v", "{id}", `[]`, "decode"},
		{"[*]", "v", "{id}", `{"v":1}`, "decode"},
		{"[*]", "v", "{id}", `[5,null]`, "no_value no_value"},
		{"r[k=T]", "v", "{id}", `{"r":[{"k":"T","id":"a","v":1},{"k":"H","id":"b","v":2},{"k":"T","id":"c","v":3}]}`, "a=1 c=3"},
		{"r[k=2]", "v", "{id}", `{"r":[{"k":1,"id":"a","v":1},{"k":2,"id":"b","v":2}]}`, "b=2"},
		{"r[n=In/T.1]", "v", "{n}", `{"r":[{"n":"In/T.1","v":1}]}`, "In/T.1=1"},
		{"{p}", "T", "{p}", `{"Time":"x","A":{"T":1},"N":5,"B":{"H":2},"C":null,"U":"C"}`, "A=1 no_value no_value"},
		{"{p}", "T", "{p}", `{"Time":"x","U":"C"}`, "decode"},
		{"{p}", "", "{p}", `{"a":1,"b":"2"}`, "a=1 b=2"},
		{"x[*]|y[*]", "v", "{id}", `{"y":[{"id":"a","v":1}]}`, "a=1"},
		{"x[*].{k}", "v", "{k}", `{"x":[{"a":{"v":1}},{"b":{"v":2},"c":{"v":3}}]}`, "a=1 b=2 c=3"},
		{"d[*]", "v", "{$.site}/{id}", `{"site":"X","d":[{"id":1,"v":1},{"id":2,"v":2}]}`, "X/1=1 X/2=2"},
	} {
		readings, reasons := one(t, Rule{Each: c.each, Value: c.value, Sensor: c.sensor}, c.in)
		if got, want := summary(readings, reasons), strings.TrimPrefix(c.want, "s "); got != want {
			t.Errorf("each %q value %q of %s = %q, want %q", c.each, c.value, c.in, got, want)
		}
	}
}

func TestPathFaults(t *testing.T) {
	for _, path := range []string{"a..b", ".a", "a.", "a[", "a[x]", "a[-1]", "a[1]b", "{}", "{a}{b}", "{1}", "a{", "}", "[=x]", "$.", "{a}.{b}.{c}.{d}.{e}", "a|{"} {
		if got, err := parsePaths(path, new([]string)); err == nil {
			t.Errorf("parsePaths(%q) = %+v, no error", path, got)
		}
	}
}

func TestJSONFaults(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for _, c := range []struct{ in, want string }{
		{`{"v":1`, "decode"}, {`{"v":1}}`, "decode"}, {`{"v":1}{"v":2}`, "decode"}, {`{"v":1} x`, "decode"}, {`{"v":1,}`, "decode"}, {`{'v':1}`, "decode"},
		{`{"v":` + deep + `}`, "decode"}, {`{"v":1,"x":"` + deep + `"}`, "s=1"}, {"{\"v\":1,\"x\":\"a\nb\"}", "decode"},
		{"\xef\xbb\xbf \x00{\"v\":1}\r\n\x00", "s=1"}, {"", "no_value"}, {" \n", "no_value"}, {"null", "no_value"}, {"nan", "no_value"}, {"unavailable", "no_value"},
		{"\x1f\x8b\x08", "decode"},
	} {
		if got := summary(one(t, Rule{Value: "v"}, c.in)); got != c.want {
			t.Errorf("%.40q = %q, want %q", c.in, got, c.want)
		}
	}
}
