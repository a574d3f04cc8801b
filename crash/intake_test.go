package crash

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"edgeagent/status"
	"edgeagent/testbed"
)

// intake is an agent at a broker with a server that is not there.
func intake(t *testing.T, c config) (*gateway, *testbed.Broker, *testbed.TapProxy) {
	t.Helper()
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{MaxInflight: 20})
	tap := testbed.StartTapProxy(t, broker.Addr())
	c.broker, c.uplink = tap.URL(), v1(fmt.Sprintf("http://127.0.0.1:%d", testbed.FreePort(t)), "edge")
	g := newGateway(t, c)
	g.start()
	g.awaitSubscription(tap, 1)
	return g, broker, tap
}

// awaitSubscription waits until n SUBSCRIBE packets have been answered.
func (g *gateway) awaitSubscription(tap *testbed.TapProxy, n int) {
	g.t.Helper()
	testbed.WaitFor(g.t, soon, "the subscription", func() bool { return subscriptions(tap) >= n })
	g.await(soon, "the agent to answer", answers)
}

// good is a payload with a reading.
func good(minute int, value float64) string {
	return fmt.Sprintf(`{"ts": %d, "temperature": %g}`, fleetStart.Add(time.Duration(minute)*time.Minute).UnixMilli(), value)
}

// TestBadPayloads sends 1,200 messages of which every hundredth is a reading, through a broker that has 20 in flight, and
// has the agent's link break twice: what is bad must not use up the broker's window.
func TestBadPayloads(t *testing.T) {
	t.Parallel()
	g, broker, tap := intake(t, config{})
	p := newPublisher(t, broker.URL())
	bad := []string{"not JSON", `{"humidity": 40}`, "", `{"ts": 1, "temperature": null}`}
	for i := range 1200 {
		payload := bad[i%len(bad)]
		if i%100 == 99 {
			payload = good(i/100, 20+float64(i/100))
		}
		p.send("sensors/s1/temperature", payload)
		if i%500 == 250 {
			p.flush()
			tap.Cut()
		}
	}
	p.flush()
	r := g.await(inTheEnd, "all to be acknowledged", func(r status.Report) bool {
		return r.Ledger.Received-r.Ledger.Duplicate == 1200 && r.MQTT.Unacked == 0 && r.MQTT.Connected
	})
	want := map[string]int64{"decode": 300, "no_value": 888}
	for reason, n := range r.Ledger.Rejected {
		if n != want[reason] {
			t.Errorf("%d rejected as %s, want %d", n, reason, want[reason])
		}
	}
	if r.Ledger.Windowed != 12 {
		t.Errorf("%d windowed, want 12", r.Ledger.Windowed)
	}
	balanced(t, r)
	g.stop()
}

// TestGiantMessages sends messages of 1 MB and of 60 MB among readings: they count as too_big, and nothing else notices.
func TestGiantMessages(t *testing.T) {
	t.Parallel()
	g, broker, tap := intake(t, config{})
	memory := startGauge(g.Pid())
	p := newPublisher(t, broker.URL())
	for i := range 10 {
		p.send("sensors/s1/temperature", good(i, 20))
		p.send("sensors/s2/temperature", strings.Repeat("x", []int{1e6, 65537, 6e7}[i%3]))
		p.flush()
	}
	p.send("sensors/s2/temperature", `{"pad": "`+strings.Repeat("x", 65000)+`", "ts": `+fmt.Sprint(fleetStart.UnixMilli())+`, "temperature": 20}`)
	p.flush()
	r := g.await(soon, "all to be acknowledged", func(r status.Report) bool { return r.Ledger.Received == 21 && r.MQTT.Unacked == 0 })
	first, second := memory.stop()
	if r.Ledger.Windowed != 11 || r.Ledger.Rejected["too_big"] != 10 {
		t.Errorf("ledger %+v, want 11 windowed and 10 rejected as too_big", r.Ledger)
	}
	if c := tap.Conns(); c != 1 {
		t.Errorf("%d connections, want the first to hold", c)
	}
	if most := max(first, second); !raced && most > 64*mib {
		t.Errorf("%d KiB of memory", most>>10)
	}
	g.stop()
}

