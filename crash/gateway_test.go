package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A config is what differs between the configurations under test.
type config struct {
	broker string
	source string // more lines of the source, or another source
	window string
	buffer string // "" is a commit interval of 300 ms
	uplink string // with url, api and what the api needs
	mirror string // url of a second server: then it has an uplink too, and the first sends the newest first
	mqtt   string
}

const configText = `[gateway]
id = "gw"
clock = "trusted"
[mqtt]
brokers = [%q]
%s
[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"
time = "ts"
time_format = "unix_ms"
%s
[window]
%s
[watermark]
max_future = "0s"
idle_timeout = "0s"
late_readings = "uplink"
[buffer]
dir = %q
%s
%s
[http]
listen = ""
`

func (c config) text(dir string) string {
	if c.buffer == "" {
		c.buffer = `commit_interval = "300ms"`
	}
	const calm = "health_interval = \"0s\"\nretry_min = \"100ms\"\nretry_max = \"500ms\"\n"
	uplinks := "[uplink]\n" + c.uplink + calm
	if c.mirror != "" {
		uplinks = "[[uplink]]\nname = \"central\"\norder = \"newest\"\nbatch_points = 20\n" + c.uplink + calm +
			"[[uplink]]\nname = \"mirror\"\nbatch_points = 30\n" + v1(c.mirror, "copy") + calm
	}
	return fmt.Sprintf(configText, c.broker, c.mqtt, c.source, c.window, dir, c.buffer, uplinks)
}

// v1 is an uplink to a database of a server.
func v1(url, db string) string {
	return fmt.Sprintf("url = %q\napi = \"v1\"\ndatabase = %q\n", url, db)
}

// A gateway is an agent with its configuration and data, started and killed over and over.
type gateway struct {
	*testbed.Process
	t    *testing.T
	bin  string
	conf string // path of the configuration
	dir  string // of the store
	log  string
	env  []string

	launcher []string // put in front of the agent, which takes its place
	tracer   []string // put in front of the agent: then Process is the tracer, and the agent its child
}

// newGateway writes the configuration and starts nothing.
func newGateway(t *testing.T, c config) *gateway {
	t.Helper()
	home := t.TempDir()
	g := &gateway{t: t, bin: testbed.Build(t), conf: filepath.Join(home, "edgeagent.toml"),
		dir: filepath.Join(home, "data"), log: filepath.Join(home, "edgeagent.log")}
	writeFile(t, g.conf, c.text(g.dir))
	return g
}

// start runs the agent; its log goes on after those before.
func (g *gateway) start() {
	g.t.Helper()
	argv := slices.Concat(g.tracer, g.launcher, testbed.Command(g.bin, "run", "-c", g.conf).Args) // an emulator stands next to its program
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), g.env...)
	p := testbed.Start(g.t, cmd, g.log)
	g.Process = p
	if g.tracer != nil {
		g.t.Cleanup(func() { signalChildren(p.Pid(), syscall.SIGKILL) }) // a tracer leaves its tracee behind
	}
}

// signal sends a signal to the agent.
func (g *gateway) signal(sig syscall.Signal) {
	if !g.Running() {
		return
	}
	if g.tracer != nil {
		signalChildren(g.Pid(), sig)
	} else {
		g.Signal(sig)
	}
}

// kill ends the agent as a power cut would, and waits until it is gone.
func (g *gateway) kill() {
	g.t.Helper()
	testbed.WaitFor(g.t, soon, "the agent to be gone", func() bool {
		g.signal(syscall.SIGKILL) // again and again: a tracer may not have started it yet
		return !g.Running()
	})
}

// stop ends the agent as the system does and fails the test unless it goes in order.
func (g *gateway) stop() {
	g.t.Helper()
	g.signal(syscall.SIGTERM)
	select {
	case <-g.Done():
	case <-time.After(soon):
		g.kill() // not its tracer alone, which would leave it behind
		g.t.Fatalf("the agent did not stop within %v", soon)
	}
	if code, _ := g.Wait(soon); code != 0 {
		g.t.Fatalf("stopped with code %d, want 0", code)
	}
}

// status asks the agent; false while it does not answer.
func (g *gateway) status() (status.Report, bool) {
	ctx, cancel := context.WithTimeout(g.t.Context(), 5*time.Second)
	defer cancel()
	r, err := status.Ask(ctx, agent.SocketPath(g.dir))
	return r, err == nil
}

// await asks for the status until ok says true of it, and returns that one.
func (g *gateway) await(limit time.Duration, what string, ok func(status.Report) bool) status.Report {
	g.t.Helper()
	var r status.Report
	deadline := time.Now().Add(limit)
	testbed.WaitFor(g.t, 2*limit, what, func() bool {
		if !g.Running() {
			g.t.Fatalf("the agent has ended while waiting for %s", what)
		}
		got, answered := g.status()
		if answered {
			r = got
		}
		if answered && ok(r) {
			return true
		}
		if time.Now().After(deadline) {
			g.t.Fatalf("waited %v for %s; last seen: %+v", limit, what, r)
		}
		return false
	})
	return r
}

// answers reports whether the agent is up.
func answers(status.Report) bool { return true }
