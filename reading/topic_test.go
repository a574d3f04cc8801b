package reading

import (
	"slices"
	"strings"
	"testing"
)

func TestTopics(t *testing.T) {
	for _, c := range []struct {
		topic, filter string
		match         map[string]string // topic to captures joined by |, "no" if it does not fit
	}{
		{"sensors/{s}/temperature", "sensors/+/temperature", map[string]string{"sensors/a/temperature": "a", "sensors/a/b/temperature": "no",
			"sensors//temperature": "", "sensors/a/temperature/x": "no", "x/sensors/a/temperature": "no"}},
		{"a/+/{b}", "a/+/+", map[string]string{"a/x/y": "y", "a/x": "no"}},
		{"a/#", "a/#", map[string]string{"a": "", "a/b/c": "", "ab": "no"}},
		{"#", "#", map[string]string{"a": "", "a/b": "", "$SYS/x": "no"}},
		{"{x}/b", "+/b", map[string]string{"a/b": "a", "$SYS/b": "no"}},
		{"+/b", "+/b", map[string]string{"a/b": "", "$SYS/b": "no"}},
		{"{all...}", "#", map[string]string{"a": "a", "a/b": "a/b", "$SYS/b": "no"}},
		{"z/{d...}", "z/#", map[string]string{"z/a": "a", "z/a/b/c": "a/b/c", "z": "no"}},
		{"z/{d...}/temperature", "z/#", map[string]string{"z/a/b/temperature": "a/b", "z/temperature": "no", "z/a/temperature/x": "no"}},
		{"z/{d...}/{k}", "z/#", map[string]string{"z/a/b/c": "a/b|c", "z/a": "no"}},
		{"{d}/status/temperature:{ch}", "+/status/+", map[string]string{"s/status/temperature:100": "s|100", "s/status/temperature:": "no", "s/status/humidity:0": "no"}},
		{"a/x{n}y", "a/+", map[string]string{"a/x12y": "12", "a/xy": "no", "a/x12": "no"}},
		{"/devices/{d}/controls/{c}", "/devices/+/controls/+", map[string]string{"/devices/w/controls/28-0": "w|28-0", "devices/w/controls/28-0": "no"}},
		{"$aws/things/{t}/shadow", "$aws/things/+/shadow", map[string]string{"$aws/things/f/shadow": "f"}},
		{"$share/hall/sensors/{s}/temperature", "$share/hall/sensors/+/temperature", map[string]string{"sensors/a/temperature": "a", "$share/hall/sensors/a/temperature": "no"}},
		{"$share/hall/#", "$share/hall/#", map[string]string{"a/b": "", "$SYS/x": "no"}},
		{"devices/device 1/{m}", "devices/device 1/+", map[string]string{"devices/device 1/x": "x"}},
	} {
		p, err := parseTopic(c.topic)
		if err != nil {
			t.Errorf("%s: %v", c.topic, err)
			continue
		}
		if p.filter() != c.filter {
			t.Errorf("%s: filter %s, want %s", c.topic, p.filter(), c.filter)
		}
		for topic, want := range c.match {
			caps, ok := p.match(topic)
			if ok != (want != "no") || ok && strings.Join(caps, "|") != want {
				t.Errorf("%s: match(%s) = %q, %v; want %s", c.topic, topic, caps, ok, want)
			}
		}
	}
}

func TestFilters(t *testing.T) {
	d := compileOne(t,
		Rule{Topic: "b/{s}", QoS: 0}, Rule{Topic: "a/{s...}", QoS: 1}, Rule{Topic: "b/{other}", QoS: 1, Name: "second"}, Rule{Topic: "a/{s...}/x", QoS: 0})
	want := []Filter{{"b/+", 1}, {"a/#", 1}}
	if got := d.Filters(); !slices.Equal(got, want) {
		t.Errorf("Filters() = %v, want %v", got, want)
	}
	if d.SourceName(0) != "source 1" || d.SourceName(2) != "second" {
		t.Errorf("names %q and %q", d.SourceName(0), d.SourceName(2))
	}
}

// What agents say of themselves is nobody's reading, unless a source asks for it by name.
func TestStatusOfAgents(t *testing.T) {
	for _, c := range []struct {
		source, topic string
		taken         bool
	}{
		{"{sensor...}", "edgeagent/gw-07/status", false},
		{"+/{sensor}/+", "edgeagent/gw-07/status", false},
		{"$share/g/{sensor...}", "edgeagent/gw-07-1of2/status", false},
		{"edgeagent/{sensor}/status", "edgeagent/gw-07/status", true},
		{"$share/g/edgeagent/{sensor...}", "edgeagent/gw-07/status", true},
		{"{sensor...}", "edgeagent/gw-07/temperature", true},
		{"{sensor...}", "edgeagent/a/b/status", true},
		{"{sensor...}", "edgeagent//status", true},
		{"{sensor...}", "edgeagent/status", true},
		{"{sensor...}", "site/edgeagent/gw-07/status", true},
	} {
		d, err := Compile([]Rule{{Topic: c.source, Format: "text", Sensor: "x", NotBefore: NoTime}}, NoTime)
		if err != nil {
			t.Fatal(err)
		}
		var res Result
		d.Decode(Message{Topic: c.topic, Payload: []byte(`{"state":"online"}`)}, &res)
		if got := len(res.Readings) + len(res.Refusals); got != 0 != c.taken || d.SourceOf(c.topic) != NoSource != c.taken {
			t.Errorf("source %s, topic %s: %d readings and refusals, taken %v, want %v", c.source, c.topic, got, got != 0, c.taken)
		}
	}
}
