package reading_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/influxdata/line-protocol/v2/lineprotocol"

	"edgeagent/reading"
	"edgeagent/testbed"
	"edgeagent/uplink"
	"edgeagent/window"
)

// lineRules take the sensor and a tag from the payload, where anything may stand.
func lineRules(t testing.TB) (*reading.Decoder, *uplink.Encoder) {
	t.Helper()
	tags := []reading.Tag{{Key: "room", Value: "{room|r}"}}
	d, err := reading.Compile([]reading.Rule{
		{Topic: "json/{x}", Each: "[*]|$", Value: "v|temperature|{p}", Sensor: "{id|n|x}", Time: "t", Tags: tags, NotBefore: reading.NoTime},
		{Topic: "csv/{x}", Format: "csv", Value: "[0]", Sensor: "{[1]|x}", NotBefore: reading.NoTime},
		{Topic: "influx/{x}", Format: "influx", Value: "fields.{f}", Sensor: "{tags.s|f}", Tags: []reading.Tag{{Key: "m", Value: "{name}"}}, NotBefore: reading.NoTime},
		{Topic: "msgpack/{x}", Format: "msgpack", Value: "v", Sensor: "{s|x}", Tags: tags, NotBefore: reading.NoTime},
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := uplink.NewEncoder(uplink.Identity{Gateway: "gw", Measurement: "temperature"})
	if err != nil {
		t.Fatal(err)
	}
	return d, e
}

var lineTopics = []string{"json/a", "csv/a", "influx/a", "msgpack/a"}

// FuzzLineProtocol decodes any payload: whatever becomes a reading must go through line protocol and come back the same.
func FuzzLineProtocol(f *testing.F) {
	d, e := lineRules(f)
	for _, s := range []string{`{"id":"a b,c=d\"e","v":21.5,"room":"é\\ x"}`, `[{"id":"x","v":1},{"n":"y ","v":-2}]`, "21.5,a=b c\n5,\"q \"", `m\ x,s=a\,b t=1`} {
		for i := range lineTopics {
			f.Add(uint8(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, payload []byte) {
		checkLines(t, d, e, lineTopics[int(which)%len(lineTopics)], payload)
	})
}

func checkLines(t testing.TB, d *reading.Decoder, e *uplink.Encoder, topic string, payload []byte) (lines int) {
	var res reading.Result
	d.Decode(reading.Message{Topic: topic, Payload: payload, Arrival: 1793779270e9}, &res)
	for _, r := range res.Refusals {
		if bytes.HasPrefix([]byte(r.Detail), []byte("BUG")) {
			t.Errorf("%q: %s", payload, r.Detail)
		}
	}
	for _, r := range res.Readings {
		var a window.Aggregate
		a.Fold(r.Time, r.Value)
		line, err := e.Window(nil, r.Series, window.Start(r.Time, 300e9), 0, &a, true, false)
		if err != nil {
			t.Errorf("%q: %+v: %v", payload, r, err)
			continue
		}
		checkLine(t, line, r)
	}
	return len(res.Readings)
}

// checkLine reads a line again by the library's decoder.
func checkLine(t testing.TB, line []byte, r reading.Reading) {
	dec := lineprotocol.NewDecoderWithBytes(append(line, '\n'))
	if !dec.Next() {
		t.Fatalf("%q: no line", line)
	}
	if name, err := dec.Measurement(); err != nil || string(name) != "temperature" {
		t.Errorf("%q: measurement %q, %v", line, name, err)
	}
	want := map[string]string{"gateway": "gw", "sensor": r.Series.Sensor()}
	for _, tag := range r.Series.Tags() {
		want[tag.Key] = tag.Value
	}
	for {
		key, value, err := dec.NextTag()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if key == nil {
			break
		}
		if want[string(key)] != string(value) {
			t.Errorf("%q: tag %s is %q, want %q", line, key, value, want[string(key)])
		}
		delete(want, string(key))
	}
	if len(want) > 0 {
		t.Errorf("%q lacks %v", line, want)
	}
	if _, v, err := dec.NextField(); err != nil || v.FloatV() != r.Value {
		t.Errorf("%q: max %v, %v; want %v", line, v, err, r.Value)
	}
	if _, v, err := dec.NextField(); err != nil || v.IntV() != 1 {
		t.Errorf("%q: count %v, %v", line, v, err)
	}
	if dec.Next() {
		t.Errorf("%q: more than one line", line)
	}
}

// TestLineProtocolBriefly is FuzzLineProtocol over the samples, as they are and with bytes changed.
func TestLineProtocolBriefly(t *testing.T) {
	d, e := lineRules(t)
	rng := testbed.Random(t)
	var payloads [][]byte
	for _, file := range []string{"testdata/samples.ndjson", "testdata/siblings.ndjson"} {
		payloads = append(payloads, payloadsOf(t, file)...)
	}
	lines, n := 0, 0
	for end := time.Now().Add(1500 * time.Millisecond); n < 20_000 && !t.Failed() && time.Now().Before(end); n++ {
		payload := bytes.Clone(payloads[rng.IntN(len(payloads))])
		for range rng.IntN(3) {
			payload[rng.IntN(len(payload))] = byte(rng.IntN(256))
		}
		lines += checkLines(t, d, e, lineTopics[rng.IntN(len(lineTopics))], payload)
	}
	t.Logf("%d payloads, %d lines", n, lines)
	if lines == 0 {
		t.Error("no line was made")
	}
}

func payloadsOf(t *testing.T, file string) [][]byte {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all [][]byte
	in := bufio.NewScanner(f)
	for in.Scan() {
		var s struct {
			Payload    string
			PayloadB64 []byte `json:"payload_b64"`
		}
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if p := append(s.PayloadB64, s.Payload...); len(p) > 0 {
			all = append(all, p)
		}
	}
	return all
}
