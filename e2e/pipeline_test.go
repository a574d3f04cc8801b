package e2e

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// fleetStart is when the clocks of all fleets begin: in the past of every build.
var fleetStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// A fleet is one that publishes in the background.
type fleet struct {
	t      *testing.T
	record bytes.Buffer
	sum    sim.Summary
	err    error
	done   chan struct{}
}

// startFleet publishes what sensors send within length, in about a time of length/speed.
func startFleet(t *testing.T, broker string, p sim.FleetParams, speed float64) *fleet {
	t.Helper()
	f := &fleet{t: t, done: make(chan struct{})}
	if p.Start == 0 {
		p.Start = fleetStart.UnixNano()
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(f.done)
		f.sum, f.err = sim.Simulate(ctx, sim.SimulateOptions{Broker: broker, Fleet: p, Speed: speed, Record: &f.record})
	}()
	t.Cleanup(func() { cancel(); <-f.done })
	return f
}

// recorded waits until all is published and returns the record of it.
func (f *fleet) recorded() []byte {
	f.t.Helper()
	select {
	case <-f.done:
	case <-time.After(inTheEnd):
		f.t.Fatal("the fleet does not come to its end")
	}
	if f.err != nil || f.sum.Resent != 0 || f.sum.Unknown != 0 {
		f.t.Fatalf("fleet: %v, %+v; want a record that is exactly what arrived", f.err, f.sum)
	}
	f.t.Logf("fleet: %+v", f.sum)
	return f.record.Bytes()
}

// ordinary is a fleet with all the usual troubles.
func ordinary(rng *rand.Rand) sim.FleetParams {
	return sim.FleetParams{Sensors: 12, Rate: 2.5, For: 50 * time.Minute, Seed: rng.Uint64(), Late: 0.05, Repeat: 0.02, Bad: 0.01}
}

// expect is what replay makes of the record of a fleet with its troubles.
func expect(t *testing.T, conf string, record []byte) (points, sim.Ledger) {
	t.Helper()
	want, ledger := replayed(t, conf, record)
	if len(want) < 50 || ledger.Late == 0 || ledger.Duplicate == 0 {
		t.Fatalf("the record says little: %d points, %+v", len(want), ledger)
	}
	return want, ledger
}

// checkEnd waits for the end state and compares it with replay's.
func checkEnd(t *testing.T, w *gateway, server *testbed.Influx, record []byte) {
	t.Helper()
	want, ledger := expect(t, w.conf, record)
	r := w.await(inTheEnd, "all readings", arrived(ledger))
	sameButRedelivered(t, r, ledger)
	samePoints(t, "server", held(server, "edge"), want)
	if p := r.Points; p.Parked+p.Evicted != 0 || r.StoreResets != 0 {
		t.Errorf("%d points parked, %d evicted, %d store resets; want none", p.Parked, p.Evicted, r.StoreResets)
	}
	w.stop()
	w.checkStore()
}

// TestPipeline has a fleet publish while the server is away for a time and the agent is killed three times.
func TestPipeline(t *testing.T) {
	prog := native(t)
	for _, tt := range []struct {
		name     string
		inFlight int // of the broker; 0 is unlimited
		uplink   func(url, db string) string
		more     string
	}{
		{"v1 gzip limited", mosquittoInFlight, v1, "gzip = true"},
		{"v1 plain unlimited", 0, v1, "gzip = false\nbatch_points = 20"},
		{"v2 gzip unlimited", 0, v2, "gzip = true\nhealth_interval = \"1s\""},
		{"v2 plain limited", mosquittoInFlight, v2, "gzip = false"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rng := testbed.Random(t)
			b, server := newBroker(t, testbed.MosquittoOptions{MaxInflight: tt.inFlight}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
			server.CreateDB("edge")
			w := newGateway(t, prog, config{broker: b.URL(), uplink: tt.uplink(server.URL(), "edge") + tt.more})
			w.start()
			awaitSubscription(t, b, "gw")
			f := startFleet(t, b.URL(), ordinary(rng), 750)
			w.killAtRandom(rng, 2*time.Second)
			server.Stop()
			w.killAtRandom(rng, 2*time.Second)
			w.killAtRandom(rng, time.Second)
			server.Restart()
			checkEnd(t, w, server, f.recorded())
		})
	}
}

// TestBrokerRestart stops a persistent broker in order while messages are under way. The fleet pauses meanwhile, so that
// the record stays exact.
func TestBrokerRestart(t *testing.T) {
	t.Parallel()
	rng := testbed.Random(t)
	b, server := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight, Persistence: true}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: v1(server.URL(), "edge")})
	w.start()
	awaitSubscription(t, b, "gw")
	first := ordinary(rng)
	first.For = 25 * time.Minute
	record := startFleet(t, b.URL(), first, 0).recorded()
	b.Restart()
	second := first
	second.Seed, second.Start = rng.Uint64(), fleetStart.Add(first.For).UnixNano()
	record = append(record, startFleet(t, b.URL(), second, 0).recorded()...)
	checkEnd(t, w, server, record)
}
