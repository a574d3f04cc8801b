package reading

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// presetOf is the preset, with what the user adds, for the given samples of a family, or for one sample by its id.
var presetOf = map[string]Rule{
	"zigbee2mqtt": {Preset: "zigbee2mqtt"}, "z2m-attribute-output": {Preset: "zigbee2mqtt-attribute"}, "z2m-attribute-null": {Preset: "zigbee2mqtt-attribute"},
	"tasmota": {Preset: "tasmota", Zone: "Europe/Berlin"}, "tasmota-zigbee-bridge": {Preset: "tasmota-zigbee"},
	"tasmota-root-temperature": {Preset: "tasmota-root", Zone: "Europe/Berlin"},
	"esphome":                  {Preset: "esphome"}, "shelly1-ht": {Preset: "shelly-gen1"}, "shelly1-ext-c": {Preset: "shelly-gen1-probe"},
	"shelly1-ext-f": {Preset: "shelly-gen1-probe", Topic: "shellies/{device}/ext_temperature_f/{ch}", Unit: "F"},
	"shelly-gen2":   {Preset: "shelly-gen2"}, "shelly2-status": {Preset: "shelly-gen2-status"}, "shelly2-null": {Preset: "shelly-gen2-status"},
	"ruuvi": {Preset: "ruuvi"}, "omg-ble-strings": {Preset: "openmqttgateway-ble"}, "omg-bbq-channels": {Preset: "openmqttgateway-ble-probes"},
	"omg-ds1820": {Preset: "openmqttgateway-ds1820"}, "chirpstack4": {Preset: "chirpstack4"}, "chirpstack4-lpp": {Preset: "chirpstack4-cayenne"},
	"chirpstack3-json":    {Preset: "chirpstack3"},
	"chirpstack3-no-time": {Preset: "chirpstack3-cayenne", Topic: "application/{app}/device/{eui}/rx"},
	"tts-v3":              {Preset: "tts"}, "tts-normalized": {Preset: "tts-normalized"}, "tts-cayenne": {Preset: "tts-cayenne"},
	"milesight-history": {Preset: "tts-milesight-history"}, "milesight-read-error": {Preset: "chirpstack4-milesight-channels"},
	"dragino-sht": {Preset: "tts-dragino"}, "dragino-ds-missing": {Preset: "tts-dragino-probe"},
	"dragino-unit-suffix": {Preset: "chirpstack4-dragino-probe", Sensor: "{eui}"},
	"homie":               {Preset: "homie5"}, "homie4": {Preset: "homie"}, "home-assistant": {Preset: "home-assistant"},
	"ha-attribute-quoted": {Preset: "home-assistant-climate"},
	"sparkplug-b":         {Preset: "sparkplug-b", Each: "metrics[name=Inputs/Temp1]"}, "senml": {Preset: "senml", Topic: "fleet/{gw}/senml"},
	"victron": {Preset: "victron"}, "advantech": {Preset: "advantech-wise"}, "king-pigeon": {Preset: "king-pigeon", Topic: "kp/{device}"},
	"teltonika":   {Preset: "teltonika", Topic: "rut/modbus", Scale: 0.1},
	"emqx-neuron": {Preset: "neuron"}, "opc-ua-json": {Preset: "opc-ua", Topic: "opcua/{writer}/data"},
	"edgex": {Preset: "edgex", Topic: "edgex/export"}, "aws-iot": {Preset: "aws-shadow"}, "wiren-board": {Preset: "wirenboard-w1"},
	"influx-line-protocol": {Preset: "telegraf"}, "telegraf-json": {Preset: "telegraf-json"}, "telegraf-field": {Preset: "telegraf-field"},
	"telegraf-csv":    {Preset: "telegraf-csv"},
	"csv-project":     {Preset: "csv", Topic: "site/{site}/suhu", Sensor: "{site}/{sensor}", Zone: "Asia/Jakarta"},
	"csv-project-utc": {Preset: "csv", Topic: "site/{site}/suhu", Sensor: "{site}/{sensor}"},
	"csv-proprietary": {Preset: "csv", Topic: "gw/{gw}/raw", Value: "temp", Blank: []string{"time"},
		Columns: []string{"sensor", "mac", "c1", "temp", "n1", "c2", "hum", "n2", "end"}},
	"msgpack": {Preset: "telegraf-msgpack"}, "node-red": {Preset: "node-red", Topic: "sensors/{room}/temp", Sensor: "{sensor_id}"},
	"plain-text": {Preset: "text", Topic: "rpi/{host}/cputemp"}, "json-iso": {Preset: "json", Topic: "lab/{site}", Sensor: "{device_id}"},
	"generic-json": {Preset: "json", Topic: "/sensor", Sensor: "{id}"},
	"cloudevents":  {Preset: "cloudevents", Topic: "fleet-a/sensors/{s}", Sensor: "{data.sensorId}"}, "owntracks-style": {Preset: "owntracks"},
	"thingsboard": {Preset: "thingsboard", Sensor: "cold-room-3"}, "rtl_433": {Preset: "rtl_433"},
	"rtl433-fahrenheit":   {Preset: "rtl_433-fahrenheit", Zone: "Europe/Berlin"},
	"rtl433-device-topic": {Preset: "rtl_433-devices"},
	"espeasy":             {Preset: "espeasy", Topic: "sensors/espeasy/{unit}/{task}/Temperature"}, "thingspeak": {Preset: "thingspeak"},
}

