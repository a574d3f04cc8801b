//go:build !arm

package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeagent/configs"
	"edgeagent/logs"
	"edgeagent/status"
	"edgeagent/testbed"
)

const dayConfig = `
[gateway]
id = "gw"
[mqtt]
brokers = [%q]
[[source]]
topic = "s/{n}"
sensor = "{id}"
value = "t"
[buffer]
dir = %q
max_size = "8MiB"
rejected_ring = "64KiB"
[uplink]
url = "http://127.0.0.1:1"
api = "v2"
org = "o"
bucket = "edge"
health_interval = "30s"
token_file = %q
[http]
listen = ""
`

// TestDayOfFaults is trial F7: bad devices, then a day in which neither broker nor server is there, the clock loses its
// source and gets it back, and the disk is full for five hours. The day passes in a bubble, by its timers; the broker is a
// real one, and while the agent is connected to it no time passes.
func TestDayOfFaults(t *testing.T) {
	disk := smallDisk(t)
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("very-secret-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := configs.Parse("day.toml", fmt.Appendf(nil, dayConfig, broker.URL(), filepath.Join(disk, "data"), token), nil)
	if err != nil {
		t.Fatal(err)
	}
	out := newOutside(t, broker)
	log := new(written)
	synctest.Test(t, func(t *testing.T) {
		var synchronised atomic.Bool
		synchronised.Store(true)
		a, err := Open(Options{Config: cfg, Version: "1", BuildDate: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC),
			Clock: Clock{Synchronised: synchronised.Load}, Logger: logs.New(log, logs.Options{Level: "info"})})
		if err != nil {
			t.Fatal(err)
		}
		a.deaf = true
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		await := func(what string, ok func(status.Report) bool) {
			t.Helper()
			for range out.pause {
				if r, err := a.Status(ctx); err == nil && ok(r) {
					return
				}
			}
			t.Fatalf("waited for %s; log:\n%s", what, log)
		}
		await("the connection", func(r status.Report) bool { return r.MQTT.Connected && a.client.State().Subscribed })
		close(out.publish)
		if err := <-out.published; err != nil {
			t.Fatal(err)
		}
		await("all messages", func(r status.Report) bool { return r.Ledger.Received == 10_003 })
		close(out.kill)
		<-out.killed
		time.Sleep(3 * time.Hour)
		synchronised.Store(false)
		time.Sleep(time.Hour)
		synchronised.Store(true)
		time.Sleep(time.Hour)
		big := filepath.Join(disk, "big")
		_ = os.WriteFile(big, make([]byte, 16<<20), 0o600) // as far as there is room
		time.Sleep(5 * time.Hour)
		if err := os.Remove(big); err != nil {
			t.Fatal(err)
		}
		time.Sleep(13*time.Hour + 57*time.Minute)
		synchronised.Store(false)
		time.Sleep(5 * time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	readTheDay(t, log.String())
}

// readTheDay checks that the log is short, safe, and tells at its end what a technician asks.
func readTheDay(t *testing.T, log string) {
	t.Helper()
	all := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	t.Logf("%d lines in a day of faults", len(all))
	if len(all) >= 300 {
		t.Errorf("%d lines, want fewer than 300", len(all))
	}
	for _, bad := range []string{"\x1b", "\nERROR forged", "zzzz", "very-secret-token", "goroutine ", ".go:", "!!!!"} {
		if strings.Contains(log, bad) {
			t.Errorf("%q is in the log", bad)
		}
	}
	for what, want := range map[string][2]int{
		"mqtt: connection lost":       {1, 1},
		"mqtt: cannot connect":        {3, 15},
		"uplink down":                 {3, 15},
		"clock: not trusted":          {2, 2},
		"clock: trusted from now on":  {1, 1},
		"store: cannot write":         {3, 12},
		"store: writes again":         {1, 1},
		"summary":                     {24, 80},
		"edgeagent starts":            {1, 1},
		"edgeagent stopped":           {1, 1},
		"mqtt: connected":             {1, 1},
		"configuration: ":             {0, 0},
		"mqtt: the broker refuses a ": {0, 0},
	} {
		if n := strings.Count(log, what); n < want[0] || n > want[1] {
			t.Errorf("%q is there %d times, want %d to %d", what, n, want[0], want[1])
		}
	}
	last := strings.Join(all[max(0, len(all)-20):], "\n")
	for _, want := range []string{
		"broker=\"not connected\" broker_since=2000-01-01T00:00:", `broker_error="open connection: dial: connection refused"`,
		"uplink=down uplink_since=2000-01-01T00:", `uplink_error="dial tcp 127.0.0.1:1: connect: connection refused"`,
		"points_waiting=", `clock="NOT TRUSTED"`, "books=balance",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in the last 20 lines", want)
		}
	}
	if t.Failed() {
		t.Logf("the log:\n%s", log)
	}
}
