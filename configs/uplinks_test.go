package configs

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

const twoUplinks = base + `
[mqtt]
brokers = ["tcp://h"]
[[uplink]]
name = "central"
url = "https://a"
database = "d"
order = "newest"
token = "${TOKEN}"
[uplink.tls]
ca_file = "/ca.pem"
[[uplink]]
name = "mirror-2"
url = "http://b"
api = "v2"
org = "o"
bucket = "b"
health_interval = "1m"
batch_points = 10
`

// Each table has its own values, and the defaults for the rest.
func TestSeveralUplinks(t *testing.T) {
	c := mustParse(t, twoUplinks)
	if got := c.UplinkNames(); !reflect.DeepEqual(got, []string{"central", "mirror-2"}) {
		t.Fatalf("names %q", got)
	}
	a, b := c.Uplinks[0], c.Uplinks[1]
	if a.Order != "newest" || a.TLS.CAFile != "/ca.pem" || a.BatchPoints != 5000 || a.Token == "" || a.API != "v1" {
		t.Errorf("the first is %+v", a)
	}
	if b.Order != "oldest" || b.TLS != (TLS{}) || b.BatchPoints != 10 || b.Token != "" || b.API != "v2" || !b.Gzip {
		t.Errorf("the second is %+v", b)
	}
	if got := c.HealthInterval(); got != time.Minute {
		t.Errorf("health interval %v, want the shortest", got)
	}
	if err := c.CheckRun(); err != nil {
		t.Error(err)
	}
}

func TestHealthIntervalOff(t *testing.T) {
	c := mustParse(t, base+"[uplink]\nhealth_interval = \"0s\"\n")
	if got := c.HealthInterval(); got != 0 {
		t.Errorf("%v, want none", got)
	}
}

// What Render writes of several means the same again, and shows no secret.
func TestRenderSeveralUplinks(t *testing.T) {
	for _, text := range []string{twoUplinks, strings.Replace(base, "[[source]]", "[[uplink]]\nurl = \"http://a\"\ndatabase = \"d\"\ntoken = \"${TOKEN}\"\n[[source]]", 1)} {
		c := mustParse(t, text)
		var b bytes.Buffer
		if err := c.Render(&b); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "hunter2") || strings.Count(b.String(), `token = "${TOKEN}"`) != 1 {
			t.Errorf("secrets must be shown as their variable:\n%s", b.String())
		}
		if again := mustParse(t, b.String()); !reflect.DeepEqual(again.Uplinks, c.Uplinks) {
			t.Errorf("came back as %+v\nwant %+v", again.Uplinks, c.Uplinks)
		}
	}
}

// What a run needs, and warnings, stand at the table that they are about.
func TestFaultsOfSeveralUplinks(t *testing.T) {
	c := mustParse(t, base+"[mqtt]\nbrokers = [\"tcp://h\"]\n[[uplink]]\nname = \"a\"\nurl = \"http://a\"\ndatabase = \"d\"\norg = \"o\"\n[[uplink]]\nname = \"b\"\n")
	err := c.CheckRun()
	if err == nil || !strings.Contains(err.Error(), `uplink.url: is missing; write url = "http://HOST:8086" below [[uplink]]`) {
		t.Errorf("%v", err)
	}
	warned := strings.Join(c.Warnings(), "\n")
	if !strings.Contains(warned, `uplink.org: has no effect with api = "v1"`) {
		t.Errorf("warnings %q", warned)
	}
}
