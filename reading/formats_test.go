package reading

import (
	"encoding/hex"
	"testing"
	"time"
)

func TestCSV(t *testing.T) {
	columns := []string{"sensor", "time", "value"}
	for _, c := range []struct{ in, want string }{
		{"a,2026-11-04 08:01:10,30\r\nb,2026-11-04 08:01:10,29.5\r\n", "a=30 b=29.5"},
		{"a;2026-11-04 08:01:10;21,5", "a=21.5"},
		{" a , 2026-11-04 08:01:10 , 30 ", "a=30"},
		{"\"a,b\",2026-11-04 08:01:10,\"30\"", "a,b=30"},
		{"\"a;b\",2026-11-04 08:01:10,30", "a;b=30"},
		{"a,2026-11-04 08:01:10,30,extra", "a=30"}, {"a,2026-11-04 08:01:10,30,", "a=30"}, {"a,2026-11-04 08:01:10,30,1793779270", "a=30"},
		{"a,2026-11-04 08:01:10,30.5,80", "a=30.5"}, {"a;2026-11-04 08:01:10;30;5", "a=30"},
		{"a,2026-11-04 08:01:10,21,5", "decode"}, {"a,2026-11-04 08:01:10,-3,25\nb,2026-11-04 08:01:10,4.5", "b=4.5 decode"},
		{"a\t2026-11-04 08:01:10\t30\nb\t2026-11-04 08:01:10\t-2.5", "a=30 b=-2.5"},
		{"a\t2026-11-04 08:01:10\t\t7", "no_value"},
		{"a,2026-11-04 08:01:10\nb,2026-11-04 08:01:10,30", "b=30 decode"},
		{"sensor,time,value\na,2026-11-04 08:01:10,30", "a=30 value"},
		{"a,2026-11-04 08:01:10,", "no_value"},
		{"a,\"2026", "decode"}, {"", "no_value"},
	} {
		if got := summary(one(t, Rule{Format: "csv", Columns: columns, Value: "value", Sensor: "{sensor}", Topic: "t/+", Time: "time"}, c.in)); got != c.want {
			t.Errorf("%q = %q, want %q", c.in, got, c.want)
		}
	}
	if got := summary(one(t, Rule{Format: "csv", Value: "[1]", Sensor: "{[0]}"}, "a,1\nb,2")); got != "a=1 b=2" {
		t.Errorf("without columns: %q", got)
	}
	raw := Rule{Topic: "t/+", Format: "csv", Columns: []string{"sensor", "raw"}, Value: "raw", Scale: 0.1, Sensor: "{sensor}"}
	if got := summary(one(t, raw, "a,215,48")); got != "a=21.5" {
		t.Errorf("raw numbers and cells without a name: %q", got)
	}
}

func TestColumnsOfJSON(t *testing.T) {
	r := Rule{Topic: "t/+", Each: "obs.{ts}", ColumnsPath: "names", Value: "temp", Sensor: "{id}", Time: "{ts}"}
	in := `{"names":["id","temp"],"obs":{"2026-11-04T08:00:00Z":["a",1.5],"2026-11-04T08:01:00Z":["b",2.5],"2026-11-04T08:02:00Z":["c"]}}`
	readings, reasons := one(t, r, in)
	if got := summary(readings, reasons); got != "a=1.5 b=2.5 decode" {
		t.Fatalf("got %q", got)
	}
	if readings[1].Time != at(t, "2026-11-04T08:01:00Z") {
		t.Errorf("time of %+v, want that of its key", readings[1])
	}
	if got := summary(one(t, r, `{"obs":{"2026-11-04T08:00:00Z":["a",1.5]}}`)); got != "decode" {
		t.Errorf("no names: %q, want decode", got)
	}
}

