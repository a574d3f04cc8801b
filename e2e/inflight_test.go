package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// numbered are n messages, each different: most with a reading, some with one that is too late, some with none.
func numbered(n int) []sim.Record {
	all := make([]sim.Record, n)
	for i := range all {
		at := fleetStart.Add(time.Duration(i) * 5 * time.Second)
		value := fmt.Sprintf("%d.5", i%40)
		switch i % 25 {
		case 7:
			at = at.Add(-2 * time.Hour)
		case 13:
			value = fmt.Sprintf("%q", fmt.Sprint("hot ", i))
		}
		all[i] = sim.Record{Topic: fmt.Sprintf("sensors/s%d/temperature", i%7),
			Payload: fmt.Appendf(nil, `{"temperature": %s, "ts": %d}`, value, at.UnixMilli())}
	}
	return all
}

// asRecord is what a fleet's record of these messages would be.
func asRecord(messages []sim.Record) []byte {
	var text []byte
	for _, m := range messages {
		text = append(text, m.Line()...)
	}
	return text
}

// TestAcknowledgements kills the agent at 20 random moments, its acknowledgements on their way or lost, while 1000
// messages pass a tap. An acknowledgement before its commit would lose a message; one that is known only in memory would
// count one twice.
func TestAcknowledgements(t *testing.T) {
	for _, limit := range []int{mosquittoInFlight, 0} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			t.Parallel()
			rng, server := testbed.Random(t), testbed.StartInfluxd(t, testbed.InfluxOptions{})
			b := newBroker(t, testbed.MosquittoOptions{MaxInflight: limit})
			server.CreateDB("edge")
			tap := testbed.StartTapProxy(t, b.Addr())
			w := newGateway(t, native(t), config{broker: tap.URL(), uplink: v1(server.URL(), "edge"), buffer: quick})
			w.start()
			awaitSubscription(t, b, "gw")
			messages := numbered(1000)
			w.publishKilled(rng, tap, newPublisher(t, b.URL()), messages, 20)
			want, _ := replayed(t, w.conf, asRecord(messages))
			r := w.await(inTheEnd, "all messages", arrived(sim.Ledger{Received: 1000, Windowed: 920, Late: 40, Rejected: map[string]int64{"value": 40}}))
			l := r.Ledger
			if l.Windowed != 920 || l.Late != 40 || l.Rejected["value"] != 40 || l.Duplicate != l.Received-1000 {
				t.Errorf("got %s, want 920 windowed, 40 late, 40 of no value, the rest duplicates", shown(r))
			}
			t.Logf("%d came again", l.Duplicate)
			balanced(t, r)
			samePoints(t, "server", held(server, "edge"), want)
			w.stop()
			w.checkStore()
			checkWire(t, testbed.Packets(tap.Chunks()), 1000)
		})
	}
}

// publishKilled publishes messages in parts, and kills the agent once in each.
func (g *gateway) publishKilled(rng *rand.Rand, tap *testbed.TapProxy, p publisher, messages []sim.Record, kills int) {
	g.t.Helper()
	for part := range slices.Chunk(messages, (len(messages)+kills-1)/kills) {
		tokens := p.send(part...)
		g.killOnLink(rng, tap, 150*time.Millisecond)
		p.settled(tokens...)
	}
}

// checkWire checks what passed the tap: on each connection acknowledgements are in the order of the messages, none is for
// a message that did not come, and in the end as many messages have been acknowledged as there are.
func checkWire(t *testing.T, packets []testbed.Packet, n int) {
	t.Helper()
	const publish, puback = 3, 4
	came, acked := map[int][]uint16{}, map[string]bool{}
	bodies := map[int]map[uint16]string{}
	for _, p := range packets {
		switch {
		case p.Type == publish && p.From == testbed.FromServer && p.ID != 0:
			came[p.Conn] = append(came[p.Conn], p.ID)
			if bodies[p.Conn] == nil {
				bodies[p.Conn] = map[uint16]string{}
			}
			bodies[p.Conn][p.ID] = string(p.Body)
		case p.Type == puback && p.From == testbed.FromClient:
			waiting := came[p.Conn]
			if len(waiting) == 0 || waiting[0] != p.ID {
				t.Errorf("connection %d: acknowledged %d, want the first of %v", p.Conn, p.ID, waiting)
				return
			}
			came[p.Conn] = waiting[1:]
			acked[bodies[p.Conn][p.ID]] = true
		}
	}
	if len(acked) != n {
		t.Errorf("%d different messages acknowledged, want %d", len(acked), n)
	}
}

// TestGroupedCommits checks that a commit takes many messages: each costs the card two syncs.
func TestGroupedCommits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ limit, most int }{{0, 40}, {mosquittoInFlight, 3000 / 10}} {
		t.Run(fmt.Sprintf("limit %d", tt.limit), func(t *testing.T) {
			b := newBroker(t, testbed.MosquittoOptions{MaxInflight: tt.limit})
			w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere, buffer: quick})
			w.start()
			awaitSubscription(t, b, "gw")
			newPublisher(t, b.URL()).publish(numbered(3000)...)
			w.await(inTheEnd, "all messages", func(r status.Report) bool { return r.Ledger.Received == 3000 && r.MQTT.Unacked == 0 })
			w.stop()
			if n := w.commits(); n > int64(tt.most) {
				t.Errorf("%d commits for 3000 messages, want at most %d", n, tt.most)
			} else {
				t.Logf("%d commits for 3000 messages", n)
			}
		})
	}
}

// commits counts those in the store of a stopped agent.
func (g *gateway) commits() int64 {
	g.t.Helper()
	s, err := buffer.Open(buffer.Options{Dir: g.dir, MaxSize: storeSize})
	if err != nil {
		g.t.Fatal(err)
	}
	defer s.Close()
	return s.Stats().Commits
}
