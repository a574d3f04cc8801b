package reading

import (
	"strings"
	"testing"
)

func TestSensors(t *testing.T) {
	for _, c := range []struct{ sensor, in, want string }{
		{"", `{"v":1}`, "s=1"},
		{"fixed", `{"v":1}`, "fixed=1"},
		{"{sensor}/{id}", `{"v":1,"id":"a"}`, "s/a=1"},
		{"{id|sensor}", `{"v":1}`, "s=1"},
		{"{id}", `{"v":1,"id":1234}`, "1234=1"},
		{"{id}", `{"v":1,"id":1.5e3}`, "1500=1"},
		{"{id}", `{"v":1,"id":12345678901234567890}`, "12345678901234567890=1"},
		{"{a.b}", `{"v":1,"a":{"b":"x"}}`, "x=1"},
		{"{id}", `{"v":1,"id":"a b,c=d \"q\" 温度"}`, `a b,c=d "q" 温度=1`},
		{"{id}", `{"v":1,"id":" "}`, " =1"},
		{"{id}", `{"v":1,"id":"a\\,b"}`, `a\,b=1`},
		{"{id}", `{"v":1}`, "decode"}, {"{id}", `{"v":1,"id":""}`, "decode"}, {"{id}", `{"v":1,"id":null}`, "decode"},
		{"{id}", `{"v":1,"id":true}`, "decode"}, {"{id}", `{"v":1,"id":{}}`, "decode"},
		{"{id}", `{"v":1,"id":"C:\\"}`, "decode"}, {"{id}", `{"v":1,"id":"a\nb"}`, "decode"}, {"{id}", `{"v":1,"id":"a\u0000b"}`, "decode"},
		{"{id}", `{"v":1,"id":"a\u007f"}`, "decode"}, {"{id}", `{"v":1,"id":"a\u0085b"}`, "decode"},
		{"{id}", "{\"v\":1,\"id\":\"a\xff\"}", "decode"}, {"{id}", `{"v":1,"id":"\ud800"}`, "decode"},
		{"{id}", `{"v":1,"id":"` + strings.Repeat("x", 256) + `"}`, strings.Repeat("x", 256) + "=1"},
		{"{id}", `{"v":1,"id":"` + strings.Repeat("x", 257) + `"}`, "decode"},
	} {
		if got := summary(one(t, Rule{Value: "v", Sensor: c.sensor}, c.in)); got != c.want {
			t.Errorf("%q of %s = %q, want %q", c.sensor, c.in, got, c.want)
		}
	}
}

func TestTags(t *testing.T) {
	r := Rule{Value: "v", Tags: []Tag{{"room", "{room}"}, {"hall", "h-{sensor}"}}}
	for in, want := range map[string]string{
		`{"v":1,"room":"r1"}`:      "s;hall;h-s;room;r1=1",
		`{"v":1,"room":5}`:         "s;hall;h-s;room;5=1",
		`{"v":1}`:                  "s;hall;h-s=1",
		`{"v":1,"room":"r\\"}`:     "decode",
		`{"v":1,"room":"r\u0000"}`: "decode",
	} {
		if got := summary(one(t, r, in)); got != want {
			t.Errorf("%s = %q, want %q", in, got, want)
		}
	}
}

// TestStaticBadSensor has the bad id in the topic, where it is found once and refused every time.
func TestStaticBadSensor(t *testing.T) {
	d := compileOne(t, Rule{Topic: "t/{s}/x", NotBefore: NoTime})
	for _, topic := range []string{"t//x", "t//x", `t/a\/x`, "t/\xff/x"} {
		if got := summary(outcome(d, Message{Topic: topic, Payload: []byte("1"), Arrival: 1})); got != "decode" {
			t.Errorf("%q = %q, want decode", topic, got)
		}
	}
}

// TestAllFaults has two bad rules: every fault of both must be told, with its source.
func TestAllFaults(t *testing.T) {
	_, err := Compile([]Rule{{Topic: "a/{s}", QoS: 2, Zone: "x"}, {Topic: "ok/{s}"}, {Name: "cold", Topic: "#/a", Sensor: "x"}}, 0)
	want := []string{"source 1: qos: ", "source 1: zone: ", `source 3 ("cold"): topic: `}
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d faults, want %d:\n%v", len(lines), len(want), err)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("fault %q, want %q…", lines[i], want[i])
		}
	}
}
