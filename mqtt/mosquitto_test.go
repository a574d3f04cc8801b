package mqtt

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/testbed"
)

// mosquitto starts a real broker with an in-flight limit of 10.
func mosquitto(t *testing.T) *testbed.Broker {
	t.Helper()
	return testbed.StartMosquitto(t, testbed.MosquittoOptions{MaxInflight: 10})
}

// publisher is another client of the broker; it waits until the broker is there.
func publisher(t *testing.T, addr string) paho.Client {
	t.Helper()
	o := paho.NewClientOptions().AddBroker("tcp://" + addr).SetClientID("publisher")
	o.SetConnectRetry(true).SetConnectRetryInterval(50 * time.Millisecond)
	p := paho.NewClient(o)
	if tk := p.Connect(); !tk.WaitTimeout(10*time.Second) || tk.Error() != nil {
		t.Fatalf("publisher: %v", tk.Error())
	}
	t.Cleanup(func() { p.Disconnect(250) })
	return p
}

func send(t *testing.T, p paho.Client, from, to int) {
	t.Helper()
	var last paho.Token
	for i := from; i < to; i++ {
		last = p.Publish("sensors/s1", 1, false, fmt.Sprint(i))
	}
	if !last.WaitTimeout(20*time.Second) || last.Error() != nil {
		t.Fatalf("publish: %v", last.Error())
	}
}

// agentAt is a rig against a real broker.
func agentAt(t *testing.T, addr string, filters []Filter, remove []string) *rig {
	cfg := Config{Brokers: []string{"tcp://" + addr}, Filters: filters, Unsubscribe: remove, StatusTopic: "edgeagent/g1/status", KeepAlive: 5 * time.Second}
	return start(t, cfg, func(r *rig) { r.c.open = dial })
}

// collect takes and acknowledges messages until the number to is there; all numbers from from on must come, in order.
func collect(t *testing.T, r *rig, from, to int) {
	t.Helper()
	for next := from; next < to; {
		d := r.next()
		if d.Kind != Publish {
			continue
		}
		if string(d.Payload) != fmt.Sprint(next) || !r.c.Ack(d.Conn, []uint16{d.PacketID}) {
			t.Fatalf("got %s %q, want %d", show(d), d.Payload, next)
		}
		next++
	}
}

// Against a real broker: a backlog past the in-flight limit, a session over a restart, filters that change, the will, and a
// broker that is stopped when the client ends.
func TestMosquitto(t *testing.T) {
	broker := mosquitto(t)
	addr := broker.Addr()
	pub := publisher(t, addr)
	states := make(chan string, 16)
	if tk := pub.Subscribe("edgeagent/+/status", 1, func(_ paho.Client, m paho.Message) { states <- string(m.Payload()) }); !tk.WaitTimeout(10 * time.Second) {
		t.Fatal("publisher cannot subscribe")
	}
	wantState := func(s string) {
		t.Helper()
		timer := time.NewTimer(10 * time.Second)
		defer timer.Stop()
		select {
		case got := <-states:
			if !strings.Contains(got, s) {
				t.Errorf("status %s, want %s", got, s)
			}
		case <-timer.C:
			t.Errorf("no status, want %s", s)
		}
	}

	a := agentAt(t, addr, []Filter{{"sensors/#", 1}, {"old/#", 1}}, nil)
	if c := a.want(Connected); c.SessionPresent {
		t.Error("the session is there before the first connection")
	}
	a.want(Subscribed)
	wantState(`"online"`)
	send(t, pub, 0, 500)
	collect(t, a, 0, 500)
	a.stop()
	wantState(`"stopped"`)

	send(t, pub, 500, 800) // while nobody is there
	b := agentAt(t, addr, []Filter{{"sensors/#", 1}}, []string{"old/#"})
	if c := b.want(Connected); !c.SessionPresent {
		t.Error("the session is lost")
	}
	collect(t, b, 500, 800)
	wantState(`"online"`)
	pub.Publish("old/x", 1, false, "old").WaitTimeout(10 * time.Second)
	send(t, pub, 800, 810)
	collect(t, b, 800, 810)
	if st := b.c.State(); !st.Subscribed || st.Unacked != 0 || st.Broker != "tcp://"+addr {
		t.Errorf("State = %+v", st)
	}

	b.c.current.Load().wire.Conn.Close() // the network goes away
	wantState(`"connection lost"`)
	wantState(`"online"`)
	send(t, pub, 810, 820)
	collect(t, b, 810, 820)

	broker.Signal(syscall.SIGSTOP)
	begin := time.Now()
	b.stop()
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("stopping took %v with a stopped broker", d)
	}
	broker.Signal(syscall.SIGCONT)
}

// Two clients with one id push each other out; the likely cause is said.
func TestSameClientID(t *testing.T) {
	addr := mosquitto(t).Addr()
	publisher(t, addr)
	a, b := agentAt(t, addr, oneFilter, nil), agentAt(t, addr, oneFilter, nil)
	deadline := time.NewTimer(60 * time.Second)
	defer deadline.Stop()
	for len(a.log.with("another client uses the same client id")) == 0 {
		select {
		case <-a.c.Ready():
			a.c.Take(nil)
		case <-b.c.Ready():
			b.c.Take(nil)
		case <-deadline.C:
			t.Fatalf("nothing said: %v", a.log.with())
		}
	}
}