// TestPresetsDecodeTheSamples decodes every given sample by a preset, with no more of the user's than a line or two.
func TestPresetsDecodeTheSamples(t *testing.T) {
	var sparkplug *Decoder
	for _, s := range loadSamples(t) {
		r, ok := presetOf[s.ID]
		if !ok {
			r, ok = presetOf[s.Family]
		}
		if !ok {
			t.Errorf("%s: no preset", s.ID)
			continue
		}
		r.NotBefore = NoTime
		t.Run(s.ID, func(t *testing.T) {
			d := compileOne(t, r)
			if r.Preset == "sparkplug-b" {
				if sparkplug == nil {
					sparkplug = d
				}
				d = sparkplug
			}
			s.verify(t, d)
		})
	}
}

// TestEveryPresetReads finds for every preset a sample that it makes a reading of, and checks what presets promise.
func TestEveryPresetReads(t *testing.T) {
	reads := map[string]bool{}
	for _, s := range loadSamples(t) {
		for _, key := range []string{s.ID, s.Family} {
			if r, ok := presetOf[key]; ok {
				reads[r.Preset] = reads[r.Preset] || len(s.Expect) > 0
				break
			}
		}
	}
	for _, s := range loadLines(t, "testdata/siblings.ndjson") {
		reads[s.Rule.Preset] = reads[s.Rule.Preset] || len(s.Expect) > 0
	}
	names := map[string]bool{}
	for _, p := range Presets() {
		if !reads[p.Name] {
			t.Errorf("%s: no sample", p.Name)
		}
		if !strings.HasPrefix(p.Link, "https://") || names[p.Name] || p.Rule.Preset+p.Rule.Name != "" {
			t.Errorf("%+v: link, name or rule", p)
		}
		names[p.Name] = true
		r := Rule{Preset: p.Name, Topic: p.Rule.Topic, Sensor: p.Rule.Sensor}
		if r.Topic == "" {
			r.Topic = "x/{y}"
		}
		if r.Sensor == "" {
			r.Sensor = "z"
		}
		if p.Rule.Format == "sparkplug" {
			r.Each = "metrics[name=T]"
		}
		if errs := r.Check(); len(errs) > 0 {
			t.Errorf("%s: %v", p.Name, errs)
		}
	}
}