func TestInfluxForm(t *testing.T) {
	influx := Rule{Format: "influx", Value: "fields.t", Sensor: "{tags.s}", Time: "timestamp", TimeFormat: "unix_ns"}
	for _, c := range []struct {
		rule     Rule
		in, want string
	}{
		{influx, "m,s=a\\ b t=1.5 1793779270000000000\nm,s=c t=2i 1793779270000000000\nm,s=d t=3u 1793779270000000000", "a b=1.5 c=2 d=3"},
		{influx, `m,s=a t=true 1793779270000000000`, "decode"},
		{influx, `m,s=a t="21,5" 1793779270000000000`, "a=21.5"},
		{influx, `m,s=a t=1`, "a=1"},
		{influx, "m,s=a t=1 1793779270000000000\nm,s=b t= 1793779270000000000", "decode"},
		{influx, "m,s=a t=1 17937792700x", "decode"},
		{influx, "# nothing", "decode"},
		{Rule{Format: "form", Value: "field1", Sensor: "{name}"}, "field1=23%2C5&name=a+b", "a b=23.5"},
		{Rule{Format: "form", Value: "field1"}, "field2=1", "no_value"},
		{Rule{Format: "form", Value: "field1"}, "field1=%zz", "decode"},
		{Rule{Format: "form", Value: "field1"}, "hello", "decode"}, {Rule{Format: "form", Value: "field1"}, "hello&there", "decode"},
		{Rule{Format: "form", Value: "field1"}, "realtime&field1=23.5&&", "s=23.5"}, {Rule{Format: "form", Value: "field1"}, "a=1&field1&", "no_value"},
	} {
		if got := summary(one(t, c.rule, c.in)); got != c.want {
			t.Errorf("%s of %q = %q, want %q", c.rule.Format, c.in, got, c.want)
		}
	}
}

func TestSenML(t *testing.T) {
	r := Rule{Format: "senml", Topic: "t/+", Value: "v", Sensor: "{n}", Unit: "u", Time: "t"}
	arrival := at(t, "2026-11-04T08:01:12Z")
	for _, c := range []struct {
		in, want string
		times    []int64 // ns
	}{
		{`[{"bn":"x:","bu":"K","bt":1.793779270e9,"n":"a","v":294.15},{"n":"b","t":-0.5,"u":"Cel","v":5}]`, "x:a=21 x:b=5", []int64{1793779270e9, 17937792695e8}},
		{`[{"bn":"x","v":1}]`, "x=1", []int64{arrival}},
		{`[{"n":"x","v":1,"t":-60}]`, "x=1", []int64{arrival - 60e9}},
		{`[{"bn":"x:","bv":20,"bt":1793779270},{"n":"a","v":1.5},{"n":"b"}]`, "x:a=21.5 x:b=20", []int64{1793779270e9, 1793779270e9}},
		{`[{"n":"x","u":"%RH","v":45},{"n":"y","vs":"hot"}]`, "value no_value", nil},
		{`[{"n":"x","v":1,"t":1e30}]`, "future", nil},
		{`[{"n":"x","v":1,"t":1793779270,"bt":9e9},{"n":"y","v":2,"t":-9e9}]`, "y=2 future", []int64{arrival}},
		{`[{"n":"x","v":"1"}]`, "decode", nil}, {`[5]`, "decode", nil}, {`{"n":"x","v":1}`, "decode", nil}, {`[]`, "decode", nil},
	} {
		readings, reasons := one(t, r, c.in)
		if got := summary(readings, reasons); got != c.want {
			t.Errorf("%s = %q, want %q", c.in, got, c.want)
			continue
		}
		for i, want := range c.times {
			if readings[i].Time != want {
				t.Errorf("%s: time %v, want %v", c.in, time.Unix(0, readings[i].Time).UTC(), time.Unix(0, want).UTC())
			}
		}
	}
}

