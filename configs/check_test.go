package configs

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// Each line is one key of a section in a file that is right otherwise; want is the end of the fault, "" for none.
func TestBounds(t *testing.T) {
	tests := []struct{ section, line, want string }{
		{"window", `size = "1ms"`, ""},
		{"window", `size = "24h"`, ""},
		{"window", `size = "0s"`, `window.size: must be from 1ms to 24h (got "0s")`},
		{"window", `size = "24h0m1s"`, `window.size: must be from 1ms to 24h (got "24h0m1s")`},
		{"window", `aggregates = "max"`, `window.aggregates: must be a list of text, such as ["a", "b"] (got "max")`},
		{"window", `allowed_lateness = "1h"`, ""},
		{"window", `emit = "late"`, `window.emit: must be "final" or "update" (got "late")`},
		{"window", `update_interval = "0s"`, `window.update_interval: must be from 1ms to 24h (got "0s")`},
		{"window", `measurement = "_x"`, `window.measurement: must not begin with _ (reserved by InfluxDB) or # (a comment) (got "_x")`},
		{"watermark", `delay = "0s"`, ""},
		{"watermark", `max_future = "0s"`, ""},
		{"watermark", `not_before = "1699-12-31"`, `watermark.not_before: must be in the years 1700 to 2200 (got "1699-12-31")`},
		{"watermark", `not_before = 2020`, `watermark.not_before: must be a date such as "2020-01-01" or a time such as "2020-01-01T00:00:00Z" (got 2020)`},
		{"buffer", `max_size = "4MiB"`, ""},
		{"buffer", `max_size = 4194303`, `buffer.max_size: must be from 4MiB to ` + maxStore().String() + ` (got 4194303)`},
		{"buffer", `commit_interval = "10ms"`, ""},
		{"buffer", `commit_interval = "9ms"`, `buffer.commit_interval: must be from 10ms to 10m (got "9ms")`},
		{"buffer", `commit_interval = "601s"`, `buffer.commit_interval: must be from 10ms to 10m (got "601s")`},
		{"buffer", `max_points = -1`, `buffer.max_points: must be a whole number from 0 to 1000000000 (got -1)`},
		{"buffer", `max_points = 1.0`, `buffer.max_points: must be a whole number from 0 to 1000000000 (got 1)`},
		{"buffer", `rejected_ring = true`, `buffer.rejected_ring: must be text with a unit, such as "64KiB", or a number of bytes (got true)`},
		{"mqtt", `keep_alive = "1s"`, ""},
		{"mqtt", `client_id = "a#"`, `mqtt.client_id: must not hold + or #, which brokers refuse (got "a#")`},
		{"mqtt", `max_message_bytes = "15B"`, `mqtt.max_message_bytes: must be from 16B to 16MiB (got "15B")`},
		{"mqtt", `shard = "4/4"`, ""},
		{"mqtt", `shard = "0/4"`, `mqtt.shard: must be K/N, this agent and how many share the site, at most 64, as in "2/4" (got "0/4")`},
		{"mqtt", `shard = "5/4"`, `mqtt.shard: must be K/N, this agent and how many share the site, at most 64, as in "2/4" (got "5/4")`},
		{"mqtt", `shard = "1/65"`, `mqtt.shard: must be K/N, this agent and how many share the site, at most 64, as in "2/4" (got "1/65")`},
		{"mqtt", `shard = "01/2"`, `mqtt.shard: must be K/N, this agent and how many share the site, at most 64, as in "2/4" (got "01/2")`},
		{"mqtt", `shard = "1/2/3"`, `mqtt.shard: must be K/N, this agent and how many share the site, at most 64, as in "2/4" (got "1/2/3")`},
		{"mqtt", "shard = \"1/2\"\n[gateway.tags]\nshard = \"x\"", `gateway.tags.shard: is the tag that mqtt.shard sets; give it another name`},
		{"uplink", `batch_points = 0`, `uplink.batch_points: must be a whole number from 1 to 100000 (got 0)`},
		{"uplink", `retry_min = "5m"`, ""},
		{"uplink", `health_interval = "999ms"`, `uplink.health_interval: must be "0s" for none, or at least 1s (got 999ms)`},
		{"uplink", `password = ""`, ""},
		{"uplink", `api = "v4"`, `uplink.api: must be "v1", "v2" or "v3" (got "v4")`},
		{"http", `listen = ""`, ""},
		{"http", `listen = "[::1]:0"`, ""},
		{"http", `listen = "localhost:9273"`, ""},
		{"http", `listen = "127.0.0.1:65536"`, `http.listen: must be HOST:PORT, such as "127.0.0.1:9273", or "" for none (got "127.0.0.1:65536")`},
		{"http", "public_status = true\nlisten = \":1\"", ""},
		{"http", "token_file = \"/t\"\nlisten = \"10.0.0.1:1\"", ""},
		{"gateway.tags", `time = "x"`, `gateway.tags.time: cannot be the key of a tag: it is the name InfluxDB gives the timestamp; take another`},
		{"gateway.tags", `"" = "x"`, `gateway.tags."": must not be empty`},
		{"gateway.tags", `site = 3`, `gateway.tags: must hold nothing but text in quotes (got 3)`},
	}
	for _, test := range tests {
		_, err := testMachine().parse("f", []byte(base+"["+test.section+"]\n"+test.line+"\n"))
		checkFault(t, test.line, err, test.want)
	}
}