// TestFilters has a message match two sources, and then takes one source out of the configuration: it counts once, and
// what the broker still holds for the filter that is gone is acknowledged and counts nowhere.
func TestFilters(t *testing.T) {
	t.Parallel()
	second := "[[source]]\nname = \"all\"\ntopic = \"sensors/{sensor...}\"\nsensor = \"{sensor}\"\nvalue = \"temperature\"\ntime = \"ts\"\ntime_format = \"unix_ms\"\n"
	third := "[[source]]\nname = \"other\"\ntopic = \"other/{sensor}\"\nvalue = \"temperature\"\ntime = \"ts\"\ntime_format = \"unix_ms\"\n"
	c := config{source: "name = \"one\"\nsensor = \"{sensor}/temperature\"\n" + second}
	g, broker, tap := intake(t, c)
	p := newPublisher(t, broker.URL())
	p.send("sensors/s1/temperature", good(1, 20.5))
	p.send("sensors/s1/elsewhere", good(1, 21))
	p.flush()
	r := g.await(soon, "both readings", func(r status.Report) bool { return r.MQTT.Unacked == 0 && r.Ledger.Windowed >= 2 })
	if l := r.Ledger; l.Windowed != 2 || l.Late+l.Retained > 0 {
		t.Errorf("ledger %+v, want the message that two filters match windowed once", l)
	}
	if !strings.Contains(g.Log(), "overlap") {
		t.Error("no word about filters that overlap")
	}
	g.stop()

	p.send("sensors/s1/elsewhere", good(2, 22)) // waits at the broker for a filter that is no longer configured
	p.flush()
	c.source, c.broker, c.uplink = "name = \"one\"\nsensor = \"{sensor}/temperature\"\n"+third, tap.URL(), v1("http://127.0.0.1:1", "edge")
	writeFile(t, g.conf, c.text(g.dir))
	before := subscriptions(tap)
	g.start()
	g.awaitSubscription(tap, before+1)
	p.send("sensors/s1/temperature", good(3, 23))
	p.send("sensors/s1/elsewhere", good(3, 24)) // the broker drops it
	p.send("other/s2", good(3, 25))
	p.flush()
	after := g.await(soon, "the readings of the new configuration", func(r status.Report) bool { return r.Ledger.Windowed >= 4 && r.MQTT.Unacked == 0 })
	if after.Ledger.Windowed != 4 || after.Ignored != 1 {
		t.Errorf("ledger %+v, %d ignored; want 4 windowed, and the one that waited ignored", after.Ledger, after.Ignored)
	}
	testbed.WaitFor(t, soon, "word of the filter that is gone", func() bool { return strings.Contains(g.Log(), "no longer configured") })
	if n := strings.Count(g.Log(), "no longer configured"); n != 1 {
		t.Errorf("%d lines about the filter that is gone, want 1", n)
	}
	g.stop()
}

// TestTwins runs two agents under one client id: each takes the connection from the other. They must say so, not run
// hot, and when one is gone the other goes on.
func TestTwins(t *testing.T) {
	t.Parallel()
	g, broker, tap := intake(t, config{})
	twin := newGateway(t, config{broker: tap.URL(), uplink: v1("http://127.0.0.1:1", "edge"), mqtt: "client_id = \"edgeagent-gw\"\n"})
	twin.start()
	const word = "another client uses the same client id"
	testbed.WaitFor(t, soon, "both to say why", func() bool {
		return strings.Contains(g.Log(), word) && strings.Contains(twin.Log(), word)
	})
	conns := tap.Conns()
	rest(4 * time.Second)
	if n := tap.Conns() - conns; n > 12 {
		t.Errorf("%d connections in 4 s", n)
	}
	twin.stop()
	g.await(soon, "the agent that is left to be connected", func(r status.Report) bool { return r.MQTT.Connected })
	p := newPublisher(t, broker.URL())
	p.send("sensors/s1/temperature", good(1, 20))
	p.flush()
	g.await(soon, "a reading", func(r status.Report) bool { return r.Ledger.Windowed == 1 && r.MQTT.Unacked == 0 })
	g.stop()
}
