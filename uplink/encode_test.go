package uplink

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/window"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

const t0 int64 = 1_700_000_100_000_000_000 // 2023-11-14T22:15:00Z

// fold makes an aggregate of values one second apart.
func fold(values ...float64) *window.Aggregate {
	var a window.Aggregate
	for i, v := range values {
		a.Fold(t0+int64(i)*1e9, v)
	}
	return &a
}

func newTestEncoder(t testing.TB, id Identity) *Encoder {
	t.Helper()
	if id.Gateway == "" {
		id.Gateway = "gw-07"
	}
	if id.Measurement == "" {
		id.Measurement = "temperature"
	}
	e, err := NewEncoder(id)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEncoderWindow(t *testing.T) {
	f := func(id Identity, s reading.Series, a *window.Aggregate, want string) {
		t.Helper()
		e := newTestEncoder(t, id)
		got, err := e.Window([]byte("before|"), s, t0, t0+300e9, a, true, false)
		if err != nil || string(got) != "before|"+want {
			t.Errorf("got  %s, %v\nwant before|%s", got, err, want)
		}
	}
	plain := Identity{}
	f(plain, "kamar1", fold(29.5, 30), "temperature,gateway=gw-07,sensor=kamar1 max=30,count=2i 1700000100000000000")
	f(plain, "s", fold(21), "temperature,gateway=gw-07,sensor=s max=21,count=1i 1700000100000000000")
	f(plain, "s", fold(21.5), "temperature,gateway=gw-07,sensor=s max=21.5,count=1i 1700000100000000000")
	f(plain, "s", fold(1e3), "temperature,gateway=gw-07,sensor=s max=1000,count=1i 1700000100000000000")
	f(plain, "s", fold(math.Copysign(0, -1)), "temperature,gateway=gw-07,sensor=s max=0,count=1i 1700000100000000000")
	f(plain, "s", fold(-20.25, -30), "temperature,gateway=gw-07,sensor=s max=-20.25,count=2i 1700000100000000000")
	f(plain, "s", fold(1e21), "temperature,gateway=gw-07,sensor=s max=1e+21,count=1i 1700000100000000000")
	f(Identity{Timestamp: "end", Measurement: "room temp"}, "s", fold(1), `room\ temp,gateway=gw-07,sensor=s max=1,count=1i 1700000400000000000`)
	f(Identity{Update: true}, "s", fold(1), "temperature,gateway=gw-07,sensor=s max=1,count=1i,final=true 1700000100000000000")
	f(Identity{Aggregates: []string{"stddev", "count", "min", "max", "mean", "sum", "first", "last", "min"}}, "s", fold(3, 1, 2),
		"temperature,gateway=gw-07,sensor=s max=3,count=3i,stddev=1,min=1,mean=2,sum=6,first=3,last=2 1700000100000000000")
	e := newTestEncoder(t, plain)
	got, err := e.Window(nil, "s", t0, t0+300e9, fold(1), true, true)
	if want := "temperature,gateway=gw-07,sensor=s max=1,count=1i,final=true 1700000100000000000"; err != nil || string(got) != want {
		t.Errorf("after a point with final=false: got %s, %v\nwant %s", got, err, want)
	}

	tags := Identity{Tags: []reading.Tag{{Key: "Site", Value: "north"}, {Key: "room", Value: "of the gateway"}, {Key: "zone", Value: "4"}}}
	f(tags, reading.MakeSeries("s", []reading.Tag{{Key: "floor", Value: "1"}, {Key: "room", Value: "kitchen"}, {Key: "t", Value: "x"}}), fold(1),
		"temperature,Site=north,floor=1,gateway=gw-07,room=kitchen,sensor=s,t=x,zone=4 max=1,count=1i 1700000100000000000")
}

func TestEncoderLateAndHealth(t *testing.T) {
	e := newTestEncoder(t, Identity{Tags: []reading.Tag{{Key: "site", Value: "a"}}, Timestamp: "end"})
	got, err := e.Late(nil, "kamar1", t0, 3, 17, 812_500_000_000)
	want := "late_drops,gateway=gw-07,sensor=kamar1,site=a count=3i,total=17i,max_lateness_s=812.5 1700000100000000000"
	if err != nil || string(got) != want {
		t.Errorf("Late: got %s, %v\nwant %s", got, err, want)
	}
	got, err = e.Health(nil, t0, []Field{Int("received", 12), Float("lag_s", 2), Bool("clock_trusted", true), Str("version", `v1 "a"`)})
	want = `edgeagent,gateway=gw-07,site=a received=12i,lag_s=2,clock_trusted=true,version="v1 \"a\"" 1700000100000000000`
	if err != nil || string(got) != want {
		t.Errorf("Health: got %s, %v\nwant %s", got, err, want)
	}
}

// An error takes its line out entirely and leaves the neighbours (trial D12).
func TestEncoderErrors(t *testing.T) {
	e := newTestEncoder(t, Identity{Aggregates: []string{"sum"}})
	dst, err := e.Window(nil, "before", t0, t0, fold(1), false, false)
	if err != nil {
		t.Fatal(err)
	}
	before := string(dst)
	f := func(part string, s reading.Series, at int64, a *window.Aggregate) {
		t.Helper()
		var err error
		dst, err = e.Window(dst, s, at, at, a, false, false)
		if string(dst) != before {
			t.Errorf("%q left %q", s, dst)
		}
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "point ") {
			t.Errorf("%q: error %v, want one about %q", s, err, part)
		}
	}
	f(`sensor="x\\"`, `x\`, t0, fold(1))
	f("sensor", "", t0, fold(1))
	f("sensor", "a\nb", t0, fold(1))
	f("sensor", "\xff", t0, fold(1))
	f("out of order", reading.MakeSeries("s", []reading.Tag{{Key: "b", Value: "1"}, {Key: "b", Value: "2"}}), t0, fold(1))
	f("out of order", reading.MakeSeries("s", []reading.Tag{{Key: "gateway", Value: "other"}}), t0, fold(1))
	f("out of order", reading.MakeSeries("s", []reading.Tag{{Key: "sensor", Value: "other"}}), t0, fold(1))
	f("timestamp out of range", "s", reading.NoTime, fold(1))
	f("timestamp out of range", "s", math.MaxInt64, fold(1))
	f(`"sum": +Inf`, "s", t0, fold(math.MaxFloat64, math.MaxFloat64))
	f(`"max": NaN`, "s", t0, &window.Aggregate{Count: 1, Max: math.NaN()})
	if _, err := e.Window(dst, "s", math.MaxInt64, 0, fold(1), false, false); !errors.Is(err, ErrTime) {
		t.Errorf("got %v, want ErrTime", err)
	}
	if dst, err := e.Health(dst, t0, nil); err == nil || string(dst) != before {
		t.Errorf("a line without fields: %q, %v", dst, err)
	}
	if dst, err = e.Health(dst, t0, []Field{Str("a", "\xff")}); err == nil || string(dst) != before {
		t.Errorf("text that is no UTF-8: %q, %v", dst, err)
	}
	dst = append(dst, '\n')
	dst, err = e.Window(dst, "after", t0, t0, fold(2), false, false)
	want := before + "\ntemperature,gateway=gw-07,sensor=after max=2,count=1i,sum=2 1700000100000000000"
	if err != nil || string(dst) != want {
		t.Errorf("after errors: %q, %v", dst, err)
	}
}

func TestNewEncoderRefuses(t *testing.T) {
	f := func(part string, id Identity) {
		t.Helper()
		if _, err := NewEncoder(id); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: error %v, want one with %q", id, err, part)
		}
	}
	f(`unknown name (got "median")`, Identity{Gateway: "g", Measurement: "m", Aggregates: []string{"median"}})
	f(`start or end (got "middle")`, Identity{Gateway: "g", Measurement: "m", Timestamp: "middle"})
	f("invalid tag value", Identity{Gateway: `g\`, Measurement: "m"})
	f("invalid tag value", Identity{Measurement: "m"})
	f("invalid measurement", Identity{Gateway: "g"})
	f("comment", Identity{Gateway: "g", Measurement: "#m"})
	for _, key := range []string{"gateway", "sensor", "time", "_field", "_measurement"} {
		f("reserved", Identity{Gateway: "g", Measurement: "m", Tags: []reading.Tag{{Key: key, Value: "x"}}})
	}
}

// awkward are the sensor names of trial D11 that line protocol can carry.
var awkward = []string{"a b", "a,b", "a=b", `a\,b`, `a\ b`, `\a`, `"q"`, "température/温度", strings.Repeat("n", 256), " ", `a\\b`, "#a", "'"}

// Every name comes back from the reference decoder as it went in, beside its neighbours.
func TestEncoderRoundTrip(t *testing.T) {
	e := newTestEncoder(t, Identity{Measurement: `odd, m=e\asure`})
	var buf []byte
	for i, name := range awkward {
		var err error
		s := reading.MakeSeries(name, []reading.Tag{{Key: "k ,=", Value: name}})
		if buf, err = e.Window(buf, s, t0+int64(i), 0, fold(float64(i), -1.5), false, false); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		buf = append(buf, '\n')
	}
	d := lineprotocol.NewDecoderWithBytes(buf)
	for i, name := range awkward {
		if !d.Next() {
			t.Fatalf("no line for %q", name)
		}
		got, err := decodeLine(d)
		want := fmt.Sprintf(`odd, m=e\asure [gateway=gw-07 k ,==%s sensor=%s] max=%v count=2i %d`, name, name, float64(i), t0+int64(i))
		if err != nil || got != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	if d.Next() {
		t.Error("more lines than were written")
	}
}

// decodeLine prints the line the decoder stands on.
func decodeLine(d *lineprotocol.Decoder) (string, error) {
	m, err := d.Measurement()
	if err != nil {
		return "", err
	}
	var tags []string
	for {
		k, v, err := d.NextTag()
		if err != nil {
			return "", err
		}
		if k == nil {
			break
		}
		tags = append(tags, fmt.Sprintf("%s=%s", k, v))
	}
	text := fmt.Sprintf("%s %v", m, tags)
	for {
		k, v, err := d.NextField()
		if err != nil {
			return "", err
		}
		if k == nil {
			break
		}
		text += fmt.Sprintf(" %s=%s", k, v)
	}
	at, err := d.Time(lineprotocol.Nanosecond, time.Time{})
	return fmt.Sprintf("%s %d", text, at.UnixNano()), err
}