// checkFault wants one fault that ends in want, or none.
func checkFault(t *testing.T, input string, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%q: got %v, want none", input, err)
		}
		return
	}
	var faults *Error
	if !errors.As(err, &faults) || len(faults.Faults) != 1 || !strings.HasSuffix(err.Error(), ": "+want) {
		t.Errorf("%q: got\n%v\nwant\n%s", input, err, want)
	}
}

func TestTagOfGatewayAndSource(t *testing.T) {
	text := "[gateway]\nid = \"gw\"\ntags.site = \"n\"\n[[source]]\ntopic = \"t/{sensor}\"\ntags.site = \"{sensor}\"\n"
	_, err := testMachine().parse("f", []byte(text))
	checkFault(t, text, err, "source.tags.site: gateway.tags has this key too; every point would carry it twice, so rename one of them")
	if err != nil && !strings.HasPrefix(err.Error(), "f:6:6: ") {
		t.Errorf("wrong place: %v", err)
	}
}

// What the reading package finds is told at the place of its key, or of the source that lacks it, and once. Its words are
// its own.
func TestSourceFaults(t *testing.T) {
	_, err := testMachine().parse("f", []byte(`[gateway]
id = "gw"
[[source]]
topic = "t/{sensor}"
format = "xml"
[[source]]
topic = "t/#/x"
value = "a.[b"
time = "ts"
time_format = "sundial"
[[source]]
zone = "Mars/Olympus"
tags.sensor = "x"
`))
	want := []string{"f:5:1: source.format: ", "f:7:1: source.topic: ", "f:8:1: source.value: ", "f:10:1: source.time_format: ",
		"f:11:3: source.topic: ", "f:12:1: source.zone: ", "f:13:6: source.tags.sensor: "}
	var got []string
	if err != nil {
		got = strings.Split(err.Error(), "\n")
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("got:\n%v\nwant lines that begin with\n%s", err, strings.Join(want, "\n"))
		}
	}
}

