package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"edgeagent/status"
	"edgeagent/testbed"
)

// A box is a gateway: the agent's binary, its configuration and its store, and a server that takes all its points.
type box struct {
	bin    string
	conf   string // path of the configuration
	store  string // folder
	listen string // host:port of the agent's pages
	config boxConfig
}

// A boxConfig is what differs between measurements.
type boxConfig struct{ broker, delay, sink string }

// config is the least configuration that takes the readings; all that costs time is at its default.
const config = `[gateway]
id = "bench"
[mqtt]
brokers = [%q]
client_id = %q
[[source]]
topic = "bench/{sensor}/temperature"
value = "temperature"
time = "ts"
time_format = "unix_ms"
[watermark]
delay = %q
[buffer]
dir = %q
[uplink]
url = %q
api = "v1"
database = "bench"
[http]
listen = %q
`

// defaultDelay is the agent's default of watermark.delay.
const defaultDelay = "10m"

// newBox makes a gateway of the broker at url, with an empty store.
func newBox(h *host, bin, url string) *box {
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("X-Influxdb-Version", "1.8.10")
		w.WriteHeader(http.StatusNoContent)
	}))
	h.Cleanup(sink.Close)
	dir := h.TempDir()
	b := &box{bin: bin, conf: filepath.Join(dir, "edgeagent.toml"), store: filepath.Join(dir, "store"),
		listen: fmt.Sprintf("127.0.0.1:%d", testbed.FreePort(h)), config: boxConfig{url, defaultDelay, sink.URL}}
	b.configure(h)
	return b
}

// configure writes the configuration as config says.
func (b *box) configure(h *host) {
	text := fmt.Sprintf(config, b.config.broker, session, b.config.delay, b.store, b.config.sink, b.listen)
	if err := os.WriteFile(b.conf, []byte(text), 0o600); err != nil {
		h.Fatalf("write configuration: %v", err)
	}
}

// start runs the agent, under the program and arguments of tracer if there are any. The tracer must leave the agent the
// process that it was itself.
func (b *box) start(h *host, tracer ...string) *testbed.Process {
	cmd := testbed.Command(b.bin, "run", "-c", b.conf)
	if len(tracer) > 0 {
		cmd = exec.Command(tracer[0], append(tracer[1:], cmd.Args...)...)
	}
	return testbed.Start(h, cmd, filepath.Join(h.TempDir(), "edgeagent.log"))
}

// await waits until the agent says that n readings are in its ledger and every message is acknowledged, and returns all
// that it says.
func (b *box) await(h *host, p *testbed.Process, n int) (r status.Report) {
	testbed.WaitFor(h, drainTimeout, "the agent to take all readings", func() bool {
		b.checkRunning(h, p)
		var err error
		r, err = b.status()
		return err == nil && r.Ledger.Received >= int64(n) && r.MQTT.Unacked == 0
	})
	return r
}

func (b *box) checkRunning(h *host, p *testbed.Process) {
	if !p.Running() {
		h.Fatalf("the agent ended:\n%s", p.LogTail(20))
	}
}

func (b *box) status() (r status.Report, err error) {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Get("http://" + b.listen + "/status")
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	err = json.NewDecoder(resp.Body).Decode(&r)
	return r, err
}

// stop ends the agent in order.
func (b *box) stop(h *host, p *testbed.Process) {
	if code, ok := p.Terminate(time.Minute); !ok || code != 0 {
		h.Fatalf("the agent ended with code %d, in time: %v\n%s", code, ok, p.LogTail(20))
	}
}
