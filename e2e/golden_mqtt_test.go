package e2e

import (
	"fmt"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// gateway makes the case's configuration one for this broker and database.
func (g golden) gateway(t *testing.T, prog program, broker, server, db string) *gateway {
	t.Helper()
	w := newGateway(t, prog, config{})
	writeFile(t, w.conf, string(readFile(t, g.conf))+brisk+
		fmt.Sprintf("[buffer]\ndir = %q\ncommit_interval = \"300ms\"\n[http]\nlisten = \"\"\n", w.dir))
	w.reconfigure(`brokers = .*`, fmt.Sprintf("brokers = [%q]", broker))
	w.reconfigure(`url = .*`, fmt.Sprintf("url = %q", server))
	w.reconfigure(`database = .*`, fmt.Sprintf("database = %q", db))
	return w
}

// ledgerOf is the ledger of a report as the oracle has it.
func ledgerOf(r status.Report) sim.Ledger {
	l := r.Ledger
	return sim.Ledger{Received: l.Received, Windowed: l.Windowed, Late: l.Late, Duplicate: l.Duplicate, Retained: l.Retained, Rejected: l.Rejected}
}

// sumOf is how many readings of a ledger are no duplicates.
func sumOf(l sim.Ledger) int64 {
	sum := l.Windowed + l.Late + l.Retained
	for _, n := range l.Rejected {
		sum += n
	}
	return sum
}

// arrived reports whether all of want has been counted, each at least once, committed and uploaded. Redeliveries may add
// to duplicate and received.
func arrived(want sim.Ledger) func(status.Report) bool {
	return func(r status.Report) bool {
		l := ledgerOf(r)
		return l.Received >= want.Received && sumOf(l) >= sumOf(want) && l.Duplicate >= want.Duplicate && delivered(r)
	}
}

// TestGoldenMQTT sends each case through broker, agent and server.
func TestGoldenMQTT(t *testing.T) {
	prog, server := native(t), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	t.Run("cases", func(t *testing.T) {
		for _, g := range goldens(t) {
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				b := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight})
				server.CreateDB(g.name)
				w := g.gateway(t, prog, b.URL(), server.URL(), g.name)
				w.start()
				awaitSubscription(t, b, "gw")
				newPublisher(t, b.URL()).publish(records(t, g.files...)...)
				r := w.await(inTheEnd, "all readings", arrived(g.ledger))
				sameLedger(t, ledgerOf(r), g.ledger)
				balanced(t, r)
				samePoints(t, "server", held(server, g.name), last(g.lines))
				w.stop()
				w.checkStore()
			})
		}
	})
}

// TestGoldenMQTTKilled does so with an agent that is killed twice on the way, its acknowledgements on theirs or lost.
func TestGoldenMQTTKilled(t *testing.T) {
	prog, server := native(t), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	t.Run("cases", func(t *testing.T) {
		for i, g := range goldens(t) {
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				rng := testbed.Random(t)
				limits := []int{mosquittoInFlight, 0}
				b := newBroker(t, testbed.MosquittoOptions{MaxInflight: limits[i%len(limits)]})
				server.CreateDB(g.name)
				tap := testbed.StartTapProxy(t, b.Addr())
				w := g.gateway(t, prog, tap.URL(), server.URL(), g.name)
				w.start()
				awaitSubscription(t, b, "gw")
				p, all := newPublisher(t, b.URL()), records(t, g.files...)
				for range 2 {
					n := rng.IntN(len(all) + 1)
					tokens := p.send(all[:n]...)
					all = all[n:]
					w.killOnLink(rng, tap, 400*time.Millisecond)
					p.settled(tokens...)
				}
				p.publish(all...)
				r := w.await(inTheEnd, "all readings", arrived(g.ledger))
				sameButRedelivered(t, r, g.ledger)
				samePoints(t, "server", held(server, g.name), last(g.lines))
				w.stop()
				w.checkStore()
			})
		}
	})
}

// sameButRedelivered compares ledgers where messages came again: that adds to received and duplicate, and to nothing else.
func sameButRedelivered(t *testing.T, r status.Report, want sim.Ledger) {
	t.Helper()
	got := ledgerOf(r)
	again := got.Duplicate - want.Duplicate
	t.Logf("%d came again", again)
	want.Duplicate += again
	want.Received += again
	sameLedger(t, got, want)
	balanced(t, r)
}
