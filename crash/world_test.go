package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// fleetStart is when the clocks of all fleets begin: in the past of every build.
var fleetStart = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// A world is an agent between a broker and a server, with a tap on its connections to the broker, and a fleet that
// publishes all the while.
type world struct {
	*gateway
	t      *testing.T
	rng    *rand.Rand
	broker *testbed.Broker
	tap    *testbed.TapProxy
	server *testbed.Influx
	mirror *mirror    // nil: there is one server only
	rules  sim.Params // of the windows

	marks      []mark
	endFleet   func()
	agentKills int
	brokerDead int
	others     map[string]int // faults of other kinds
}

// newWorld starts everything; tracer, if given, is put in front of the agent.
func newWorld(t *testing.T, o testbed.MosquittoOptions, tracer ...string) *world {
	t.Helper()
	return newWorldWith(t, o, "", tracer...)
}

// newWorldWith is newWorld with more lines for the section [mqtt].
func newWorldWith(t *testing.T, o testbed.MosquittoOptions, mqtt string, tracer ...string) *world {
	t.Helper()
	return newWorldOn(t, o, config{mqtt: mqtt}, func(string) {}, tracer...)
}

// newWorldOn is newWorld with a configuration, and with a data folder that fill has put something into.
func newWorldOn(t *testing.T, o testbed.MosquittoOptions, c config, fill func(dir string), tracer ...string) *world {
	t.Helper()
	w := &world{t: t, rng: testbed.Random(t), others: map[string]int{},
		rules: sim.Params{Size: 5 * time.Minute, Delay: 10 * time.Minute}}
	w.broker, w.server = testbed.StartMosquitto(t, o), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	w.server.CreateDB("edge")
	w.tap = testbed.StartTapProxy(t, w.broker.Addr())
	c.broker, c.uplink = w.tap.URL(), v1(w.server.URL(), "edge")
	w.gateway = newGateway(t, c)
	w.tracer = tracer
	fill(w.dir)
	w.start()
	w.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
	testbed.WaitFor(t, soon, "the subscription", func() bool { return subscribed(w.tap) })
	return w
}

// publishFleet has a fleet publish until endFleet is called.
func (w *world) publishFleet(p sim.FleetParams, speed float64) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		_, err := sim.Simulate(ctx, sim.SimulateOptions{Broker: w.broker.URL(), Fleet: p, Speed: speed})
		done <- err
	}()
	ended := false
	w.endFleet = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("fleet: %v", err)
		}
	}
	w.t.Cleanup(w.endFleet)
}

// isolate ends the agent's connection, by hangUp, and lets none come until w.tap.Accept. Then it waits until the agent has
// judged all that it was sent, and takes that down.
func (w *world) isolate(what string, hangUp func()) {
	w.t.Helper()
	w.tap.Refuse()
	hangUp()
	w.tap.Resume()
	last, same := int64(-1), 0
	r := w.await(soon, "the agent to be alone", func(r status.Report) bool {
		if r.MQTT.Connected {
			w.tap.Cut() // one that was being made
			return false
		}
		if r.Ledger.Received != last {
			last, same = r.Ledger.Received, 0
		}
		same++
		return same >= 3
	})
	w.mark(what, r.Ledger.Received)
}

func (w *world) mark(what string, received int64) {
	w.marks = append(w.marks, mark{w.tap.Conns(), received, fmt.Sprintf("mark %d (%s)", len(w.marks), what)})
}

// stored reads the ledger of the dead agent's store, out of a copy, so that what the agent itself finds is untouched.
func (w *world) stored() sim.Ledger {
	w.t.Helper()
	l, err := ledgerIn(w.load())
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// ledgerIn is the ledger in a store's state.
func ledgerIn(snap *buffer.Snapshot) (sim.Ledger, error) {
	var s struct {
		Ledger sim.Ledger `json:"ledger"`
	}
	if snap.State == nil {
		return s.Ledger, nil
	}
	if err := json.Unmarshal(snap.State, &s); err != nil {
		return s.Ledger, fmt.Errorf("decode stored state: %w", err)
	}
	return s.Ledger, nil
}

func (w *world) load() *buffer.Snapshot {
	w.t.Helper()
	dir := w.t.TempDir()
	for _, name := range []string{"edgeagent.db", "floor"} {
		if text, err := os.ReadFile(filepath.Join(w.dir, name)); err == nil {
			writeFile(w.t, filepath.Join(dir, name), string(text))
		}
	}
	s, err := buffer.Open(buffer.Options{Dir: dir, NoSync: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	snap, err := s.Load()
	if err != nil {
		w.t.Fatal(err)
	}
	return snap
}
