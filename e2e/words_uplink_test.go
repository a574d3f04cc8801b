package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// windowed are readings of one sensor, one in each of n windows and two more that make these final.
func windowed(n int) []sim.Record {
	var all []sim.Record
	for i := range n + 3 {
		at := fleetStart.Add(time.Duration(i) * 5 * time.Minute).UnixMilli()
		all = append(all, sim.Record{Topic: "sensors/a/temperature", Payload: fmt.Appendf(nil, `{"temperature": %d.5, "ts": %d}`, i, at)})
	}
	return all
}

// windows are the points of the first n of them.
func windows(n int) points {
	p := points{}
	for i := range n {
		at := fleetStart.Add(time.Duration(i) * 5 * time.Minute).UnixNano()
		p[identity("temperature,gateway=gw,sensor=a", at)] = fmt.Sprintf("count=1i,max=%d.5", i)
	}
	return p
}

// queued reports whether n points wait.
func queued(n int64) func(status.Report) bool {
	return func(r status.Report) bool { return r.Points.Queued == n && r.MQTT.Unacked == 0 }
}

// quick commits at once, so that tests need not wait for the interval.
const quick = "commit_interval = \"200ms\""

// TestNoDatabase has a server without the database: it says so once, keeps all, and delivers when told after it is made.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	slow := strings.Replace(v1(server.URL(), "edge"), `retry_max = "1s"`, `retry_max = "1h"`, 1)
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: slow, buffer: quick})
	w.start()
	awaitSubscription(t, b, "gw")
	p := newPublisher(t, b.URL())
	p.publish(windowed(20)...)
	w.await(soon, "the refusal", func(r status.Report) bool { return r.Uplink.State == "blocked" && queued(20)(r) })
	server.CreateDB("edge")
	w.Signal(syscall.SIGHUP)
	r := w.await(soon, "delivery", queued(0))
	balanced(t, r)
	samePoints(t, "server", held(server, "edge"), windows(20))
	w.someLines("uplink ",
		`ERROR uplink blocked  cause="404 Not Found: database not found: \"edge\"; check the token, its permissions, and that what it writes into exists" to="`+
			server.URL()+`/write (database \"edge\")" attempts=1`,
		`INFO  uplink up again  to="`+server.URL()+`/write (database \"edge\")" attempts=1`)
	w.someLines("secrets", `INFO  edgeagent: secrets are read anew`)
	w.stop()
}

// TestNoServer starts without a server: readings are taken all the same, and delivered when it is there.
func TestNoServer(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	server.Stop()
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: v1(server.URL(), "edge"), buffer: quick})
	w.start()
	awaitSubscription(t, b, "gw")
	newPublisher(t, b.URL()).publish(windowed(20)...)
	w.await(soon, "several attempts", func(r status.Report) bool { return r.Uplink.State == "down" && r.UptimeS >= 3 && queued(20)(r) })
	server.Restart()
	w.await(soon, "delivery", queued(0))
	samePoints(t, "server", held(server, "edge"), windows(20))
	w.awaitLog(soon, 1, "uplink up again")
	got := lines(w.Log(), "uplink ")
	want := `WARN  uplink down  cause="dial tcp ` + server.Addr() + `: connect: connection refused"`
	if len(got) != 2 || !strings.HasPrefix(got[0], want) || !strings.HasPrefix(got[1], `INFO  uplink up again`) {
		t.Errorf("log of the uplink:\n%s\nwant %s and that it is up again", strings.Join(got, "\n"), want)
	}
	w.stop()
}

// TestNewToken has a server that wants another token than the file holds, until the file is mended and SIGHUP says so.
func TestNewToken(t *testing.T) {
	t.Parallel()
	store := sim.NewReceiver(sim.ReceiverOptions{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token new-secret" {
			rw.Header().Set("X-Influxdb-Version", "2.7")
			rw.WriteHeader(http.StatusUnauthorized)
			_, _ = rw.Write([]byte(`{"code":"unauthorized","message":"unauthorized access"}`))
			return
		}
		store.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	token := filepath.Join(t.TempDir(), "token")
	writeFile(t, token, "old-secret\n")
	b := newBroker(t, testbed.MosquittoOptions{})
	uplink := strings.Replace(v2(server.URL, "edge"), `retry_max = "1s"`, `retry_max = "1h"`, 1)
	w := newGateway(t, native(t), config{broker: b.URL(), buffer: quick, uplink: uplink + fmt.Sprintf("token_file = %q", token)})
	w.start()
	awaitSubscription(t, b, "gw")
	newPublisher(t, b.URL()).publish(windowed(20)...)
	w.await(soon, "the refusal", func(r status.Report) bool { return r.Uplink.State == "blocked" && queued(20)(r) })
	writeFile(t, token, "new-secret\n")
	w.Signal(syscall.SIGHUP)
	w.await(soon, "delivery", queued(0))
	samePoints(t, "server", last(store.Snapshot()), windows(20))
	w.stop()
	for _, s := range []string{"old-secret", "new-secret"} {
		if strings.Contains(w.Log(), s) {
			t.Errorf("token %s is in the log", s)
		}
	}
	w.someLines(" ERROR ", `ERROR uplink blocked  cause="401 Unauthorized: unauthorized access; check the token, its permissions, `+
		`and that what it writes into exists" to="`+server.URL+`/api/v2/write (bucket \"edge\")" attempts=1`)
}

// TestStop checks that SIGTERM commits and acknowledges what was taken, and says what it does.
func TestStop(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere, buffer: "commit_interval = \"1m\""})
	w.start()
	awaitSubscription(t, b, "gw")
	newPublisher(t, b.URL()).publish(windowed(1)...)
	w.await(soon, "readings that are not committed", func(r status.Report) bool { return r.Ledger.Received == 4 && r.MQTT.Unacked == 4 })
	began := time.Now()
	w.stop()
	if took := time.Since(began); took > stopTime {
		t.Errorf("the stop took %v, want at most %v", took, stopTime)
	}
	w.someLines("edgeagent stopped", `INFO  edgeagent stopped  open_windows=3 queued=1`)
	w.someLines("mqtt: disconnected", `INFO  mqtt: disconnected  broker=`+b.URL())
	w.checkStore()
	w.start()
	r := w.await(soon, "the next start", func(r status.Report) bool { return r.MQTT.Connected })
	if r.Ledger.Received != 4 || r.Ledger.Windowed != 4 || r.Points.Finalized != 1 || r.Windows.Open != 3 {
		t.Errorf("after the stop: %s", shown(r))
	}
	w.stop()
}

// stopTime is what an orderly stop may take.
const stopTime = 5 * time.Second

// TestSecondSignal has a stop that hangs, in a request that is never answered, until the second signal.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-release
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: v1(server.URL, "edge"), buffer: quick})
	w.start()
	awaitSubscription(t, b, "gw")
	newPublisher(t, b.URL()).publish(windowed(20)...)
	waitFor(t, soon, "a request", w.Log, func() bool { return asked.Load() > 0 })
	w.await(soon, "the commit", queued(20))
	w.Signal(syscall.SIGTERM)
	w.awaitLog(soon, 1, "mqtt: disconnected") // the first signal is at work
	if !w.Running() {
		t.Fatal("the stop did not wait for the request")
	}
	began := time.Now()
	code, ok := w.Terminate(soon)
	if took := time.Since(began); !ok || code != -1 || took > 2*time.Second {
		t.Errorf("the second signal: code %d, by itself %v, after %v; want -1 (by the signal), true, at once", code, ok, took)
	}
	w.checkStore()
	w.start()
	w.await(soon, "all still queued", queued(20))
	w.Kill()
}
