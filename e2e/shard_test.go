package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// startShards starts agents that share a site and waits until all listen.
func startShards(t *testing.T, b *testbed.Broker, n int, c config, adjust func(*gateway)) []*gateway {
	t.Helper()
	all := make([]*gateway, n)
	for i := range all {
		c.mqtt = fmt.Sprintf("shard = \"%d/%d\"", i+1, n)
		all[i] = newGateway(t, native(t), c)
		if adjust != nil {
			adjust(all[i])
		}
		all[i].start()
	}
	for i := range all {
		line := fmt.Sprintf("edgeagent-gw-%dof%d 1 ", i+1, n)
		waitFor(t, soon, "a subscription of "+line, b.Log, func() bool { return strings.Contains(b.Log(), line) })
	}
	return all
}

// TestShards runs four agents on one broker, by hash of the sensor, and kills each once: the points of all are those of one
// agent, and so are the sums of their books.
func TestShards(t *testing.T) {
	t.Parallel()
	rng, server, b := testbed.Random(t), testbed.StartInfluxd(t, testbed.InfluxOptions{}), newBroker(t, testbed.MosquittoOptions{})
	server.CreateDB("edge")
	alone := newGateway(t, native(t), config{broker: b.URL(), uplink: v1(server.URL(), "edge"), buffer: quick}) // never started
	agents := startShards(t, b, 4, config{broker: b.URL(), uplink: v1(server.URL(), "edge"), buffer: quick}, nil)
	messages := numbered(1000)
	for i := range messages {
		messages[i].Topic = fmt.Sprintf("sensors/hall %d/temperature", i%40)
	}
	want, ledger := replayed(t, alone.conf, asRecord(messages))
	p := newPublisher(t, b.URL())
	for i, g := range agents {
		tokens := p.send(messages[i*250 : (i+1)*250]...)
		g.killAtRandom(rng, 100*time.Millisecond)
		p.settled(tokens...)
	}
	var sum sim.Ledger
	for _, g := range agents {
		r := g.await(inTheEnd, "its share of 1000 messages", func(r status.Report) bool {
			return r.Ledger.Received-r.Ledger.Duplicate+r.Elsewhere >= 1000 && delivered(r)
		})
		balanced(t, r)
		l := ledgerOf(r)
		if l.Windowed < 100 || l.Windowed > 500 {
			t.Errorf("one of four agents has %d of %d readings", l.Windowed, ledger.Windowed)
		}
		sum.Windowed, sum.Late = sum.Windowed+l.Windowed, sum.Late+l.Late
		sum.Received += l.Received - l.Duplicate
		for reason, n := range l.Rejected {
			if sum.Rejected == nil {
				sum.Rejected = map[string]int64{}
			}
			sum.Rejected[reason] += n
		}
	}
	if sum.Received != 1000 || sum.Windowed != ledger.Windowed || sum.Late != ledger.Late || sum.Rejected["value"] != ledger.Rejected["value"] {
		t.Errorf("together %+v, want 1000 received and %+v", sum, ledger)
	}
	samePoints(t, "server", held(server, "edge"), want)
	for _, g := range agents {
		g.stop()
		g.checkStore()
	}
}

// TestSharedSubscription has the broker deal messages out to two agents. Each sees half of every window; the queries of
// docs/scale-out.md put them together.
func TestSharedSubscription(t *testing.T) {
	t.Parallel()
	server, b := testbed.StartInfluxd(t, testbed.InfluxOptions{Flux: true}), newBroker(t, testbed.MosquittoOptions{})
	server.CreateDB("edge")
	agents := startShards(t, b, 2, config{broker: b.URL(), uplink: v1(server.URL(), "edge"), buffer: quick}, func(g *gateway) {
		g.reconfigure(`topic = "sensors`, `topic = "$share/site/sensors`)
	})
	type window struct {
		max   float64
		count int64
	}
	want := map[string]window{}
	var messages []sim.Record
	for i := range 900 { // 75 minutes of which the last 15 only move event time
		at, sensor, value := fleetStart.Add(time.Duration(i)*5*time.Second), fmt.Sprint("s", i%3), float64(i*37%101)
		messages = append(messages, sim.Record{Topic: "sensors/" + sensor + "/temperature", Payload: fmt.Appendf(nil, `{"temperature": %v, "ts": %d}`, value, at.UnixMilli())})
		if start := at.Truncate(5 * time.Minute); at.Sub(fleetStart) < time.Hour {
			key := sensor + " " + start.UTC().Format(time.RFC3339)
			w := want[key]
			want[key] = window{max(w.max, value), w.count + 1}
		}
	}
	newPublisher(t, b.URL()).publish(messages...)
	received := int64(0)
	for _, g := range agents {
		r := g.await(inTheEnd, "its part", func(r status.Report) bool { return r.Ledger.Received > 0 && delivered(r) })
		balanced(t, r)
		received += r.Ledger.Received
	}
	waitFor(t, soon, "900 readings at both", func() string { return fmt.Sprint(received) }, func() bool {
		received = 0
		for _, g := range agents {
			if r, ok := g.status(); ok && delivered(r) {
				received += r.Ledger.Received
			}
		}
		return received == 900
	})
	from, to := fleetStart.UTC().Format(time.RFC3339), fleetStart.Add(time.Hour).UTC().Format(time.RFC3339)
	dated := strings.NewReplacer("2026-01-05T00:00:00Z", from, "2026-01-06T00:00:00Z", to)
	got := map[string]window{}
	for _, s := range server.Query("edge", dated.Replace(documented(t, "scale-out.md", "InfluxQL:"))) {
		for _, v := range s.Values {
			at, err1 := v[0].(json.Number).Int64()
			most, err2 := v[1].(json.Number).Float64()
			count, err3 := v[2].(json.Number).Int64()
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			got[s.Tags["sensor"]+" "+time.Unix(0, at).UTC().Format(time.RFC3339)] = window{most, count}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("InfluxQL: merged\n%v\nwant\n%v", got, want)
	}
	clear(got)
	for _, row := range server.Flux(dated.Replace(documented(t, "scale-out.md", "Flux:"))) {
		key := row["sensor"] + " " + row["_time"]
		w := got[key]
		if row["result"] == "max" {
			_, err := fmt.Sscan(row["_value"], &w.max)
			got[key] = orFail(t, w, err)
		} else {
			_, err := fmt.Sscan(row["_value"], &w.count)
			got[key] = orFail(t, w, err)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("Flux: merged\n%v\nwant\n%v", got, want)
	}
	if tags := server.Query("edge", `SHOW TAG VALUES FROM "temperature" WITH KEY = "shard"`); len(tags) != 1 || len(tags[0].Values) != 2 {
		t.Errorf("shards %v, want 1/2 and 2/2", tags)
	}
}

func orFail[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// documented is the first block of code after a line of a document.
func documented(t *testing.T, file, line string) string {
	t.Helper()
	_, after, ok := strings.Cut(string(readFile(t, filepath.Join("..", "docs", file))), "\n"+line+"\n")
	parts := strings.SplitN(after, "```", 3)
	if !ok || len(parts) < 3 {
		t.Fatalf("%s: no block of code after %q", file, line)
	}
	_, code, _ := strings.Cut(parts[1], "\n")
	return code
}
