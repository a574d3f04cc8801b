package reading

import (
	"fmt"
	"strings"
	"testing"
)

// The instant that the field reports count from: 2023-11-14T22:15:00Z.
const t0 = int64(1700000100)

// A trialStep is one message of a trial and what must become of it: readings as sensor@+seconds=value, "arrival" in place of the
// time, and reasons.
type trialStep struct{ in, want string }

// trialOutcome decodes one payload that came on topic t/s at t0+60 s.
func trialOutcome(t *testing.T, rule Rule, payload string) string {
	t.Helper()
	if rule.Topic == "" {
		rule.Topic = "t/{sensor}"
	}
	rule.NotBefore = NoTime
	d := compileOne(t, rule)
	readings, reasons := outcome(d, Message{Topic: "t/s", Payload: []byte(payload), Arrival: (t0 + 60) * 1e9})
	var parts []string
	for _, r := range readings {
		when := fmt.Sprintf("+%g", float64(r.Time-t0*1e9)/1e9)
		if r.ArrivalTimed {
			when = "arrival"
		}
		parts = append(parts, fmt.Sprintf("%s@%s=%.4g", r.Series.Sensor(), when, r.Value))
	}
	for _, r := range reasons {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, " ")
}

// TestTrials has what people have met in the field, each as the messages that showed it.
func TestTrials(t *testing.T) {
	text, temp := Rule{Format: "text"}, Rule{Value: "temp"}
	timed := Rule{Value: "v", Time: "t"}
	for _, c := range []struct {
		what  string
		rule  Rule
		steps []trialStep
	}{
		{"G1 bare nan", temp, []trialStep{
			{`{"temp":nan}`, "no_value"}, {`{"temp":null}`, "no_value"}, {`{"temp":"nan"}`, "no_value"}, {`nan`, "no_value"},
			{`{"temp":20.5,"hum":nan}`, "s@arrival=20.5"},
		}},
		{"G2 text in many shapes", text, []trialStep{
			{"21.5", "s@arrival=21.5"}, {" 21.5 ", "s@arrival=21.5"}, {"21,5", "s@arrival=21.5"}, {"1.234,5", "value"},
			{"21.5 °C", "s@arrival=21.5"}, {"N", "value"}, {"unknown", "no_value"}, {"unavailable", "no_value"}, {"", "no_value"},
			{"true", "value"}, {"[21.5]", "value"}, {"0x15", "value"}, {"1e1", "s@arrival=10"}, {"Infinity", "value"}, {"+21.5", "s@arrival=21.5"},
		}},
		{"G2 JSON of many types", temp, []trialStep{
			{`{"temp":"21,5"}`, "s@arrival=21.5"}, {`{"temp":true}`, "decode"}, {`{"temp":[21.5]}`, "decode"}, {`{"temp":"0x15"}`, "value"},
			{`{"temp":"Infinity"}`, "value"}, {`{"temp":""}`, "no_value"}, {`{"temp":"N"}`, "value"},
		}},
		{"G3 sentinels, as given", text, []trialStep{
			{"20.1", "s@arrival=20.1"}, {"85", "s@arrival=85"}, {"-127", "range"}, {"1000", "range"}, {"-1000", "range"},
			{"327.67", "range"}, {"-163.84", "range"}, {"0", "s@arrival=0"},
		}},
		{"G3 sentinels, 85 rejected", Rule{Format: "text", Reject: []float64{85}}, []trialStep{
			{"20.1", "s@arrival=20.1"}, {"85", "range"}, {"85.00", "range"}, {"84.5", "s@arrival=84.5"}, {"85.5", "s@arrival=85.5"},
		}},
		{"G3 limits of one sensor", Rule{Format: "text", Min: ptr(-30.), Max: ptr(60.)}, []trialStep{
			{"60", "s@arrival=60"}, {"60.01", "range"}, {"-30", "s@arrival=-30"}, {"-31", "range"},
		}},
		{"G5 a clock not set yet", timed, []trialStep{
			{`{"v":20,"t":188}`, "s@arrival=20"}, {`{"v":20,"t":3600}`, "s@arrival=20"}, {`{"v":20,"t":"1970-01-01T00:00:32"}`, "s@arrival=20"},
			{fmt.Sprintf(`{"v":20,"t":%d}`, t0+40), "s@+40=20"},
		}},
		{"G5 times required", Rule{Value: "v", Time: "t", TimeRequired: true}, []trialStep{
			{`{"v":20,"t":188}`, "time"}, {`{"v":20}`, "time"}, {fmt.Sprintf(`{"v":20,"t":%d}`, t0+40), "s@+40=20"},
		}},
		{"G6 units of time", timed, []trialStep{
			{`{"v":1,"t":1700000110}`, "s@+10=1"}, {`{"v":1,"t":1700000110000}`, "s@+10=1"}, {`{"v":1,"t":1700000110000000}`, "s@+10=1"},
			{`{"v":1,"t":1700000110000000000}`, "s@+10=1"}, {`{"v":1,"t":"1700000110"}`, "s@+10=1"}, {`{"v":1,"t":1700000110.5}`, "s@+10.5=1"},
			{`{"v":1,"t":1.70000011e9}`, "s@+10=1"}, {`{"v":1,"t":17000001100}`, "future"}, {`{"v":1,"t":-5}`, "s@arrival=1"}, {`{"v":1,"t":1e400}`, "future"},
		}},
		{"G6 milliseconds said to be seconds", Rule{Value: "v", Time: "t", TimeFormat: "unix"}, []trialStep{
			{`{"v":1,"t":1700000100000}`, "future"}, {`{"v":1,"t":1700000110}`, "s@+10=1"},
		}},
		{"G10 cached values", Rule{Value: "temp", Time: "last_seen"}, []trialStep{
			{fmt.Sprintf(`{"temp":21.5,"last_seen":%d,"battery":90}`, t0+10), "s@+10=21.5"},
			{fmt.Sprintf(`{"temp":21.5,"last_seen":%d,"battery":89}`, t0+10), "s@+10=21.5"}, // the same reading: a duplicate by the ledger
			{`{"temp":21.5,"battery":89}`, "s@arrival=21.5"},
		}},
		{"G12 a field that is missing is not zero", temp, []trialStep{
			{`{"humidity":40}`, "no_value"}, {`{}`, "no_value"}, {`{"temp":{}}`, "decode"}, {`{"Temp":20}`, "no_value"},
			{`{"temp":20,"TEMP":99}`, "s@arrival=20"}, {`{"temp":-3}`, "s@arrival=-3"}, {`{"temp":-2}`, "s@arrival=-2"},
		}},
		{"G14 the unit in the payload", Rule{Value: "temp", Unit: "TempUnit", Min: ptr(-30.), Max: ptr(60.)}, []trialStep{
			{`{"temp":21,"TempUnit":"C"}`, "s@arrival=21"}, {`{"temp":69.8,"TempUnit":"F"}`, "s@arrival=21"}, {`{"temp":69.8}`, "range"},
			{`{"temp":294.15,"TempUnit":"K"}`, "s@arrival=21"}, {`{"temp":21,"TempUnit":"bar"}`, "value"},
		}},
		{"G14 two units in one payload", Rule{Value: "tempc"}, []trialStep{{`{"tempc":21,"tempf":69.8}`, "s@arrival=21"}, {`{"tempf":69.8}`, "no_value"}}},
		{"E1 readings from the future are the agent's to judge, within 64 bits", timed, []trialStep{
			{fmt.Sprintf(`{"v":21,"t":%d}`, t0+7200), "s@+7200=21"}, {`{"v":22,"t":"2033-11-14T22:15:00Z"}`, "s@+3.156192e+08=22"},
			{`{"v":22,"t":"2262-04-12T00:00:00Z"}`, "future"}, {`{"v":22,"t":"9999-12-31T23:59:59Z"}`, "future"},
		}},
	} {
		for _, s := range c.steps {
			if got := trialOutcome(t, c.rule, s.in); got != s.want {
				t.Errorf("%s: %s = %q, want %q", c.what, s.in, got, s.want)
			}
		}
	}
}

