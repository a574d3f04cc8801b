package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A config is a configuration under test: what every one needs, and lines more for each section.
type config struct {
	id     string // of the gateway; "" is gw
	broker string
	dir    string
	mqtt   string
	window string
	buffer string
	uplink string // with url, api and what the api needs
}

const configText = `[gateway]
id = %q
clock = "trusted"
[mqtt]
brokers = [%q]
%s
[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"
time = "ts"
time_format = "unix_ms"
[window]
%s
[buffer]
dir = %q
%s
[uplink]
%s
[http]
listen = ""
`

func (c config) text() string {
	if c.id == "" {
		c.id = "gw"
	}
	return fmt.Sprintf(configText, c.id, c.broker, c.mqtt, c.window, c.dir, c.buffer, c.uplink)
}

// v1 and v2 are uplinks to a database of a server, impatient enough for a test.
func v1(url, db string) string {
	return fmt.Sprintf("url = %q\napi = \"v1\"\ndatabase = %q\n", url, db) + brisk
}

func v2(url, bucket string) string {
	return fmt.Sprintf("url = %q\napi = \"v2\"\norg = \"o\"\nbucket = %q\n", url, bucket) + brisk
}

const brisk = "retry_min = \"100ms\"\nretry_max = \"1s\"\n"

// A gateway is an agent with its configuration and data, started and killed over and over.
type gateway struct {
	*testbed.Process
	t    *testing.T
	prog program
	conf string // path of the configuration
	dir  string // of the store
	log  string
}

// newGateway writes the configuration and starts nothing. c.dir is set to a folder that is not there yet.
func newGateway(t *testing.T, prog program, c config) *gateway {
	t.Helper()
	home := t.TempDir()
	c.dir = filepath.Join(home, "data")
	g := &gateway{t: t, prog: prog, conf: filepath.Join(home, "edgeagent.toml"), dir: c.dir, log: filepath.Join(home, "edgeagent.log")}
	writeFile(t, g.conf, c.text())
	return g
}

// start runs the agent; its log goes on after those before.
func (g *gateway) start() {
	g.t.Helper()
	g.Process = testbed.Start(g.t, g.prog.command("run", "-c", g.conf), g.log)
}

// stop ends the agent as the system does and fails the test unless it goes in order.
func (g *gateway) stop() {
	g.t.Helper()
	if code, ok := g.Terminate(soon); !ok || code != 0 {
		g.t.Fatalf("stopped with code %d, in time %v; want 0, true", code, ok)
	}
}

// checkStore fails the test unless the store of the stopped agent is whole and its points balance.
func (g *gateway) checkStore() {
	g.t.Helper()
	s, err := buffer.Open(buffer.Options{Dir: g.dir, MaxSize: storeSize})
	if err != nil {
		g.t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		g.t.Errorf("store: %v", err)
	}
	if err := s.Close(); err != nil {
		g.t.Errorf("close store: %v", err)
	}
}

// storeSize is the default of buffer.max_size.
const storeSize = 256 << 20

// status asks the agent as a person does; false while it does not answer.
func (g *gateway) status() (status.Report, bool) {
	g.t.Helper()
	var r status.Report
	out, _, _ := g.prog.output(g.t, "status", "--json", "-c", g.conf)
	return r, json.Unmarshal([]byte(out), &r) == nil
}

// await asks for the status until ok says true of it, and returns that one.
func (g *gateway) await(limit time.Duration, what string, ok func(status.Report) bool) status.Report {
	g.t.Helper()
	var r status.Report
	waitFor(g.t, limit, what, func() string { return shown(r) }, func() bool {
		if !g.Running() {
			g.t.Fatalf("the agent has ended while waiting for %s", what)
		}
		got, answered := g.status()
		if answered {
			r = got
		}
		return answered && ok(r)
	})
	return r
}

// awaitLog waits until the log holds text n times.
func (g *gateway) awaitLog(limit time.Duration, n int, text string) {
	g.t.Helper()
	waitFor(g.t, limit, fmt.Sprintf("%q %d times in the log", text, n), g.Log, func() bool { return strings.Count(g.Log(), text) >= n })
}

// answers reports whether the agent is up.
func answers(status.Report) bool { return true }

// delivered reports whether nothing taken is unacknowledged, that is uncommitted, and nothing final is left to upload.
func delivered(r status.Report) bool { return r.MQTT.Unacked == 0 && r.Points.Queued == 0 }

// shown is what matters of a report when a test fails.
func shown(r status.Report) string {
	text, _ := json.Marshal(struct {
		MQTT   status.MQTT
		Ledger status.Ledger
		Points status.Points
		Uplink status.Uplink
	}{r.MQTT, r.Ledger, r.Points, r.Uplink})
	return string(text)
}

// balanced fails the test unless both identities hold, by this test's own sums.
func balanced(t *testing.T, r status.Report) {
	t.Helper()
	l, p := r.Ledger, r.Points
	sum := l.Windowed + l.Late + l.Duplicate + l.Retained
	for _, n := range l.Rejected {
		sum += n
	}
	if l.Received != sum || !l.Balanced {
		t.Errorf("ledger: received %d, columns sum up to %d, balanced %v", l.Received, sum, l.Balanced)
	}
	in := p.Finalized + p.Updated + p.LateReports + p.LateReadings + p.Health + p.Carried
	out := p.Uploaded + p.Queued + p.Parked + p.Evicted + p.Superseded
	if in != out || !p.Balanced {
		t.Errorf("points: %d in, %d out, balanced %v", in, out, p.Balanced)
	}
}

// killAtRandom kills the agent within most and starts it again.
func (g *gateway) killAtRandom(rng *rand.Rand, most time.Duration) {
	g.t.Helper()
	pause(rng, most)
	g.Kill()
	g.start()
}

// killOnLink does so, and every other time what the agent has sent through the tap before that is lost with it.
func (g *gateway) killOnLink(rng *rand.Rand, tap *testbed.TapProxy, most time.Duration) {
	g.t.Helper()
	if rng.IntN(2) == 0 {
		tap.Stall(testbed.FromClient)
	}
	pause(rng, most)
	g.Kill()
	tap.Cut()
	tap.Resume()
	g.start()
}

// reconfigure replaces what matches in the configuration; the match must be there.
func (g *gateway) reconfigure(match, with string) {
	g.t.Helper()
	text := string(readFile(g.t, g.conf))
	re := regexp.MustCompile(match)
	if !re.MatchString(text) {
		g.t.Fatalf("no %s in the configuration", match)
	}
	writeFile(g.t, g.conf, re.ReplaceAllLiteralString(text, with))
}
