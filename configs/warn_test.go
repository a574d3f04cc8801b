package configs

import (
	"strings"
	"testing"
)

func TestWarnings(t *testing.T) {
	const uplink = "[uplink]\nurl = \"http://10.0.0.1\"\ndatabase = \"d\"\n"
	tests := []struct{ text, want string }{
		{"", ""},
		{"[watermark]\nmax_future = \"10m\"\n", "test.toml:6:1: watermark.max_future: is at or above watermark.delay (10m)"},
		{"[watermark]\nmax_future = \"599s\"\n", ""},
		{"[watermark]\nmax_future = \"0s\"\n", "test.toml:6:1: watermark.max_future: is off"},
		{"qos = 0\n", "test.toml:5:1: source.qos: 0: what the broker sends"},
		{"[[source]]\ntopic = \"t/a\"\nsensor = \"a\"\n", "test.toml:6:1: source.topic: takes topics that \"source 1\" takes too"},
		{"[[source]]\ntopic = \"u/{sensor}\"\n", ""},
		{"[[source]]\npreset = \"tasmota\"\n", "test.toml:6:1: source.preset: these devices send local times without an offset"},
		{"[[source]]\npreset = \"rtl_433\"\nzone = \"UTC\"\n", ""}, {"[[source]]\npreset = \"tasmota\"\ntime = \"\"\n", ""},
		{"[[source]]\npreset = \"tasmota-zigbee\"\n", ""},
		{"[mqtt.tls]\ninsecure_skip_verify = true\n", "test.toml:6:1: mqtt.tls.insecure_skip_verify: anyone"},
		{"[mqtt]\nbrokers = [\"tcp://h\"]\ntls.ca_file = \"/x\"\n", "test.toml:7:1: mqtt.tls: has no effect on tcp://h:1883"},
		{"[mqtt]\nbrokers = [\"ssl://h\"]\ntls.ca_file = \"/x\"\n", ""},
		{"[mqtt]\nshard = \"1/2\"\n", ""},
		{"[buffer]\nmax_sensors = 1000000\n", "test.toml:5:2: buffer.max_size: is below the 1587 MiB"},
		{"[buffer]\ndir = \"data\"\n", "test.toml:6:1: buffer.dir: depends on the folder"},
		{"[buffer]\nsensor_expiry = \"14m\"\n", "test.toml:6:1: buffer.sensor_expiry: is below"},
		{"[window]\nupdate_interval = \"2m\"\n", "test.toml:6:1: window.update_interval: has no effect"},
		{"[window]\nupdate_interval = \"2m\"\nemit = \"update\"\n", ""},
		{uplink, ""},
		{uplink + "org = \"o\"\n", "test.toml:8:1: uplink.org: has no effect with api = \"v1\""},
		{uplink + "token_file = \"/t\"\n", "test.toml:6:1: uplink.url: is not encrypted"},
	}
	for _, test := range tests {
		got := strings.Join(mustParse(t, base+test.text).Warnings(), "\n")
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) || strings.Contains(got, "\n") {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestOverlap(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/c", false},
		{"a/+", "a/c", true},
		{"a/{x}", "+/c", true},
		{"a/{x}", "a", false},
		{"a/{x}", "a/b/c", false},
		{"a/#", "a", true},
		{"a/#", "a/b/c", true},
		{"#", "a/b", true},
		{"a/{x...}", "a", false},
		{"a/{x...}", "a/b/c", true},
		{"a/{x...}/z", "a/b/c/z", true},
		{"a/{x...}/z", "a/z", false},
		{"a/{x...}/z", "a/b/c/y", false},
		{"a/{x...}/z", "a/{y...}/y", false},
		{"{x...}/z", "a/#", true},
		{"a/t{x}", "a/u", true},
		{"", "a", false},
	}
	for _, test := range tests {
		if got := overlap(test.a, test.b); got != test.want {
			t.Errorf("overlap(%q, %q) = %v", test.a, test.b, got)
		}
		if got := overlap(test.b, test.a); got != test.want {
			t.Errorf("overlap(%q, %q) = %v", test.b, test.a, got)
		}
	}
}
