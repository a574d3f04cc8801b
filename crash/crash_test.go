package crash

import (
	"path/filepath"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// TestKills breaks agent, broker, link and server at random while a fleet publishes, and then demands that every column
// of the books and every point at the server is what the messages on the agent's wire make it.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, readings, limit := 5, int64(1200), 15*time.Second
	if long() {
		kills, readings, limit = 50, 10000, time.Hour
	}
	for _, tt := range []struct {
		name string
		o    testbed.MosquittoOptions
		sync time.Duration // that each sync takes; 0 is what the disk takes
	}{
		{"persistent broker, 20 in flight", testbed.MosquittoOptions{MaxInflight: 20, Persistence: true, Autosave: time.Second}, 0},
		{"forgetful broker, no limit", testbed.MosquittoOptions{}, 0},
		{"slow disk", testbed.MosquittoOptions{MaxInflight: 20, Persistence: true}, 40 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tracer []string
			if tt.sync > 0 {
				tracer = slowDisk(t, filepath.Join(t.TempDir(), "syncs"), tt.sync)
			}
			w := newWorld(t, tt.o, tracer...)
			w.publishFleet(sim.FleetParams{Sensors: 12, Rate: 1, Start: fleetStart.UnixNano(), Seed: w.rng.Uint64(), Late: 0.06, Repeat: 0.04, Bad: 0.02}, 150)
			w.killAgent()
			w.killBroker()
			begin, received := time.Now(), int64(0)
			for (w.agentKills < kills || received < readings) && time.Since(begin) < limit {
				w.fault()
				received = w.marks[len(w.marks)-1].received
			}
			if !w.server.Running() {
				w.server.Restart()
			}
			w.finish()
		})
	}
}
