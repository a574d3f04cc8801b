package discover

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
)

var arrival = time.Date(2026, 11, 4, 8, 1, 12, 0, time.UTC).UnixNano()

// survey has one message for each "topic payload".
func survey(messages ...string) *Survey {
	s := NewSurvey()
	for _, m := range messages {
		topic, payload, _ := strings.Cut(m, " ")
		s.Add(reading.Message{Topic: topic, Payload: []byte(payload), Arrival: arrival})
	}
	return s
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		what      string
		messages  []string
		want      []reading.Rule
		strangers int
	}{
		{"a preset for all of its topics", []string{
			`zigbee2mqtt/a {"temperature":20.5,"last_seen":"2026-11-04T08:01:10Z"}`, `zigbee2mqtt/b/c {"temperature":-3}`,
			`zigbee2mqtt/bridge/state {"state":"online"}`},
			[]reading.Rule{{Preset: "zigbee2mqtt"}}, 1},
		{"the server's version", []string{
			`application/1/device/0a/event/up {"time":"2026-11-04T08:01:10Z","object":{"temperature":4.5}}`},
			[]reading.Rule{{Preset: "chirpstack4"}}, 0},
		{"the older version", []string{
			`application/1/device/0a/event/up {"rxInfo":[{"time":"2026-11-04T08:01:10Z"}],"object":{"temperature":4.5}}`},
			[]reading.Rule{{Preset: "chirpstack3"}}, 0},
		{"a format of one topic layout", []string{`telegraf/h/modbus modbus,host=h temperature=21.4 1793779270000000000`, `telegraf/h/mem {"fields":{"used":5}}`},
			[]reading.Rule{{Preset: "telegraf"}}, 1},
		{"several", []string{`N/p/temperature/24/Temperature {"value":4}`, `shellies/ht/sensor/temperature 21.4`, `shellies/ht/sensor/humidity 50`},
			[]reading.Rule{{Preset: "victron"}, {Preset: "shelly-gen1"}}, 1},
		{"numbers that are no temperatures", []string{`node/sensor/humidity/state 45`, `node/sensor/attic_temperature/state 20.5`, `node/sensor/cellar_temperature/state 9.5`},
			[]reading.Rule{{Topic: "node/sensor/{sensor}_temperature/state", Format: "text"}}, 1},
		{"one of a kind", []string{`house/kitchen/temperature 20.5`}, []reading.Rule{{Topic: "house/kitchen/temperature", Format: "text", Sensor: "house/kitchen"}}, 0},
		{"by the first level", []string{`a1/temp 20.5`, `b2/temp 21.5`}, []reading.Rule{{Topic: "{sensor}/temp", Format: "text"}}, 0},
		{"two levels", []string{`h/a/x/temp 1`, `h/b/y/temp 2`}, []reading.Rule{{Topic: "h/{level2}/{level3}/temp", Format: "text"}}, 0},
		{"deep in JSON, with a time beside it", []string{
			`plant/l1/data {"d":{"Temp_C":"20,5","ts":1793779270},"n":5}`, `plant/l2/data {"d":{"Temp_C":"21,5","ts":1793779271},"n":6}`},
			[]reading.Rule{{Topic: "plant/{sensor}/data", Value: "d.Temp_C", Time: "d.ts"}}, 0},
		{"Fahrenheit by its key", []string{`plant/l1/data {"tempF":68}`}, []reading.Rule{{Topic: "plant/l1/data", Value: "tempF", Unit: "F", Sensor: "plant/l1"}}, 0},
		{"a key with a dot", []string{`plant/l1/data {"air.temp":20}`}, []reading.Rule{{Topic: "plant/l1/data", Value: `air\.temp`, Sensor: "plant/l1"}}, 0},
		{"a format of any topic", []string{`fleet/g/pack [{"n":"t","u":"Cel","v":23.1}]`}, []reading.Rule{{Preset: "senml", Topic: "fleet/g/pack"}}, 0},
		{"every number of a node, one of them", []string{`node/sensor/attic_temperature/state 20.5`}, []reading.Rule{
			{Topic: "node/sensor/attic_temperature/state", Format: "text", Sensor: "node/attic_temperature"}}, 0},
		{"single items of OPC UA", []string{`opc/w1 [{"NodeId":"ns=2;s=T","DisplayName":"T","Value":{"Value":21.5,"SourceTimestamp":"2026-11-04T08:01:10Z"}}]`},
			[]reading.Rule{{Preset: "opc-ua-samples", Topic: "opc/w1"}}, 0},
		{"a value that its topic tells of", []string{`house/attic/temperature {"val":21.5,"ack":true,"ts":1793779270000,"q":0}`, `house/attic/humidity {"val":40,"ts":1793779270000}`},
			[]reading.Rule{{Topic: "house/attic/temperature", Value: "val", Time: "ts", Sensor: "house/attic"}}, 1},
		{"a sensor that must be named", []string{`v1/devices/me/telemetry {"temperature":22.5}`}, []reading.Rule{{Preset: "thingsboard", Sensor: "change-me"}}, 0},
		{"nothing", []string{`a/status online`, `b/x {"on":true}`, `c/{odd}/temp 5`, `d `}, nil, 4},
	} {
		groups, strangers := survey(c.messages...).Groups()
		if len(groups) != len(c.want) || len(strangers) != c.strangers {
			t.Errorf("%s: %+v and %+v, want %+v", c.what, groups, strangers, c.want)
			continue
		}
		for i, want := range c.want {
			got := groups[i].Rule
			want.QoS, want.NotBefore = 1, reading.NoTime
			if gotText, wantText := text(got), text(want); gotText != wantText {
				t.Errorf("%s: %s, want %s", c.what, gotText, wantText)
			}
		}
	}
}

