package reading

import "testing"

// BenchmarkDecode has one usual message of each format, and of what costs more.
func BenchmarkDecode(b *testing.B) {
	sample := map[string]*sample{}
	for _, s := range append(loadSamples(b), loadLines(b, "testdata/siblings.ndjson")...) {
		sample[s.ID] = &s
	}
	for _, c := range []struct{ name, id string }{
		{"json-time", "z2m-last-seen-iso"}, {"json-no-time", "z2m-json"}, {"json-probes", "tasmota-ds18b20-three"}, {"json-uplink", "tts"},
		{"json-batch", "telegraf-json-batch"}, {"json-columns", "campbell-one"}, {"text", "text-2"}, {"csv", "csv-project-utc"}, {"influx", "influx-batch"},
		{"form", "thingspeak-form"}, {"senml", "senml-relative"}, {"senml-cbor", "senml-cbor"}, {"sparkplug", "spb-ddata-name"},
		{"msgpack", "telegraf-msgpack"}, {"ruuvi", "ruuvi-hex-string-ts"},
	} {
		s := sample[c.id]
		payload := s.PayloadB64
		if len(payload) == 0 {
			payload = []byte(*s.Payload)
		}
		b.Run(c.name, func(b *testing.B) {
			benchmark(b, compileOne(b, s.Rule.rule(b)), Message{Topic: s.Topic, Payload: payload, Arrival: 1793779272e9})
		})
	}
}

// BenchmarkDecodeSimple is the message that a fleet of simple sensors sends.
func BenchmarkDecodeSimple(b *testing.B) {
	d := compileOne(b, Rule{Topic: "sensors/{sensor}/temperature", Value: "temperature", Time: "ts", TimeFormat: "unix_ms", NotBefore: NoTime})
	benchmark(b, d, Message{Topic: "sensors/kamar1/temperature", Payload: []byte(`{"ts":1700000110000,"temperature":20.5}`)})
}

func BenchmarkDecodeTwoSources(b *testing.B) {
	d := compileOne(b,
		Rule{Topic: "v/{device}", Value: "a", Sensor: "{id}/a", NotBefore: NoTime},
		Rule{Topic: "v/{device}", Value: "b", Sensor: "{id}/b", NotBefore: NoTime})
	benchmark(b, d, Message{Topic: "v/x", Payload: []byte(`{"id":"s1","a":1.5,"b":2.5}`), Arrival: 1})
}

// benchmark decodes m over and over; it must yield a reading.
func benchmark(b *testing.B, d *Decoder, m Message) {
	var res Result
	if d.Decode(m, &res); len(res.Readings) == 0 {
		b.Fatalf("refused: %+v", res.Refusals)
	}
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(m, &res)
	}
}
