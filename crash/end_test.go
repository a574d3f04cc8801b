package crash

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// finish ends the fleet, publishes until the agent has taken something that came after it, waits until all is uploaded,
// and compares everything with the oracle.
func (w *world) finish() {
	w.t.Helper()
	if w.endFleet != nil {
		w.endFleet()
	}
	w.tap.Resume()
	w.tap.Accept()
	w.publishLast()
	r := w.await(inTheEnd, "everything to be uploaded", func(r status.Report) bool {
		return r.MQTT.Unacked == 0 && r.Points.Queued == 0 && r.Points.Finalized > 0 && w.mirror.done(r)
	})
	w.mark("end", r.Ledger.Received)
	y := tally{t: w.t, conns: wireOf(w.t, w.tap)}
	for _, m := range w.marks {
		y.follow(m)
	}
	want := sim.Oracle(w.rules, y.items())
	sameLedger(w.t, r.Ledger, want.Ledger)
	balanced(w.t, r)
	p := r.Points
	made(w.t, "the uplink", p, want)
	if w.mirror != nil {
		w.mirror.compare(w.t, r, want)
	}
	for _, diff := range sim.Compare(want, w.held(), sim.Naming{Updates: w.rules.UpdateInterval > 0}) {
		w.t.Error(diff)
	}
	w.lateAtServer(want.Late, p.LateReadings)
	w.stop()
	w.lateInStore(want.Late)
	w.checkStore()
	l := want.Ledger
	w.t.Logf("%d readings: %d windowed, %d late, %d duplicate; %d points; %d kills of the agent, %d of the broker, %v",
		l.Received, l.Windowed, l.Late, l.Duplicate, len(want.Points), w.agentKills, w.brokerDead, w.others)
}

// made compares the points of one uplink with the oracle. All must have been uploaded, but for those that an update overtook.
func made(t *testing.T, name string, p status.Points, want sim.Result) {
	t.Helper()
	f, u, l := want.Count(sim.Finalized), want.Count(sim.Updated), want.Count(sim.LateReport)
	if p.Finalized != f || p.Updated != u || p.LateReports != l || p.Uploaded+p.Superseded != f+u+l+p.LateReadings || p.Superseded > u {
		t.Errorf("points of %s: %+v, want %d finalized, %d updated, %d late reports, all uploaded or superseded", name, p, f, u, l)
	}
}

// lastTopic is that of the reading that ends a run.
const lastTopic = "sensors/zz-last/temperature"

// publishLast publishes readings far ahead, which make all windows final, until one is acknowledged by the agent: a
// broker without a session does not keep it.
func (w *world) publishLast() {
	w.t.Helper()
	o := paho.NewClientOptions().AddBroker(w.broker.URL()).SetClientID("publisher").SetConnectRetry(true)
	c := paho.NewClient(o)
	if token := c.Connect(); !token.WaitTimeout(soon) || token.Error() != nil {
		w.t.Fatalf("publisher: %v", token.Error())
	}
	defer c.Disconnect(100)
	ts := fleetStart.Add(30 * 24 * time.Hour).UnixMilli()
	testbed.WaitFor(w.t, inTheEnd, "the last reading to be acknowledged by the agent", func() bool {
		token := c.Publish(lastTopic, 1, false, fmt.Sprintf(`{"ts": %d, "temperature": 20}`, ts))
		token.WaitTimeout(time.Second)
		ts++
		rest(200 * time.Millisecond)
		for _, p := range testbed.Packets(w.tap.Chunks()) {
			if p.Type == publish && p.From == testbed.FromServer && p.Topic == lastTopic {
				return true
			}
		}
		return false
	})
}

// held is what the server holds of windows and late reports, without the gateway's tag.
func (w *world) held() []sim.Line {
	var lines []sim.Line
	for _, measurement := range []string{"temperature", "late_drops"} {
		for _, p := range w.server.Points("edge", measurement) {
			l := sim.Line{Measurement: measurement, Time: p.Time, Fields: p.Fields}
			l.Tags = []reading.Tag{{Key: "sensor", Value: p.Tags["sensor"]}}
			if p.Tags["gateway"] != "gw" || len(p.Tags) != 2 {
				w.t.Errorf("point of %s at %d has tags %v", measurement, p.Time, p.Tags)
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// checkStore fails the test unless the store of the stopped agent is whole and its points balance.
func (w *world) checkStore() {
	w.t.Helper()
	s, err := buffer.Open(buffer.Options{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		w.t.Errorf("store: %v", err)
	}
	if err := s.Close(); err != nil {
		w.t.Errorf("close store: %v", err)
	}
	aside, err := filepath.Glob(filepath.Join(w.dir, "*damaged*"))
	if len(aside) > 0 || err != nil {
		w.t.Errorf("files moved aside: %v, %v", aside, err)
	}
}
