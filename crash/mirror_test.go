package crash

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A mirror is a second server, that gets every point too.
type mirror struct {
	*sim.Receiver
	down bool
}

func (m *mirror) toggle() { m.down = !m.down; m.SetDown(m.down) }

// done reports whether neither uplink has anything left to send.
func (m *mirror) done(r status.Report) bool {
	for _, u := range r.Uplinks {
		if u.Points.Queued > 0 {
			return false
		}
	}
	return m == nil || len(r.Uplinks) == 2
}

// compare wants the books of both uplinks to be whole, and the mirror to hold what the oracle has.
func (m *mirror) compare(t *testing.T, r status.Report, want sim.Result) {
	t.Helper()
	for name, u := range r.Uplinks {
		made(t, name, u.Points, want)
		if !u.Points.Balanced || u.Points.Parked+u.Points.Evicted+u.Points.Queued > 0 {
			t.Errorf("points of %s: %+v, want a balance, with none left", name, u.Points)
		}
	}
	lines := m.Snapshot()
	lateHeld(t, lines, want.Late)
	naming := gatewayTag
	naming.Updates = true
	for _, diff := range sim.Compare(want, slices.DeleteFunc(lines, isLate), naming) {
		t.Errorf("mirror: %s", diff)
	}
}

// TestKillsWithTwoServers is TestKills with two servers that come and go on their own, one of which gets the newest points first, and with points that
// change while they wait.
func TestKillsWithTwoServers(t *testing.T) {
	t.Parallel()
	kills, limit := 5, 15*time.Second
	if long() {
		kills, limit = 50, time.Hour
	}
	m := &mirror{Receiver: sim.NewReceiver(sim.ReceiverOptions{})}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	c := config{mirror: server.URL, window: "allowed_lateness = \"5m\"\nemit = \"update\"\nupdate_interval = \"1m\"\n"}
	w := newWorldOn(t, testbed.MosquittoOptions{MaxInflight: 20, Persistence: true, Autosave: time.Second}, c, func(string) {})
	w.mirror, w.rules.Allowed, w.rules.UpdateInterval = m, 5*time.Minute, time.Minute
	w.publishFleet(sim.FleetParams{Sensors: 12, Rate: 1, Start: fleetStart.UnixNano(), Seed: w.rng.Uint64(), Late: 0.06, Repeat: 0.04, Bad: 0.02}, 150)
	for begin := time.Now(); w.agentKills < kills && time.Since(begin) < limit; {
		w.toggleServer()
		w.killAgent()
		w.fault()
	}
	if m.down {
		m.toggle()
	}
	if !w.server.Running() {
		w.server.Restart()
	}
	w.finish()
}
