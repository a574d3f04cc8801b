package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgeagent/testbed"
)

// TestSoak runs a fleet of 200 readings a second, 5 % of them late and 2 % repeated, through a real broker into a real
// server by the wall clock. The server is away for the middle third, and the agent is killed five times. In the end the
// server holds exactly what replay makes of the record. EDGEAGENT_SOAK says how long, for instance 30m; without it the
// fleet is smaller, its clock runs fast, and the test is short.
func TestSoak(t *testing.T) {
	length, speed, rate := 12*time.Second, 150.0, 20
	if text := os.Getenv("EDGEAGENT_SOAK"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		speed, rate = 1, 200
	}
	prog, rng := native(t), testbed.Random(t)
	b := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight, Persistence: true})
	server := testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	g := newGateway(t, prog, config{broker: b.URL(), uplink: fmt.Sprintf("url = %q\ndatabase = \"edge\"\nretry_max = \"10s\"\n", server.URL())})
	g.start()
	awaitSubscription(t, b, "gw")
	file := filepath.Join(t.TempDir(), "record.ndjson")
	fleet := testbed.Start(t, prog.command("simulate", "--broker", b.URL(), "--rate", fmt.Sprint(rate), "--sensors", "50",
		"--late", "0.05", "--repeat", "0.02", "--seed", fmt.Sprint(rng.Uint32()), "--speed", fmt.Sprint(speed),
		"--for", (length*time.Duration(speed)).String(), "--record", file), filepath.Join(t.TempDir(), "fleet.log"))

	kill := func(within time.Duration) { g.killAtRandom(rng, within) }
	began := time.Now()
	until := func(share float64) time.Duration {
		return max(time.Until(began.Add(time.Duration(share*float64(length)))), 1)
	}
	kill(until(0.33))
	<-time.After(until(0.33))
	server.Stop()
	kill(until(0.5))
	kill(until(0.6))
	<-time.After(until(0.66))
	server.Restart()
	kill(until(0.8))
	kill(until(0.95))
	if code, ok := fleet.Wait(length + time.Minute); !ok || code != 0 {
		t.Fatalf("simulate ended with %d, in time %v", code, ok)
	}
	record := readFile(t, file)
	checkEnd(t, g, server, record)
	report(t, file)
}

// report prints what the run was.
func report(t *testing.T, file string) {
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("record of %d bytes; five kills, the server away for a third", info.Size())
}
