package trials

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/agent"
	"edgeagent/status"
	"edgeagent/testbed"
)

// t0 is the time of the trials, 2023-11-14T22:15:00Z in seconds, a multiple of 300.
const t0 = 1700000100

// Deadlines: generous, since the machine may be a loaded two-core one.
const soon = 60 * time.Second

// A config is what differs between the configurations of the trials.
type config struct {
	broker, uplink string
	gateway        string // more lines of these sections
	mqtt           string
	buffer         string
	future         string // "" is "0s"
	health         string // "" is "0s"
	retry          string // how long the uplink waits between attempts; "" is 100 to 500 ms
}

const configText = `[gateway]
id = "gw"
%s
[mqtt]
brokers = [%q]
%s
[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"
time = "ts"
time_format = "unix_ms"
[watermark]
max_future = %q
idle_timeout = "0s"
[buffer]
dir = %q
commit_interval = "100ms"
%s
[uplink]
%s
health_interval = %q
gzip = false
retry_min = %q
retry_max = %q
[http]
listen = ""
`

func (c config) text(dir string) string {
	or := func(s, instead string) string {
		if s == "" {
			return instead
		}
		return s
	}
	return fmt.Sprintf(configText, c.gateway, or(c.broker, "tcp://127.0.0.1:1"), c.mqtt, or(c.future, "0s"), dir, c.buffer, c.uplink, or(c.health, "0s"),
		or(c.retry, "100ms"), or(c.retry, "500ms"))
}

// v1 is an uplink to a database of a server.
func v1(url, db string) string {
	return fmt.Sprintf("url = %q\napi = \"v1\"\ndatabase = %q\n", url, db)
}

// A gateway is an agent with its configuration and data, started and killed over and over.
type gateway struct {
	*testbed.Process
	t              *testing.T
	bin, conf, dir string
}

// newGateway starts nothing.
func newGateway(t *testing.T) *gateway {
	t.Helper()
	home := t.TempDir()
	return &gateway{t: t, bin: testbed.Build(t), conf: filepath.Join(home, "edgeagent.toml"), dir: filepath.Join(home, "data")}
}

// start runs the agent with a configuration; its log goes on after those before.
func (g *gateway) start(c config) {
	g.t.Helper()
	if err := os.WriteFile(g.conf, []byte(c.text(g.dir)), 0o600); err != nil {
		g.t.Fatal(err)
	}
	g.Process = testbed.Start(g.t, testbed.Command(g.bin, "run", "-c", g.conf), g.conf+".log")
}

// stop ends the agent as the system does and fails the test unless it goes in order.
func (g *gateway) stop() {
	g.t.Helper()
	if code, ok := g.Terminate(soon); !ok || code != 0 {
		g.t.Fatalf("stopped with code %d, in time %v; want 0, true", code, ok)
	}
}

// await asks for the status until ok says true of it, and returns that one.
func (g *gateway) await(what string, ok func(status.Report) bool) status.Report {
	g.t.Helper()
	var r status.Report
	deadline := time.Now().Add(soon)
	testbed.WaitFor(g.t, 2*soon, what, func() bool {
		ctx, cancel := context.WithTimeout(g.t.Context(), 5*time.Second)
		defer cancel()
		got, err := status.Ask(ctx, agent.SocketPath(g.dir))
		if err == nil {
			r = got
		}
		if err == nil && ok(r) {
			return true
		}
		if !g.Running() || time.Now().After(deadline) {
			g.t.Fatalf("waiting for %s: running %v, last seen %+v", what, g.Running(), r)
		}
		return false
	})
	return r
}

// delivered reports whether nothing that was taken waits for a commit or for the server.
func delivered(r status.Report) bool {
	return r.MQTT.Connected && r.MQTT.Unacked == 0 && r.Points.Queued == 0
}

// balanced fails the test unless both identities hold, by this test's own sums.
func balanced(t *testing.T, r status.Report) {
	t.Helper()
	l, p := r.Ledger, r.Points
	sum := l.Windowed + l.Late + l.Duplicate + l.Retained
	for _, n := range l.Rejected {
		sum += n
	}
	in := p.Finalized + p.Updated + p.LateReports + p.LateReadings + p.Health + p.Carried
	out := p.Uploaded + p.Queued + p.Parked + p.Evicted + p.Superseded
	if l.Received != sum || in != out {
		t.Errorf("received %d, in columns %d; %d points made, %d accounted for", l.Received, sum, in, out)
	}
}

// A publisher publishes at QoS 1 over one connection, so that the order of arrival is the order of publishing.
type publisher struct {
	t      *testing.T
	client paho.Client
}

func newPublisher(t *testing.T, url string) publisher {
	t.Helper()
	c := paho.NewClient(paho.NewClientOptions().AddBroker(url).SetClientID("publisher"))
	p := publisher{t, c}
	p.settled(c.Connect())
	t.Cleanup(func() { c.Disconnect(100) })
	return p
}

// raw publishes a payload of a sensor and waits until the broker has it.
func (p publisher) raw(sensor, payload string) {
	p.t.Helper()
	p.settled(p.client.Publish("sensors/"+sensor+"/temperature", 1, false, payload))
}

// at publishes a reading of a sensor, s seconds after t0.
func (p publisher) at(sensor string, s, value float64) {
	p.t.Helper()
	p.raw(sensor, reading(s, value))
}

// windows publishes one reading of each of ten sensors in each window from the first to before the last, and one of
// another that makes all of them final.
func (p publisher) windows(first, last int) {
	p.t.Helper()
	for w := first; w < last; w++ {
		for s := range 10 {
			p.at(fmt.Sprint("s", s), float64(300*w), float64(20+s))
		}
	}
	p.at("z", float64(300*(last+2)), 30)
}

func (p publisher) settled(token paho.Token) {
	p.t.Helper()
	if !token.WaitTimeout(soon) || token.Error() != nil {
		p.t.Fatalf("publisher: %v", token.Error())
	}
}

// reading is a payload with a reading s seconds after t0.
func reading(s, value float64) string {
	return fmt.Sprintf(`{"ts": %d, "temperature": %g}`, t0*1000+int64(s*1000), value)
}

// pubacks counts what the agent has acknowledged through a tap.
func pubacks(tap *testbed.TapProxy) int { return packets(tap, 4, testbed.FromClient) }

// subscribed counts the subscriptions that the broker has confirmed through a tap.
func subscribed(tap *testbed.TapProxy) int { return packets(tap, 9, testbed.FromServer) }

func packets(tap *testbed.TapProxy, kind byte, from testbed.Direction) int {
	n := 0
	for _, p := range testbed.Packets(tap.Chunks()) {
		if p.Type == kind && p.From == from {
			n++
		}
	}
	return n
}