// TestUsersKeysWin has rules whose own keys stand against those of their preset.
func TestUsersKeysWin(t *testing.T) {
	for _, c := range []struct {
		what       string
		rule       Rule
		topic, in  string
		want       string
		arrivalTim bool
	}{
		{"topic and value", Rule{Preset: "zigbee2mqtt", Topic: "home/{device}", Value: "t"}, "home/a", `{"t":1,"temperature":2}`, "a=1", true},
		{"sensor", Rule{Preset: "zigbee2mqtt", Sensor: "{ieee}"}, "zigbee2mqtt/a", `{"temperature":2,"ieee":"0x1"}`, "0x1=2", true},
		{"time", Rule{Preset: "zigbee2mqtt", Time: "at"}, "zigbee2mqtt/a", `{"temperature":2,"last_seen":5,"at":1793779270}`, "a=2", false},
		{"no time", Rule{Preset: "zigbee2mqtt", Blank: []string{"time"}}, "zigbee2mqtt/a", `{"temperature":2,"last_seen":1793779270}`, "a=2", true},
		{"format", Rule{Preset: "telegraf", Format: "json", Value: "v", Sensor: "x"}, "telegraf/h/m", `{"v":2}`, "x=2", true},
		{"reject", Rule{Preset: "tts-dragino", Reject: []float64{1}}, "v3/a/devices/d/up", `{"uplink_message":{"decoded_payload":{"TempC_SHT":1}}}`, "range", false},
		{"empty reject", Rule{Preset: "shelly-gen1", Reject: []float64{}, Max: ptr(1000.)}, "shellies/d/sensor/temperature", "999", "d=999", true},
		{"max", Rule{Preset: "openmqttgateway-ble-probes", Max: ptr(100.)}, "home/g/BTtoMQTT/m", `{"tempc1":200}`, "range", false},
		{"scale", Rule{Preset: "victron", Scale: 0.1}, "N/p/temperature/1/Temperature", `{"value":215}`, "p/1=21.5", true},
		{"time not required", Rule{Preset: "tts-milesight-history", Blank: []string{"time_required"}}, "v3/a/devices/d/up",
			`{"uplink_message":{"decoded_payload":{"history":[{"temperature":1}]}}}`, "d=1", true},
	} {
		c.rule.NotBefore = NoTime
		d := compileOne(t, c.rule)
		readings, reasons := outcome(d, Message{Topic: c.topic, Payload: []byte(c.in), Arrival: 1})
		if got := summary(readings, reasons); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
		if len(readings) == 1 && readings[0].ArrivalTimed != c.arrivalTim {
			t.Errorf("%s: arrival-timed %v", c.what, readings[0].ArrivalTimed)
		}
	}
}

func TestPresetFaults(t *testing.T) {
	for _, c := range []struct {
		rule Rule
		want string
	}{
		{Rule{Preset: "zigbee2mqqt"}, `preset: "zigbee2mqqt": one of zigbee2mqtt, zigbee2mqtt-attribute is allowed`},
		{Rule{Preset: "nokia", Topic: "a/{b}"}, `one of advantech-wise, airgradient, `},
		{Rule{Preset: "z2m"}, `preset: "z2m": one of zigbee2mqtt, zigbee2mqtt-attribute is allowed`},
		{Rule{Preset: "TTN"}, `preset: "TTN": one of tts, tts-cayenne, `},
		{Rule{Preset: "csv"}, "topic: missing: preset csv leaves it to you"},
		{Rule{Preset: "text", Topic: "a/b"}, "sensor: required, since the topic has no {capture}"},
		{Rule{Preset: "tasmota", Topic: "tele/+/SENSOR"}, "name {device} in the topic too, or give a sensor"},
		{Rule{Preset: "sparkplug-b"}, "each: required with format sparkplug"},
	} {
		faults := c.rule.Check()
		if !slices.ContainsFunc(faults, func(err error) bool { return strings.Contains(fmt.Sprint(err), c.want) }) {
			t.Errorf("%+v: %v, want %q", c.rule, faults, c.want)
		}
	}
	if faults := (Rule{Preset: "nokia"}).Check(); len(faults) != 1 {
		t.Errorf("%v: more is missed than the preset, which may have it", faults)
	}
}

// TestLocalTimes has only presets with a time in the list, and no zone: else the warning would be wrong.
func TestLocalTimes(t *testing.T) {
	for _, name := range localTimes {
		r, err := Rule{Preset: name}.WithPreset()
		if err != nil || r.Time == "" || r.Zone != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestNicknames has each begin a preset, so that it helps.
func TestNicknames(t *testing.T) {
	for _, n := range nicknames {
		if !slices.ContainsFunc(Presets(), func(p Preset) bool { return strings.HasPrefix(p.Name, n.begin) }) {
			t.Errorf("%s: no preset begins with %q", n.short, n.begin)
		}
	}
}
