package testbed

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// InfluxOptions shape an InfluxDB server. The zero value is one without authentication that takes v1 and v2 writes.
type InfluxOptions struct {
	Flux bool     // serve /api/v2/query too: the start then takes some ten seconds of a processor
	HTTP []string // more lines of the [http] section, for instance "max-body-size = 1000"
}

// Influx is an influxd 1.8 of the test's own. It serves /write, /query and /api/v2/write.
type Influx struct {
	*Process
	Port int // HTTP
	Dir  string

	t      TB
	bin    string
	limit  time.Duration // for a start
	client *http.Client
}

// StartInfluxd starts a server with no databases and returns when it answers. It ends with the test.
func StartInfluxd(t TB, opts InfluxOptions) *Influx {
	t.Helper()
	i := &Influx{t: t, bin: Need(t, "influxd"), Dir: t.TempDir(), client: &http.Client{Timeout: startTimeout}, limit: startTimeout}
	if opts.Flux {
		i.limit *= 5
	}
	showLog(t, i.logPath())
	t.Cleanup(i.client.CloseIdleConnections)
	var err error
	for range portTries {
		i.Port = FreePort(t)
		if err = i.writeConf(FreePort(t), opts); err != nil {
			break
		}
		if err = i.start(); err == nil {
			return i
		}
	}
	t.Fatalf("start influxd: %v", err)
	return nil
}

// Addr is host:port of the HTTP service.
func (i *Influx) Addr() string { return loopback(i.Port) }

// URL is the base URL for uplinks, without a slash at its end.
func (i *Influx) URL() string { return "http://" + i.Addr() }

// Stop ends the server with SIGTERM; what it has taken stays in its folder.
func (i *Influx) Stop() {
	i.t.Helper()
	if _, ok := i.Terminate(startTimeout); !ok {
		i.t.Fatalf("influxd did not stop within %v", startTimeout)
	}
}

// Restart stops the server if it still runs and starts it on the same ports with the same data.
func (i *Influx) Restart() {
	i.t.Helper()
	i.Stop()
	if err := i.start(); err != nil {
		i.t.Fatalf("restart influxd: %v", err)
	}
}

func (i *Influx) start() error {
	p, err := start(i.t, exec.Command(i.bin, "-config", filepath.Join(i.Dir, "influxdb.conf")), i.logPath())
	if err != nil {
		return err
	}
	i.Process = p
	err = poll(i.limit, "influxd to answer", func() bool { return !p.Running() || i.serves(p) })
	if err == nil && !p.Running() {
		err = fmt.Errorf("influxd ended at once:\n%s", p.LogTail(tailLines))
	}
	if err != nil {
		p.Kill()
	}
	return err
}

// serves reports whether it is this server that answers: until it listens, which with Flux takes long, another test's may
// have got the port.
func (i *Influx) serves(p *Process) bool {
	return strings.Contains(p.Log(), "Listening on HTTP") && i.pings()
}

// pings reports whether the HTTP service answers.
func (i *Influx) pings() bool {
	probe := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := probe.Get(i.URL() + "/ping")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusNoContent
}

func (i *Influx) logPath() string { return filepath.Join(i.Dir, "influxd.log") }

// conf keeps the server small and alone: no reports home, no statistics of its own, small caches, only the loopback.
const conf = `reporting-disabled = true
bind-address = "127.0.0.1:%d"
[meta]
dir = "%[2]s/meta"
[data]
dir = "%[2]s/data"
wal-dir = "%[2]s/wal"
query-log-enabled = false
cache-max-memory-size = "64m"
cache-snapshot-memory-size = "4m"
series-id-set-cache-size = 100
max-concurrent-compactions = 1
[monitor]
store-enabled = false
[subscriber]
enabled = false
[continuous_queries]
enabled = false
[http]
bind-address = "127.0.0.1:%d"
flux-enabled = %t
log-enabled = false
%s
`

func (i *Influx) writeConf(rpcPort int, o InfluxOptions) error {
	text := fmt.Sprintf(conf, rpcPort, filepath.ToSlash(i.Dir), i.Port, o.Flux, strings.Join(o.HTTP, "\n"))
	if err := os.WriteFile(filepath.Join(i.Dir, "influxdb.conf"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write influxdb.conf: %w", err)
	}
	return nil
}
