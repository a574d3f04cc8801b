package mqtt

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"edgeagent/testbed"
)

// The client connects by itself within one back-off step after an outage, whatever it looks like, and says little.
func TestBrokerAppears(t *testing.T) {
	tests := []struct {
		name   string
		fault  error // nil: the connection opens, but no CONNACK comes
		within time.Duration
	}{
		{"refused", &net.OpError{Op: "dial", Err: errRefusedDial}, time.Minute},
		{"no name", &net.DNSError{Err: "no such host", Name: "broker.test"}, time.Minute},
		{"no CONNACK", nil, time.Minute + handshakeTimeout},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			var healthy atomic.Bool
			r := start(t, Config{Filters: oneFilter}, func(r *rig) {
				r.refuse = func() error {
					if healthy.Load() {
						return nil
					}
					return tt.fault
				}
			})
			time.Sleep(90 * time.Second)
			if l := r.log.with(); len(l) == 0 || len(l) > 3 {
				t.Errorf("%s: log after 90 s: %v", tt.name, l)
			}
			if st := r.c.State(); st.Connected || st.Err == nil {
				t.Errorf("%s: State = %+v", tt.name, st)
			}
			healthy.Store(true)
			begin := time.Now()
			go answer(r.peers)
			r.want(Connected)
			if d := time.Since(begin); d > tt.within {
				t.Errorf("%s: connected after %v", tt.name, d)
			}
			r.want(Subscribed)
			close(r.peers)
		})
	}
}

// answer accepts every client that is still there.
func answer(peers <-chan *peer) {
	for p := range peers {
		pk, ok := <-p.in
		if !ok || pk.kind != kConnect {
			continue
		}
		p.send([]byte{kConnack << 4, 2, 0, 0})
		for pk := range p.in {
			if pk.kind == kSubscribe {
				p.send([]byte{kSuback << 4, 3, pk.body[0], pk.body[1], 1})
				break
			}
		}
	}
}

// With several brokers the next is tried at once.
func TestBrokersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		begin := time.Now()
		r := start(t, Config{Brokers: []string{"tcp://a", "tcp://b", "tcp://c"}}, func(r *rig) {
			r.refuse = func() error {
				if n++; n < 3 {
					return errRefusedDial
				}
				return nil
			}
		})
		r.peer().welcome(false)
		if d := r.want(Connected); d.Broker != "tcp://c:1883" || !time.Now().Equal(begin) {
			t.Errorf("Connected to %s after %v", d.Broker, time.Since(begin))
		}
	})
}

// Every refusal says what to do; codes that MQTT does not have are refusals, too (paho takes them for a success).
func TestConnackRefusals(t *testing.T) {
	tests := []struct {
		connack []byte
		want    string
	}{
		{[]byte{kConnack << 4, 2, 0, 1}, "MQTT 3.1.1"},
		{[]byte{kConnack << 4, 2, 0, 2}, "mqtt.client_id"},
		{[]byte{kConnack << 4, 2, 0, 3}, "not available now"},
		{[]byte{kConnack << 4, 2, 0, 4}, "mqtt.password_file"},
		{[]byte{kConnack << 4, 2, 0, 5}, "access rules"},
		{[]byte{kConnack << 4, 2, 0, 6}, "code 6"},
		{[]byte{kConnack << 4, 2, 0, 254}, "code 254"},
		{[]byte{kConnack << 4, 0}, "CONNACK with 0 bytes"},
		{[]byte{kPingresp << 4, 0}, "before CONNACK"},
		{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "before CONNACK"},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Config{Brokers: []string{"tcp://u:hush@broker.test"}}, nil)
			p := r.peer()
			if c := p.expect(kConnect); !slices.Contains([]byte{0xc0}, c.body[7]) {
				t.Errorf("flags %x: user and password of the URL are missing", c.body[7])
			}
			p.send(tt.connack)
			r.peer()
			if l := r.log.with("WARN", "cannot connect", tt.want, "broker=tcp://broker.test:1883"); len(l) != 1 {
				t.Errorf("%x: want %q in %v", tt.connack, tt.want, r.log.with())
			}
			if l := r.log.with("hush"); len(l) > 0 {
				t.Errorf("a password in the log: %v", l)
			}
		})
	}
}

// A password that cannot be read is an attempt that failed.
func TestPasswordError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := start(t, Config{Username: "u", Password: func() (string, error) {
			if n++; n == 1 {
				return "", errors.New("no such file")
			}
			return "p", nil
		}}, nil)
		r.peer().welcome(false)
		r.want(Connected)
		if l := r.log.with("read password: no such file"); len(l) != 1 {
			t.Errorf("log %v", r.log.with())
		}
	})
}

// An acknowledgement that comes too late is void, neither lost in a crash nor written to the wrong connection; the message
// comes again and is acknowledged then. Random delays, over TCP, so that the race detector has something to see.
func TestAckAfterLoss(t *testing.T) {
	rnd := testbed.Random(t)
	r := start(t, Config{Filters: oneFilter, RetryMin: time.Millisecond, RetryMax: time.Millisecond}, overTCP)
	stored := map[string]int{}
	delivered := 0
	for round := range 200 {
		m := message{topic: "sensors/s1", payload: fmt.Sprint(round), id: uint16(round + 1), qos: 1}
		p := r.peer()
		p.welcome(round > 0)
		p.publish(m)
		if rnd.IntN(2) == 0 {
			p.grant(nil)
		}
		first := untilPublish(r)
		cutNow := rnd.IntN(3)
		if cutNow > 0 {
			p.conn.Close()
		}
		stored[string(first.Payload)]++
		waitRandomly(rnd)
		ok := r.c.Ack(first.Conn, []uint16{first.PacketID}) // the commit ends before, during or after the loss
		if cutNow == 0 {
			if !ok || p.expectLate(kPuback).id() != m.id {
				t.Fatalf("round %d: Ack = %v", round, ok)
			}
			p.conn.Close()
			continue
		}
		p = r.peer()
		p.welcome(true)
		m.dup = true
		p.publish(m)
		again := untilPublish(r)
		if !again.Dup || again.PacketID != m.id || again.Conn != first.Conn+1 {
			t.Fatalf("round %d: again %s", round, show(again))
		}
		if r.c.Ack(first.Conn, []uint16{m.id}) {
			t.Fatalf("round %d: Ack of an older connection = true", round)
		}
		if !r.c.Ack(again.Conn, []uint16{m.id}) || p.expectLate(kPuback).id() != m.id {
			t.Fatalf("round %d: the second delivery is not acknowledged", round)
		}
		delivered++
		p.conn.Close()
	}
	if len(stored) != 200 || delivered == 0 {
		t.Errorf("%d messages, %d delivered twice", len(stored), delivered)
	}
}

// untilPublish is the next message, whatever the connection does in between.
func untilPublish(r *rig) Delivery {
	for {
		if d := r.next(); d.Kind == Publish {
			return d
		}
	}
}

// expectLate is the next packet of the kind, whatever comes before.
func (p *peer) expectLate(kind byte) packet {
	p.t.Helper()
	for {
		if pk, ok := p.next(); !ok || pk.kind == kind {
			return pk
		}
	}
}

// waitRandomly lets other goroutines run for a while that differs.
func waitRandomly(rnd *rand.Rand) {
	timer := time.NewTimer(time.Duration(rnd.IntN(2000)) * time.Microsecond)
	<-timer.C
}