func TestGatewayID(t *testing.T) {
	tests := []struct{ id, want string }{
		{"gw", ""},
		{"raspberrypi-kitchen", ""},
		{"Küche 7", ""},
		{strings.Repeat("x", 256), ""},
		{strings.Repeat("x", 257), "must have at most 256 bytes (got 257)"},
		{"raspberrypi", "is the name of every machine"},
		{"LOCALHOST.localdomain", "is the name of every machine"},
		{"openwrt", "is the name of every machine"},
		{"", "must not be empty"},
		{"a/b", "must not hold /, + or #"},
		{"a+", "must not hold /, + or #"},
		{"#", "must not hold /, + or #"},
		{"a\nb", "must not hold control characters"},
		{"a\u0085b", "must not hold control characters"},
		{"a\x00", "must not hold control characters"},
		{`a\`, "must not end in a backslash"},
		{`a\b`, ""},
		{"a\xff", "must be valid UTF-8"},
	}
	for _, test := range tests {
		got := BadGatewayID(test.id)
		if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.id, got, test.want)
		}
	}
}

func TestURLs(t *testing.T) {
	tests := []struct {
		judge               func(string) (string, string)
		address, want, part string
	}{
		{BrokerURL, "tcp://h:1", "tcp://h:1", ""},
		{BrokerURL, "mqtts://h", "mqtts://h:8883", ""},
		{BrokerURL, "wss://h/mqtt", "wss://h/mqtt", ""},
		{BrokerURL, "wss://h/mqtt?token=hunter2", "", "?…"},
		{BrokerURL, "tcp://:1883", "", "names no host"},
		{BrokerURL, "tcp://h:port", "", "is not a URL"},
		{BrokerURL, "tcp://h:0", "", "has a port that is not 1 to 65535"},
		{endpoint, "http://h:70000", "", "has a port that is not 1 to 65535"},
		{endpoint, "http://[::1]:65535", "http://[::1]:65535", ""},
		{BrokerURL, "tcp://u:hunter2@h:port", "", "…@h:port"},
		{BrokerURL, "u:hunter2@h", "", "must be a URL"},
		{endpoint, "http://h:8086", "http://h:8086", ""},
		{endpoint, "https://h/a/", "https://h/a", ""},
		{endpoint, "tcp://h", "", "must begin with one of http://, https://"},
		{endpoint, "http://h/api/v2/write", "", "the agent adds the path"},
		{endpoint, "http://h#hunter", "", "must have no ? or # part"},
		{endpoint, "h:8086", "", "must be a URL such as http://HOST"},
	}
	for _, test := range tests {
		got, problem := test.judge(test.address)
		switch {
		case strings.Contains(problem, "hunter2"):
			t.Errorf("%s: a secret is shown: %s", test.address, problem)
		case test.part == "" && (problem != "" || got != test.want):
			t.Errorf("%s: got %q, %q", test.address, got, problem)
		case !strings.Contains(problem, test.part):
			t.Errorf("%s: got %q, want %q in it", test.address, problem, test.part)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"size", "aggregates", "qos", "tls", "max_future"}
	for word, want := range map[string]string{"sise": "size", "szie": "size", "agregate": "aggregates", "qso": "", "qo": "qos", "max_futrue": "max_future", "humidity": ""} {
		if got := nearest(word, words); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// Whatever the text, Parse gives a Config that Render writes so that it is read again, or an *Error that has faults.
func FuzzParse(f *testing.F) {
	f.Add(base)
	f.Add(rich)
	f.Add("[[uplink]]\nurl.x = [[1]]\n[gateway.tags]\n\"a.b\" = 2020-01-01")
	f.Add("source = [{topic = \"a\"}, 3]\nmqtt.tls = {\"\" = 1}\n[http]\nlisten = '$${x}'")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := testMachine().parse("f", []byte(text))
		if err != nil {
			var faults *Error
			if !errors.As(err, &faults) || len(faults.Faults) == 0 || faults.Faults[0].Line < 1 {
				t.Fatalf("got %#v", err)
			}
			return
		}
		c.Warnings()
		var first, second bytes.Buffer
		if err := c.Render(&first); err != nil {
			t.Fatal(err)
		}
		if err := mustParse(t, first.String()).Render(&second); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("rendered\n%s\nthen\n%s", first.String(), second.String())
		}
	})
}
