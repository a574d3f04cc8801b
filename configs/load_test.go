package configs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"edgeagent/reading"
)

// testMachine stands for a host called localhost with a few variables.
func testMachine() machine {
	vars := map[string]string{"TOKEN": "hunter2", "EMPTY": "", "MULTILINE": "hunter2\n", "HOST": "10.0.0.7", "ROOM": "kamar"}
	return machine{
		env:      func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		hostname: func() (string, error) { return "localhost", nil },
	}
}

func mustParse(t *testing.T, text string) *Config {
	t.Helper()
	c, err := testMachine().parse("test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadOfNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.toml")
	_, err := Load(path)
	var faults *Error
	if !errors.As(err, &faults) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got %v, want an *Error that is fs.ErrNotExist", err)
	}
	if want := path + ": no such file or directory; name the file with -c or $EDGEAGENT_CONFIG"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if _, err := Load(t.TempDir()); !errors.As(err, &faults) {
		t.Errorf("a folder: got %v, want an *Error", err)
	}
	large := filepath.Join(t.TempDir(), "large.toml")
	if err := os.WriteFile(large, bytes.Repeat([]byte("#\n"), largestFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(large); !errors.As(err, &faults) || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("a large file: got %v", err)
	}
}

const base = "[gateway]\nid = \"gw\"\n[[source]]\ntopic = \"t/{sensor}\"\n"

func TestVariables(t *testing.T) {
	c := mustParse(t, `
[gateway]
id = "gw-${ROOM}"
tags = { site = "$${HOST}", room = "a ${ROOM} b ${ROOM}" } # ${NOPE}
[mqtt]
brokers = ["tcp://${HOST}:1884"]
username = "u"
password = "${TOKEN}"
[[source]]
topic = "${ROOM}/{sensor}"
`)
	if c.Gateway.ID != "gw-kamar" || c.MQTT.ClientID != "edgeagent-gw-kamar" {
		t.Errorf("id %q, client id %q", c.Gateway.ID, c.MQTT.ClientID)
	}
	if want := []reading.Tag{{Key: "room", Value: "a kamar b kamar"}, {Key: "site", Value: "${HOST}"}}; !reflect.DeepEqual(c.Gateway.Tags, want) {
		t.Errorf("tags %v, want %v", c.Gateway.Tags, want)
	}
	if c.MQTT.Password != "hunter2" || c.MQTT.Brokers[0] != "tcp://10.0.0.7:1884" || c.Sources[0].Topic != "kamar/{sensor}" {
		t.Errorf("got %+v", c)
	}
}

func TestSourceValues(t *testing.T) {
	c := mustParse(t, `
[gateway]
id = "gw"
[[source]]
topic = "a/{x}"
columns = "head"
scale = 10
reject = [85, -127.5]
min = -40
not_before = 1900-01-01
[[source]]
topic = "b/{x}"
columns = ["time", "t"]
[source.tags]
b = "{x}"
a = "1"
[watermark]
not_before = "2021-02-03T04:05:06+01:00"
`)
	lowest := -40.0
	want := []reading.Rule{
		{
			Name: "source 1", Topic: "a/{x}", QoS: 1, ColumnsPath: "head", Scale: 10, Reject: []float64{85, -127.5}, Min: &lowest,
			NotBefore: -2208988800_000000000,
		},
		{
			Name: "source 2", Topic: "b/{x}", QoS: 1, Columns: []string{"time", "t"}, NotBefore: reading.NoTime,
			Tags: []reading.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "{x}"}},
		},
	}
	if !reflect.DeepEqual(c.Sources, want) {
		t.Errorf("got  %+v\nwant %+v", c.Sources, want)
	}
	if c.Watermark.NotBefore != 1612321506_000000000 {
		t.Errorf("not_before %d", c.Watermark.NotBefore)
	}
}

func TestFilledIn(t *testing.T) {
	c := mustParse(t, base+`
[mqtt]
brokers = ["mqtt://h", "ssl://[::1]/", "ws://h/mqtt"]
[window]
aggregates = ["stddev", "min", "min"]
[buffer]
max_size = "16MiB"
[[uplink]]
url = "https://h/influx/"
database = "d"
`)
	if want := []string{"mqtt://h:1883", "ssl://[::1]:8883", "ws://h/mqtt"}; !reflect.DeepEqual(c.MQTT.Brokers, want) {
		t.Errorf("brokers %q, want %q", c.MQTT.Brokers, want)
	}
	if want := []string{"max", "count", "min", "stddev"}; !reflect.DeepEqual(c.Window.Aggregates, want) {
		t.Errorf("aggregates %q, want %q", c.Window.Aggregates, want)
	}
	if c.Buffer.RejectedRing != MiB {
		t.Errorf("rejected_ring %s, want 1MiB", c.Buffer.RejectedRing)
	}
	if c.Uplinks[0].URL != "https://h/influx" || c.Uplinks[0].Database != "d" {
		t.Errorf("uplink %+v", c.Uplinks[0])
	}
}

func TestCheckRun(t *testing.T) {
	err := mustParse(t, base+"[mqtt]\nusername = \"u\"\n").CheckRun()
	want := "test.toml:1:1: uplink.url: is missing; write url = \"http://HOST:8086\" below [uplink]\n" +
		"test.toml:5:2: mqtt.brokers: is missing; write brokers = [\"tcp://HOST:1883\"] below [mqtt]"
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if err := Default().CheckRun(); err == nil {
		t.Error("the defaults alone should not run")
	}
}

func TestByteOrderMark(t *testing.T) {
	if c := mustParse(t, "\xef\xbb\xbf"+strings.ReplaceAll(base, "\n", "\r\n")); c.Gateway.ID != "gw" {
		t.Errorf("id %q", c.Gateway.ID)
	}
}

func TestHostName(t *testing.T) {
	m := testMachine()
	m.hostname = func() (string, error) { return "pi-kitchen", nil }
	c, err := m.parse("test.toml", []byte("[[source]]\ntopic = \"t/{sensor}\"\n"))
	if err != nil || c.Gateway.ID != "pi-kitchen" {
		t.Errorf("got %v, %v", c, err)
	}
	m.hostname = func() (string, error) { return "", errors.New("no uname") }
	if _, err := m.parse("test.toml", []byte("[[source]]\ntopic = \"t/{sensor}\"\n")); err == nil || !strings.Contains(err.Error(), "no uname") {
		t.Errorf("got %v", err)
	}
}