// TestStatusChatter has what a wildcard brings beside readings: all is refused, none becomes a sensor.
func TestStatusChatter(t *testing.T) {
	d := compileOne(t, Rule{Preset: "zigbee2mqtt", NotBefore: NoTime}, Rule{Preset: "tasmota", NotBefore: NoTime}, Rule{Preset: "shelly-gen2", NotBefore: NoTime},
		Rule{Preset: "ruuvi", NotBefore: NoTime}, Rule{Preset: "domoticz", NotBefore: NoTime})
	chatter := []Message{
		{Topic: "zigbee2mqtt/bridge/state", Payload: []byte(`{"state":"online"}`)},
		{Topic: "zigbee2mqtt/bridge/logging", Payload: []byte(`{"level":"info","message":"MQTT publish: topic 'zigbee2mqtt/a', payload '{\"temperature\":21}'"}`)},
		{Topic: "zigbee2mqtt/bridge/devices", Payload: []byte(`[{"friendly_name":"a","definition":{"exposes":[{"property":"temperature"}]}}]`)},
		{Topic: "zigbee2mqtt/a/availability", Payload: []byte("online")}, {Topic: "zigbee2mqtt/a/set", Payload: []byte(`{"state":"ON"}`)},
		{Topic: "tele/a/SENSOR", Payload: []byte(`{"Time":"2026-11-04T08:01:10","Switch1":"OFF","ENERGY":{"Power":5}}`)},
		{Topic: "shelly/events/rpc", Payload: []byte(`{"method":"NotifyEvent","params":{"ts":1793779270.62,"events":[{"event":"config_changed"}]}}`)},
		{Topic: "ruuvi/AA/gw_status", Payload: []byte(`{"state":"online"}`)},
		{Topic: "domoticz/out", Payload: []byte(`{"dtype":"Light/Switch","idx":9,"nvalue":1,"svalue1":"20"}`)},
	}
	var res Result
	for i := range 600 {
		m := chatter[i%len(chatter)]
		m.Arrival = (t0 + int64(i)) * 1e9
		if d.Decode(m, &res); len(res.Readings) != 0 || len(res.Refusals) == 0 {
			t.Fatalf("%s %s: %+v", m.Topic, m.Payload, res)
		}
	}
}
