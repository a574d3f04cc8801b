package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// armProgram is the ARMv6 binary, with the emulator in front of it. Without $EDGEAGENT_ARM_BINARY there is nothing to test:
// scripts/test.sh runs the ARM tests in a step of their own, once it has built one.
func armProgram(t *testing.T) (program, bool) {
	t.Helper()
	bin := os.Getenv("EDGEAGENT_ARM_BINARY")
	switch {
	case bin != "":
	case os.Getenv("CI") == "true":
		t.Log("EDGEAGENT_ARM_BINARY is not set: this is not the step that tests it")
		return nil, false
	default:
		t.Skip("EDGEAGENT_ARM_BINARY is not set: it names the ARMv6 binary to test")
	}
	emulator := strings.Fields(os.Getenv("EDGEAGENT_TEST_EXEC"))
	if len(emulator) == 0 {
		emulator = []string{testbed.Need(t, "qemu-arm-static")}
	}
	return append(emulator, bin), true
}

// TestARM runs the binary for the smallest boards between real servers, killed once, and compares what arrives with what
// the program for this machine makes of the record.
func TestARM(t *testing.T) {
	prog, ok := armProgram(t)
	if !ok {
		return
	}
	if out, _, code := prog.output(t, "version"); code != 0 || !strings.Contains(out, "linux/arm)") {
		t.Fatalf("version: code %d, %q; want one for linux/arm", code, out)
	}
	rng := testbed.Random(t)
	b, server := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	w := newGateway(t, prog, config{broker: b.URL(), buffer: quick, window: `aggregates = ["min", "mean", "stddev"]`,
		uplink: v1(server.URL(), "edge") + "gzip = true"})
	w.start()
	awaitSubscription(t, b, "gw")
	fleet := startFleet(t, b.URL(), ordinary(rng), 600)
	w.killAtRandom(rng, 3*time.Second)
	checkEnd(t, w, server, fleet.recorded())
}

// TestARMReplay replays the golden cases with the binary for the smallest boards.
func TestARMReplay(t *testing.T) {
	prog, ok := armProgram(t)
	if !ok {
		return
	}
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			r := newReplay(t, prog, g.conf)
			r.run(g.files...)
			g.check(t, r)
		})
	}
}
