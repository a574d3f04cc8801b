package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A picky server takes every line but those of sensor "bad", until it is mended.
type picky struct {
	*httptest.Server
	mended atomic.Bool
}

func newPicky(t *testing.T) *picky {
	p := &picky{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Influxdb-Version", "1.8.10")
		if !p.mended.Load() && bytes.Contains(body, []byte("sensor=bad")) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"partial write: field type conflict dropped=1"}`)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(p.Close)
	return p
}

// A box is a gateway with its broker, its configuration and, now and then, a running agent.
type box struct {
	t           *testing.T
	broker      *testbed.Broker
	dir, config string
	server      string
	stop        func()
}

func newBox(t *testing.T, server string) *box {
	b := &box{t: t, broker: testbed.StartMosquitto(t, testbed.MosquittoOptions{}), dir: filepath.Join(t.TempDir(), "data"), server: server}
	b.config = filepath.Join(t.TempDir(), "edgeagent.toml")
	b.configure("temperature")
	return b
}

// configure writes the configuration with a path for values.
func (b *box) configure(value string) {
	b.t.Helper()
	text := fmt.Sprintf(`
[gateway]
id = "gw"
clock = "trusted"
[mqtt]
brokers = [%q]
[[source]]
topic = "s/{sensor}"
value = %q
time = "ts"
[buffer]
dir = %q
commit_interval = "100ms"
[uplink]
url = %q
database = "d"
gzip = false
retry_min = "100ms"
retry_max = "1s"
health_interval = "0s"
[log]
level = "error"
[http]
listen = ""
`, b.broker.URL(), value, b.dir, b.server)
	if err := os.WriteFile(b.config, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// mirror adds a second server to the configuration; the first becomes "central".
func (b *box) mirror(server string) {
	b.t.Helper()
	text, err := os.ReadFile(b.config)
	if err != nil {
		b.t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "[uplink]\n")
	table, rest, _ := strings.Cut(rest, "[log]")
	first += "[[uplink]]\nname = \"central\"\n" + table + "[[uplink]]\nname = \"mirror\"\n" + strings.Replace(table, b.server, server, 1)
	if err := os.WriteFile(b.config, []byte(first+"[log]"+rest), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// start runs the agent until halt.
func (b *box) start() {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"run", "-c", b.config}, streams{strings.NewReader(""), io.Discard, &errs})
	}()
	b.stop = func() {
		cancel()
		if code := <-ended; code != 0 {
			b.t.Errorf("agent ended with %d: %s", code, errs.String())
		}
	}
	b.await("the agent to be connected", func(r status.Report) bool { return r.MQTT.Connected })
}

func (b *box) halt() {
	b.t.Helper()
	b.stop()
}

// base is what ages count from: the start of a window, so that it does not hang on the time of day which readings share one.
var base = time.Now().Truncate(5 * time.Minute)

// publish sends readings: sensor, seconds before now.
func (b *box) publish(readings ...any) {
	b.t.Helper()
	c := client(b.t, b.broker, "sender", true)
	defer c.Disconnect(100)
	for i := 0; i < len(readings); i += 2 {
		at := base.Add(-time.Duration(readings[i+1].(int)) * time.Second).Unix()
		done(b.t, c.Publish(fmt.Sprint("s/", readings[i]), 1, false, fmt.Sprintf(`{"temperature":%d.5,"ts":%d}`, i, at)))
	}
}

// await asks for the status until ok.
func (b *box) await(what string, ok func(status.Report) bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	var r status.Report
	for {
		if got, err := status.Ask(ctx, agent.SocketPath(b.dir)); err == nil {
			if r = got; ok(r) {
				return
			}
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("waited for %s; last: %+v", what, r)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask runs a buffer command with --json that must succeed, and decodes what it prints.
func (b *box) ask(answer any, args ...string) {
	b.t.Helper()
	code, out, errs := command(b.t, append([]string{"buffer", args[0], "-c", b.config, "--json"}, args[1:]...)...)
	if err := json.Unmarshal([]byte(out), answer); err != nil || code != 0 {
		b.t.Fatalf("buffer %v: exit code %d, %s%s", args, code, out, errs)
	}
}

// says runs a buffer command and wants an exit code and parts of what it prints.
func (b *box) says(code int, parts []string, args ...string) {
	b.t.Helper()
	gateway{b.t, b.dir, b.config}.wants(code, parts, args...)
}
