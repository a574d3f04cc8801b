package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A sentReading is one line of a record, read by this test itself.
type sentReading struct {
	sensor        string
	time, arrival int64 // ns
}

// sentReadings reads a record.
func sentReadings(t *testing.T, record []byte) (all []sentReading) {
	t.Helper()
	for line := range strings.Lines(string(record)) {
		var l struct {
			Topic   string
			Time    time.Time
			Payload struct{ TS int64 }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, sentReading{strings.Split(l.Topic, "/")[1], l.Payload.TS * 1e6, l.Time.UnixNano()})
	}
	return all
}

// lateOf is the share of readings whose window of 5 min is gone when they come, with a delay: by the rule, from the list.
func lateOf(all []sentReading, delay time.Duration) float64 {
	const size = int64(5 * time.Minute)
	late, newest := 0, int64(math.MinInt64)
	for _, r := range all {
		if end := r.time/size*size + size; newest != math.MinInt64 && end <= newest-int64(delay) {
			late++
		}
		newest = max(newest, r.time)
	}
	return float64(late) / float64(len(all))
}

// advice asks as a person does.
func (g *gateway) advice(loss string, code int) (a agent.Advice, text string) {
	g.t.Helper()
	out, errs, got := g.prog.output(g.t, "advise", "-c", g.conf, "--loss", loss, "--json")
	if err := json.Unmarshal([]byte(out), &a); err != nil || got != code {
		g.t.Fatalf("advise: code %d, %v, %s%s; want code %d", got, err, out, errs, code)
	}
	return a, out
}

// advised starts a gateway, has a fleet send to it, and gives both when all has arrived.
func advised(t *testing.T, p sim.FleetParams, speed float64) (*gateway, []byte) {
	t.Helper()
	b := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	g := newGateway(t, native(t), config{broker: b.URL(), uplink: v1("http://127.0.0.1:1", "edge")})
	g.start()
	g.await(soon, "the agent", func(r status.Report) bool { return r.MQTT.Connected })
	if speed == 1 {
		p.Start = time.Now().UnixNano()
	}
	record := startFleet(t, b.URL(), p, speed).recorded()
	n := int64(strings.Count(string(record), "\n"))
	g.await(inTheEnd, "all readings", func(r status.Report) bool { return r.Ledger.Received == n && r.MQTT.Unacked == 0 })
	return g, record
}

// The delay that the agent advises after a fleet's readings is, to the step, the one that the record calls for; replayed with it the record loses no more
// than was said. The answer is the same from the running agent and from its store, and too few readings are no ground for one.
func TestAdvisedDelay(t *testing.T) {
	t.Parallel()
	g, record := advised(t, sim.FleetParams{Sensors: 12, Rate: 2, For: 2 * time.Hour, Seed: testbed.Random(t).Uint64(), Late: 0.05}, 0)
	all := sentReadings(t, record)
	for _, loss := range []float64{0.001, 0.01} {
		text := fmt.Sprintf("%v%%", loss*100)
		if need := math.Ceil(3 / loss); float64(len(all)) < need {
			t.Fatalf("%d readings, the test needs %v", len(all), need)
		}
		a, _ := g.advice(text, 0)
		exact := time.Minute
		for lateOf(all, exact) > loss {
			exact += time.Minute
		}
		got := time.Duration(a.DelayS) * time.Second
		t.Logf("loss %s: %v advised, %v is exact; at most %.5f late told, %.5f by the record", text, got, exact, a.Share, lateOf(all, got))
		if got < exact || got > exact+time.Minute {
			t.Errorf("loss %s: %v advised, the record calls for %v", text, got, exact)
		}
		for _, l := range a.All.Late {
			if want := lateOf(all, time.Duration(l.DelayS)*time.Second); l.Share < want || l.Share > want+0.003 {
				t.Errorf("at a delay of %v s a share of %v is told, the record has %v", l.DelayS, l.Share, want)
			}
		}
		conf := g.withDelay(got)
		if _, ledger := replayed(t, conf, record); float64(ledger.Late) > loss*float64(ledger.Received) {
			t.Errorf("replayed with %v: %d of %d late, want at most %s", got, ledger.Late, ledger.Received, text)
		}
	}
	if a, _ := g.advice("0.01%", 1); a.Enough || a.Needed != 30_000 || a.DelayS != 0 {
		t.Errorf("advice from too few readings: %+v", a)
	}
	_, before := g.advice("1%", 0)
	g.stop()
	if _, after := g.advice("1%", 0); after != before {
		t.Errorf("advice of the stopped store\n%s\nof the running agent\n%s", after, before)
	}
	g.start()
	g.await(soon, "the agent", answers)
	if _, again := g.advice("1%", 0); again != before {
		t.Errorf("advice after a restart\n%s\nbefore\n%s", again, before)
	}
	text, _, _ := g.prog.output(t, "advise", "-c", g.conf)
	for line := range strings.Lines(text) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 80 {
			t.Errorf("line of more than 80 columns: %q", line)
		}
	}
	t.Log("\n" + text)
	g.stop()
}

// withDelay is a copy of the configuration with another delay.
func (g *gateway) withDelay(d time.Duration) string {
	g.t.Helper()
	path := strings.TrimSuffix(g.conf, ".toml") + "-" + d.String() + ".toml"
	writeFile(g.t, path, string(readFile(g.t, g.conf))+fmt.Sprintf("[watermark]\ndelay = %q\n", d))
	return path
}

// Sensors whose clock is off are named, and no others, with the offset that the record has.
func TestAdviceNamesClocks(t *testing.T) {
	t.Parallel()
	p := sim.FleetParams{Sensors: 12, Rate: 100, For: 6 * time.Second, Seed: testbed.Random(t).Uint64(), Skew: 100 * time.Second}
	g, record := advised(t, p, 1)
	lags := map[string][]float64{}
	for _, r := range sentReadings(t, record) {
		lags[r.sensor] = append(lags[r.sensor], float64(r.arrival-r.time)/1e9)
	}
	a, _ := g.advice("10%", 0)
	named := map[string]agent.SensorAdvice{}
	for _, s := range a.Sensors {
		named[s.Sensor] = s
	}
	for sensor, list := range lags {
		slices.Sort(list)
		median := list[len(list)/2]
		if len(list) < 24 || math.Abs(median+5) < 2 || math.Abs(median-60) < 2 {
			continue // on the edge of a rule: either is right
		}
		want := ""
		switch {
		case median < -5:
			want = agent.ClockAhead
		case median > 60:
			want = agent.ClockBehind
		}
		if got := named[sensor]; got.Kind != want || want != "" && math.Abs(got.MedianS-median) > 2 {
			t.Errorf("%s, %v s off by the record, is told as %+v", sensor, median, got)
		}
	}
	text, _, _ := g.prog.output(t, "advise", "-c", g.conf, "--loss", "10%")
	t.Log("\n" + text)
	g.stop()
}