// TestBinary has payloads written out by hand from the specifications.
func TestBinary(t *testing.T) {
	senml := Rule{Format: "senml", Value: "v", Sensor: "{n}", Unit: "u"}
	packed := Rule{Format: "msgpack", Value: "v", Sensor: "{s}"}
	for _, c := range []struct {
		what string
		rule Rule
		hex  string
		want string
	}{
		{"cbor float16", senml, "81a2006161" + "02f94d40", "a=21"},
		{"cbor decimal fraction", senml, "81a2006161" + "02c48221" + "190866", "a=21.5"},
		{"cbor integer", senml, "81a2006161" + "0224", "a=-5"},
		{"cbor nan", senml, "81a2006161" + "02f97e00", "no_value"},
		{"cbor cut", senml, "81a2006161" + "02f94d", "decode"},
		{"cbor trailing", senml, "81a2006161" + "022400", "decode"},
		{"msgpack fixint", packed, "82a173a161" + "a17605", "a=5"},
		{"msgpack negative fixint", packed, "82a173a161" + "a176fb", "a=-5"},
		{"msgpack int8", packed, "82a173a161" + "a176d0ee", "a=-18"},
		{"msgpack int16", packed, "82a173a161" + "a176d1ffee", "a=-18"},
		{"msgpack uint8", packed, "82a173a161" + "a176cc15", "a=21"},
		{"msgpack uint64", packed, "82a173a161" + "a176cf0000000000000015", "a=21"},
		{"msgpack float32", packed, "82a173a161" + "a176ca41a8cccd", "a=21.1"},
		{"msgpack float64", packed, "82a173a161" + "a176cb4035800000000000", "a=21.5"},
		{"msgpack text", packed, "82a173d90161" + "a176a432312c35", "a=21.5"},
		{"msgpack nil", packed, "82a173a161" + "a176c0", "no_value"},
		{"msgpack nan", packed, "82a173a161" + "a176ca7fc00000", "no_value"},
		{"msgpack true", packed, "82a173a161" + "a176c3", "decode"},
		{"msgpack ext", packed, "82a173a161" + "a176d40500", "no_value"},
		{"msgpack map32", packed, "df00000002a173a161" + "a17605", "a=5"},
		{"msgpack two objects", packed, "82a173a161a17605" + "82a173a162a17606", "a=5 b=6"},
		{"msgpack cut", packed, "82a173a161" + "a176cb40", "decode"},
		{"msgpack claims much", packed, "dfffffffff", "decode"},
		{"msgpack map as key", packed, "8180c0", "decode"},
		{"msgpack unused", packed, "c1", "decode"},
		{"empty", packed, "", "no_value"},
	} {
		in, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(one(t, c.rule, string(in))); got != c.want {
			t.Errorf("%s = %q, want %q", c.what, got, c.want)
		}
	}
}

func TestMsgpackTimes(t *testing.T) {
	for in, want := range map[string]string{
		"d6ff" + "6aeae646":                   "2026-11-04T08:01:10Z",
		"d7ff" + "1dcd65006aeae646":           "2026-11-04T08:01:10.125Z",
		"c70cff" + "07735940000000006aeae646": "2026-11-04T08:01:10.125Z",
	} {
		ext, err := hex.DecodeString("82a17605a174" + in)
		if err != nil {
			t.Fatal(err)
		}
		readings, reasons := one(t, Rule{Format: "msgpack", Value: "v", Time: "t"}, string(ext))
		if len(readings) != 1 || readings[0].Time != at(t, want) {
			t.Errorf("%s = %+v %v, want %s", in, readings, reasons, want)
		}
	}
}

func TestRuuvi(t *testing.T) {
	r := Rule{Format: "ruuvi", Value: "temperature"}
	for in, want := range map[string]string{
		`{"data":"0201061BFF990405FFFF5394C37C0004FFFC040CAC364200CDE12D00000001"}`:                  "s=-0.005",
		`{"data":"0201061bff99040512fc5394c37c0004fffc040cac364200cde12d00000001","temperature":99}`: "s=24.3",
		`{"data":"0201061BFF9904038000","temperature":20}`:                                           "s=20",
		`{"data":"1DFF9904E1","temperature":null}`:                                                   "no_value",
		`{"data":"zz"}`:         "decode",
		`{"state":"online"}`:    "no_value",
		`{"data":"0201061BFF"}`: "no_value",
		`[1]`:                   "no_value",
	} {
		if got := summary(one(t, r, in)); got != want {
			t.Errorf("%s = %q, want %q", in, got, want)
		}
	}
}
