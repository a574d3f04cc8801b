package configs

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

const rich = `
[gateway]
id = "gw"
tags = { "a b" = "x\"y", site = "$${z}" }
[mqtt]
brokers = ["ssl://h:8883"]
username = "u"
password = "${TOKEN}"
tls = { ca_file = "/ca.pem" }
[[source]]
name = "attic \"1\""
topic = "t/{sensor}"
qos = 0
columns = ["a", "b"]
scale = 0.001
reject = [85, 1e30]
max = 40
not_before = "2021-01-01T00:00:00.5Z"
tags = { room = "{r}" }
time = "ts"
time_required = true
[[source]]
topic = "u/{sensor}"
columns = "$.head"
[window]
aggregates = ["mean"]
emit = "update"
[uplink]
url = "https://h"
api = "v2"
org = "o"
bucket = "b"
token = "${TOKEN}"
`

// What Render writes means the same configuration again, and shows no secret.
func TestRenderIsReadAgain(t *testing.T) {
	c := mustParse(t, rich)
	var b bytes.Buffer
	if err := c.Render(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "hunter2") || !strings.Contains(b.String(), `token = "${TOKEN}"`) {
		t.Errorf("secrets must be shown as their variable:\n%s", b.String())
	}
	again := mustParse(t, b.String())
	c.origin, again.origin = nil, nil
	for i := range c.Sources { // Render writes down the defaults, which Parse leaves to the reading package
		fillDefaults(c, i)
		fillDefaults(again, i)
	}
	if !reflect.DeepEqual(c, again) {
		t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", again, c, b.String())
	}
}

func fillDefaults(c *Config, i int) {
	filled := sourceDefaults(c.Watermark.NotBefore)
	r := reflect.ValueOf(&c.Sources[i]).Elem()
	empty := reflect.ValueOf(emptySource())
	for f := range r.NumField() {
		if reflect.DeepEqual(r.Field(f).Interface(), empty.Field(f).Interface()) {
			r.Field(f).Set(reflect.ValueOf(filled).Field(f))
		}
	}
}

// What a preset fills in is shown, but as comments: it must not win over the preset when this is read again.
func TestRenderShowsPresets(t *testing.T) {
	const minimal = "[gateway]\nid = \"gw\"\n"
	for _, c := range []struct{ in, want string }{
		{"[[source]]\npreset = \"victron\"\n", `[[source]]
name = "source 1"
qos = 1
preset = "victron"
# preset victron expands to:
#   topic = "N/{portal}/temperature/{instance}/Temperature"
#   format = "json"
#   sensor = "{portal}/{instance}"
#   value = "value"
#   scale = 1.0
#   unit = "C"
#   time_format = "auto"
#   zone = "UTC"
#   time_required = false
#   not_before = "2020-01-01"
#   min = -90.0
#   max = 150.0
#   retained = "drop_untimed"

`},
		{"[[source]]\nname = \"n\"\npreset = \"zigbee2mqtt\"\ntopic = \"z/{device}\"\ntime = \"\"\nmin = -40\n", `[[source]]
name = "n"
topic = "z/{device}"
qos = 1
preset = "zigbee2mqtt"
time = ""
min = -40.0
# preset zigbee2mqtt expands to:
#   format = "json"
#   sensor = "{device}"
#   value = "temperature|local_temperature"
`},
	} {
		parsed := mustParse(t, minimal+c.in)
		var b bytes.Buffer
		if err := parsed.Render(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("got\n%s\nwant\n%s", b.String(), c.want)
		}
		again := mustParse(t, b.String())
		if !reflect.DeepEqual(parsed.Sources, again.Sources) {
			t.Errorf("read again: %+v, want %+v", again.Sources, parsed.Sources)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestRenderError(t *testing.T) {
	if err := Default().Render(brokenWriter{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func readString(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