func text(r reading.Rule) string {
	b, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Every given sample of a family with a usual topic is found again by a preset or by search, and the rule found reads it.
func TestSamplesAreFound(t *testing.T) {
	f, err := os.Open("../reading/testdata/samples.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, all := 0, 0
	in := bufio.NewScanner(f)
	for in.Scan() {
		var s struct {
			ID, Topic  string
			Payload    *string
			PayloadB64 []byte `json:"payload_b64"`
			Retained   bool
			Expect     []any
		}
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		m := reading.Message{Topic: s.Topic, Payload: s.PayloadB64, Arrival: arrival}
		if len(m.Payload) == 0 && s.Payload != nil {
			m.Payload = []byte(*s.Payload)
		}
		survey := NewSurvey()
		survey.Add(m)
		groups, strangers := survey.Groups()
		if len(groups)+len(strangers) == 0 {
			t.Errorf("%s: lost", s.ID)
		}
		if len(s.Expect) == 0 {
			continue
		}
		all++
		if reads(t, groups, m) {
			found++
		} else {
			t.Logf("%s: not found: %+v", s.ID, strangers)
		}
	}
	t.Logf("%d of %d samples found", found, all)
	if found*10 < all*8 {
		t.Errorf("only %d of %d samples are found", found, all)
	}
}

func reads(t *testing.T, groups []Group, m reading.Message) bool {
	for _, g := range groups {
		d, err := reading.Compile([]reading.Rule{g.Rule}, notBefore)
		if err != nil {
			t.Fatalf("%+v: %v", g.Rule, err)
		}
		var res reading.Result
		if d.Decode(m, &res); len(res.Readings) > 0 {
			return true
		}
	}
	return false
}

func TestHints(t *testing.T) {
	for _, c := range []struct{ message, want string }{
		{`tele/a/SENSOR {"Time":"2026-11-04T09:01:10","SI7021":{"Temperature":20.1},"TempUnit":"C"}`, "times are 1h0m0s from the arrival"},
		{`tele/a/SENSOR {"Time":"2026-11-04T08:01:10","SI7021":{"Temperature":20.1},"TempUnit":"C"}`, ""},
		{`tele/a/SENSOR {"Time":"2026-11-04T07:40:10","SI7021":{"Temperature":20.1},"TempUnit":"C"}`, ""}, // no half hour: a late message
		{`v1/devices/me/telemetry {"temperature":22.5}`, "name the sensor"},
	} {
		groups, _ := survey(c.message).Groups()
		if len(groups) != 1 || !strings.Contains(groups[0].Hint, c.want) || c.want == "" && groups[0].Hint != "" {
			t.Errorf("%s: %+v, want the hint %q", c.message, groups, c.want)
		}
	}
}

func TestSurveyIsBounded(t *testing.T) {
	s := NewSurvey()
	for i := range maxTopics + 10 {
		s.Add(reading.Message{Topic: "t/" + string(rune('a'+i%26)) + strings.Repeat("x", i/26%40) + time.Duration(i).String(), Payload: []byte("1")})
	}
	if len(s.topics) != maxTopics || s.Untold != 10 || s.Messages != maxTopics+10 {
		t.Errorf("%d topics, %d untold of %d", len(s.topics), s.Untold, s.Messages)
	}
	one := NewSurvey()
	for i := range 100 {
		one.Add(reading.Message{Topic: "t", Payload: make([]byte, i*200)})
	}
	if kept := one.topics["t"].samples; len(kept) != maxSamples || one.topics["t"].messages != 100 {
		t.Errorf("%d messages kept, want %d", len(kept), maxSamples)
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		topics []string
		want   string
	}{
		{[]string{"a/b"}, "a/b"},
		{[]string{"a/b", "a/c"}, "a/{sensor}"},
		{[]string{"a/probe_1/t", "a/probe_22/t"}, "a/probe_{sensor}/t"},
		{[]string{"a/1_temp", "a/2_temp"}, "a/{sensor}_temp"},
		{[]string{"a/room12", "a/room13"}, "a/{sensor}"},
		{[]string{"a/x_y_x", "a/x_x"}, "a/{sensor}"}, // the ends would overlap
		{[]string{"a/b/c", "d/e/c"}, "{level1}/{level2}/c"},
		{[]string{"a/b", "a/b/c"}, ""}, {[]string{"a/{b}"}, ""}, {[]string{"/a", "/b"}, "/{sensor}"},
	} {
		if got := pattern(c.topics); got != c.want {
			t.Errorf("%q = %q, want %q", c.topics, got, c.want)
		}
	}
}

func TestComments(t *testing.T) {
	s := survey(`zigbee2mqtt/a {"temperature":20.5}`, "odd/x\ny 5")
	groups, strangers := s.Groups()
	got := groups[0].Comment() + Comment(strangers)
	want := `# zigbee2mqtt: 1 topics, 1 messages; e.g. 20.5 °C at 2026-11-04T08:01:12Z
#   zigbee2mqtt/a
# Not recognised: 1 topics. If there is a temperature in one, describe it with topic, value and time.
#   "odd/x\ny"  1 messages  "5"
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
