package reading

import (
	"fmt"
	"testing"
)

// TestSeveralSources has rules that share a topic.
func TestSeveralSources(t *testing.T) {
	rule := func(value, sensor string) Rule {
		return Rule{Topic: "t/{s}", Value: value, Sensor: sensor, NotBefore: NoTime}
	}
	each := func(each string) Rule {
		return Rule{Topic: "t/{s}", Each: each, Value: "v", Sensor: "x", NotBefore: NoTime}
	}
	for _, c := range []struct {
		what  string
		rules []Rule
		in    string
		want  string
	}{
		{"both yield", []Rule{rule("a", "{s}/a"), rule("b", "{s}/b")}, `{"a":1,"b":2}`, "s/a=1 s/b=2"},
		{"one yields: no refusal", []Rule{rule("a", "{s}/a"), rule("b", "{s}/b")}, `{"b":2}`, "s/b=2"},
		{"none yields: one refusal", []Rule{rule("a", "{s}/a"), rule("b", "{s}/b")}, `{}`, "no_value"},
		{"none decodes: one refusal", []Rule{rule("a", "{s}/a"), rule("b", "{s}/b")}, `{`, "decode"},
		{"alike: one reading", []Rule{rule("a", "{s}"), rule("b", "{s}")}, `{"a":1,"b":1.0}`, "s=1"},
		{"other value: two readings", []Rule{rule("a", "{s}"), rule("b", "{s}")}, `{"a":1,"b":2}`, "s=1 s=2"},
		{"repeats within one source stay", []Rule{rule("[*]", "{s}"), rule("[0]", "{s}")}, `[1,1,2]`, "s=1 s=1 s=2"},
		{"refusals beside readings go", []Rule{rule("[*]", "{s}"), rule("x", "{s}")}, `[1,null]`, "s=1"},
		{"refusals beside readings of the only source stay", []Rule{rule("[*]", "{s}")}, `[1,null]`, "s=1 no_value"},
		{"the first source that found records", []Rule{each("a[*]"), each("b[*]"), each("c[*]")}, `{"b":[{"v":"x"},{"v":null}],"c":[{"v":1e9}]}`, "value no_value"},
		{"no source found records", []Rule{each("a[*]"), each("b[*]")}, `{}`, "decode"},
	} {
		d := compileOne(t, c.rules...)
		for range 2 { // the second run uses the caches
			if got := summary(outcome(d, Message{Topic: "t/s", Payload: []byte(c.in), Arrival: 1})); got != c.want {
				t.Errorf("%s: %q, want %q", c.what, got, c.want)
			}
		}
	}
}

func TestNoSource(t *testing.T) {
	d := compileOne(t, Rule{Topic: "t/{s}", NotBefore: NoTime})
	res := Result{Readings: []Reading{{Value: 1}}, Refusals: []Refusal{{}}}
	d.Decode(Message{Topic: "other", Payload: []byte("1")}, &res)
	if len(res.Readings)+len(res.Refusals) != 0 {
		t.Errorf("result %+v, want none", res)
	}
}

// TestCachesDrop goes past the bounds of both caches: what is decoded must not change.
func TestCachesDrop(t *testing.T) {
	d := compileOne(t, Rule{Topic: "t/{s}", Value: "v", Sensor: "{s}/{id}", NotBefore: NoTime})
	var res Result
	for i := range maxCached + 10 {
		d.Decode(Message{Topic: fmt.Sprint("t/", i), Payload: fmt.Appendf(nil, `{"v":1,"id":%d}`, i), Arrival: 1}, &res)
		if want := Series(fmt.Sprintf("%d/%d", i, i)); len(res.Readings) != 1 || res.Readings[0].Series != want {
			t.Fatalf("message %d: %+v, want %s", i, res, want)
		}
	}
	if len(d.topics.entries) > 100 || len(d.series.known) > 100 {
		t.Errorf("caches of %d topics and %d series, want few after a drop", len(d.topics.entries), len(d.series.known))
	}
}

// TestNoAllocation holds the promise of the Result's comment.
func TestNoAllocation(t *testing.T) {
	json := compileOne(t, Rule{Topic: "t/{s}", Value: "temperature", Time: "ts", NotBefore: NoTime})
	text := compileOne(t, Rule{Topic: "t/{s}", Format: "text", NotBefore: NoTime})
	for _, c := range []struct {
		d  *Decoder
		in string
	}{{json, `{"ts":1793779270123,"temperature":20.5}`}, {json, `{"temperature":20.5}`}, {text, "21.5 °C"}} {
		m := Message{Topic: "t/s", Payload: []byte(c.in), Arrival: 1793779270e9}
		var res Result
		if n := testing.AllocsPerRun(100, func() { c.d.Decode(m, &res) }); n != 0 || len(res.Readings) != 1 {
			t.Errorf("%s: %v allocations, %+v", c.in, n, res)
		}
	}
}

// TestPanicIsARefusal breaks the decoder on purpose: a message that stops the agent would come back for ever.
func TestPanicIsARefusal(t *testing.T) {
	d := compileOne(t, Rule{Topic: "t/{s}", NotBefore: NoTime})
	d.sources[0].captures = -1
	d.sources[0].value = []path{{rooted: true, steps: []step{{kind: anyStep, slot: 99}}}}
	var res Result
	d.Decode(Message{Topic: "t/s", Payload: []byte(`{"a":1}`)}, &res)
	if len(res.Readings) != 0 || len(res.Refusals) != 1 || res.Refusals[0].Reason != Decode {
		t.Errorf("result %+v, want one refusal", res)
	}
}
