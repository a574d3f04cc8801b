package configs

import (
	"bytes"
	"fmt"
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

// Two uplinks that write to the same place are told of, however their addresses are written; two databases of one server are not.
func TestUplinksToTheSamePlace(t *testing.T) {
	v1 := func(url, more string) string {
		return fmt.Sprintf("url = %q\napi = \"v1\"\ndatabase = \"d\"\n", url) + more
	}
	v2 := func(url, more string) string {
		return fmt.Sprintf("url = %q\napi = \"v2\"\nbucket = \"b\"\n", url) + more
	}
	v3 := func(url, db string) string { return fmt.Sprintf("url = %q\napi = \"v3\"\ndatabase = %q\n", url, db) }
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"v1", v1("http://h:8086", ""), v1("http://h:8086", ""), true},
		{"a slash behind", v1("http://h:8086/", ""), v1("http://h:8086", ""), true},
		{"capitals", v1("http://H:8086", ""), v1("http://h:8086", ""), true},
		{"the usual port", v1("https://h", ""), v1("https://h:443", ""), true},
		{"other retention policies", v1("http://h", "retention_policy = \"a\"\n"), v1("http://h", ""), false},
		{"another port", v1("http://h:1", ""), v1("http://h:2", ""), false},
		{"another path", v1("http://h/a", ""), v1("http://h/b", ""), false},
		{"v2", v2("http://h", "org = \"o\"\n"), v2("http://h", "org = \"o\"\n"), true},
		{"other organisations", v2("http://h", "org = \"o\"\n"), v2("http://h", "org = \"p\"\n"), false},
		{"v3", v3("http://h", "d"), v3("http://h", "d"), true},
		{"other databases", v3("http://h", "d"), v3("http://h", "e"), false},
		{"other tokens are no other place", v1("http://h", "token_file = \"/a\"\n"), v1("http://h", "token_file = \"/b\"\n"), true},
	} {
		cfg := mustParse(t, base+"[[uplink]]\nname = \"one\"\n"+c.a+"[[uplink]]\nname = \"two\"\n"+c.b)
		var told int
		for _, w := range cfg.Warnings() {
			if strings.Contains(w, "writes to the same place as uplink \"one\"") && strings.Contains(w, "remove one of them") {
				told++
			}
		}
		if want := map[bool]int{true: 1, false: 0}[c.same]; told != want {
			t.Errorf("%s: %d warnings, want %d: %q", c.name, told, want, cfg.Warnings())
		}
	}
}
