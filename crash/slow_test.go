package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// slowDisk is strace as a disk of which every sync takes so long; it writes them to a file.
func slowDisk(t *testing.T, file string, each time.Duration) []string {
	t.Helper()
	return []string{testbed.Need(t, "strace"), "-f", "--seccomp-bpf", "-qq", "-o", file, "-e", "trace=fsync,fdatasync",
		"-e", fmt.Sprintf("inject=fsync,fdatasync:delay_exit=%d", each.Microseconds())}
}

// syncs counts the syncs in a file that slowDisk wrote.
func syncs(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "sync(")
}

// TestSlowDisk has readings come steadily while every sync takes long, with a keep-alive shorter than the test: the
// connection must hold, acknowledgements keep up, syncs stay few, and the stop go in order.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	length := 5 * time.Second
	if long() {
		length = time.Minute
	}
	for _, tt := range []struct {
		each   time.Duration
		flight int
	}{
		{30 * time.Millisecond, 0},
		{500 * time.Millisecond, 20},
	} {
		t.Run(fmt.Sprint(tt.each, " ", tt.flight, " in flight"), func(t *testing.T) {
			t.Parallel()
			trace := filepath.Join(t.TempDir(), "syncs")
			o := testbed.MosquittoOptions{MaxInflight: tt.flight, Conf: []string{"max_keepalive 10"}}
			w := newWorldWith(t, o, "keep_alive = \"2s\"\n", slowDisk(t, trace, tt.each)...)
			before, began := syncs(t, trace), time.Now()
			const speed = 40 // few windows: each costs syncs of its own
			p := sim.FleetParams{Sensors: 12, Rate: 2.5, For: length * speed, Start: fleetStart.UnixNano(), Seed: w.rng.Uint64(), Late: 0.06, Repeat: 0.04, Bad: 0.02}
			sum, err := sim.Simulate(t.Context(), sim.SimulateOptions{Broker: w.broker.URL(), Fleet: p, Speed: speed})
			if err != nil {
				t.Fatal(err)
			}
			w.await(inTheEnd, "everything to be acknowledged", func(r status.Report) bool {
				return r.Ledger.Received == sum.Sent && r.MQTT.Unacked == 0
			})
			took, n := time.Since(began), syncs(t, trace)-before
			t.Logf("%d messages in %v with %d syncs", sum.Sent, took.Round(time.Millisecond), n)
			// A commit is two syncs. Beside those for messages there are those for what is uploaded, each after a request
			// and with its floor, and now and then one for a larger file.
			if most := 2*int(sum.Sent)/10 + 40; n > most {
				t.Errorf("%d syncs for %d messages, want at most %d", n, sum.Sent, most)
			}
			if late := took - length; late > 20*tt.each+5*time.Second {
				t.Errorf("all was acknowledged %v after it was sent", late)
			}
			if c := w.tap.Conns(); c != 1 {
				t.Errorf("%d connections, want the first to hold", c)
			}
			w.finish()
		})
	}
}

// TestCutsDuringSlowCommits breaks the connection again and again while commits take long, so that acknowledgements
// come for connections that are gone, and what was not acknowledged comes again before or after its commit.
func TestCutsDuringSlowCommits(t *testing.T) {
	t.Parallel()
	cuts := 6
	if long() {
		cuts = 200
	}
	w := newWorld(t, testbed.MosquittoOptions{MaxInflight: 20}, slowDisk(t, filepath.Join(t.TempDir(), "syncs"), 60*time.Millisecond)...)
	w.publishFleet(sim.FleetParams{Sensors: 12, Rate: 3, Start: fleetStart.UnixNano(), Seed: w.rng.Uint64(), Late: 0.06, Repeat: 0.04, Bad: 0.02}, 50)
	for range cuts {
		pause(w.rng, mostPause)
		w.cut()
	}
	w.finish()
}
