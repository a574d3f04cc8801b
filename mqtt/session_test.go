package mqtt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var oneFilter = []Filter{{"sensors/#", 1}}

// numbered makes n QoS 1 messages from the first number on, with their numbers as identifiers and payloads.
func numbered(first, n int) (ms []message, payloads []string) {
	for i := first; i < first+n; i++ {
		p := fmt.Sprint(i)
		ms = append(ms, message{topic: "sensors/s1", payload: p, id: uint16(i), qos: 1})
		payloads = append(payloads, p)
	}
	return ms, payloads
}

// A backlog comes right after CONNACK, ten at a time, and the SUBACK two seconds late: all of it is delivered after
// Connected and before Subscribed, and goes on as it is acknowledged.
func TestBacklogBeforeSuback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{Filters: oneFilter}, nil)
		p := r.peer()
		p.welcome(true)
		ms, payloads := numbered(1, 50)
		p.publish(ms[:10]...)
		if s := p.expect(kSubscribe); s.id() != 1 || !slices.Equal(s.filters(), []string{"sensors/#"}) {
			t.Errorf("SUBSCRIBE %d %v", s.id(), s.filters())
		}
		time.AfterFunc(2*time.Second, func() { p.send([]byte{kSuback << 4, 3, 0, 1, 1}) })
		if c := r.want(Connected); !c.SessionPresent || c.Conn != 1 || c.Broker != "tcp://broker.test:1883" {
			t.Fatalf("Connected = %+v", c)
		}
		for i := 0; i < 50; i += 10 {
			if i > 0 {
				p.publish(ms[i : i+10]...)
			}
			if ds := r.wantPayloads(payloads[i : i+10]...); !r.c.Ack(1, ids(ds)) {
				t.Fatal("Ack = false")
			}
		}
		for i, id := range p.acks(50) {
			if int(id) != i+1 {
				t.Fatalf("PUBACK %d is of %d", i+1, id)
			}
		}
		r.want(Subscribed)
		p.publish(message{topic: "sensors/s1", payload: "live", id: 51, qos: 1})
		r.wantPayloads("live")
	})
}

// What a Delivery says of a message is what the packet said.
func TestDeliveryFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{Filters: oneFilter}, nil)
		p := r.up()
		tests := []struct {
			in   message
			want Delivery
		}{
			{message{topic: "a", payload: "x", qos: 0}, Delivery{Topic: "a", Payload: []byte("x"), Size: 1}},
			{message{topic: "a/b", payload: "", qos: 1, id: 65535}, Delivery{Topic: "a/b", QoS: 1, PacketID: 65535}},
			{message{topic: "a", payload: "yz", qos: 1, id: 7, dup: true}, Delivery{Topic: "a", Payload: []byte("yz"), QoS: 1, PacketID: 7, Dup: true, Size: 2}},
			{message{topic: "a", payload: "r", qos: 1, id: 8, retain: true}, Delivery{Topic: "a", Payload: []byte("r"), QoS: 1, PacketID: 8, Retained: true, Size: 1}},
		}
		for _, tt := range tests {
			p.publish(tt.in)
			got := r.want(Publish)
			if !got.Arrival.Equal(time.Now()) {
				t.Errorf("Arrival = %v", got.Arrival)
			}
			got.Arrival, tt.want.Conn = time.Time{}, 1
			if string(got.Payload) != string(tt.want.Payload) {
				t.Errorf("payload %q, want %q", got.Payload, tt.want.Payload)
			}
			got.Payload, tt.want.Payload = nil, nil
			if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", tt.want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		}
	})
}

// CONNECT carries what it must; the birth message and the farewell are retained; the end is a DISCONNECT.
func TestConnectBirthAndFarewell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r := start(t, Config{
			Username: "gw", Password: func() (string, error) { calls++; return fmt.Sprint("pw", calls), nil },
			KeepAlive: 30 * time.Second, StatusTopic: "edgeagent/g1/status",
		}, nil)
		for conn := 1; conn <= 2; conn++ {
			p := r.peer()
			c := p.welcome(true)
			const willQoS1Retain, user, password, clean = 0x2c, 0x80, 0x40, 0x02
			if c.body[6] != 4 || c.body[7] != willQoS1Retain|user|password || c.body[7]&clean != 0 || c.body[9] != 30 {
				t.Errorf("CONNECT level %d flags %x keep-alive %d", c.body[6], c.body[7], c.body[9])
			}
			for _, s := range []string{"edgeagent-test", "edgeagent/g1/status", `{"state":"offline","reason":"connection lost"}`, "gw", fmt.Sprint("pw", conn)} {
				if !strings.Contains(string(c.body), s) {
					t.Errorf("CONNECT lacks %q", s)
				}
			}
			b := p.expect(kPublish)
			if topic, payload := b.publishBody(); topic != "edgeagent/g1/status" || b.flags&1 == 0 || !strings.HasPrefix(payload, `{"state":"online","since":"2000-01-01T`) {
				t.Errorf("birth %s %s flags %x", topic, payload, b.flags)
			}
			r.want(Connected)
			r.want(Subscribed)
			if conn == 1 {
				p.conn.Close()
				r.want(Down)
				continue
			}
			if err := r.stop(); err != nil {
				t.Error(err)
			}
			f := p.expect(kPublish)
			if _, payload := f.publishBody(); f.flags&1 == 0 || !strings.HasPrefix(payload, `{"state":"offline","reason":"stopped"`) {
				t.Errorf("farewell %s", payload)
			}
			p.expect(kDisconnect)
			if d := r.want(Down); d.Err != nil {
				t.Errorf("Down.Err = %v", d.Err)
			}
		}
		if l := r.log.with("pw"); len(l) > 0 {
			t.Errorf("a password in the log: %v", l)
		}
	})
}

// Whoever waits for the agent to be connected, or for its birth message, may publish then: the broker has answered the
// subscription, or kept the session.
func TestConnectedMeansHeard(t *testing.T) {
	for _, present := range []bool{false, true} {
		for _, code := range []byte{1, refused} {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, Config{Filters: []Filter{{"a", 1}}, StatusTopic: "status"}, nil)
				p := r.peer()
				p.welcome(present)
				r.want(Connected)
				synctest.Wait()
				if st := r.c.State(); st.Connected != present {
					t.Errorf("session present %v, before SUBACK: %+v", present, st)
				}
				p.grant(map[string]byte{"a": code})
				synctest.Wait()
				if st := r.c.State(); !st.Connected || st.Subscribed != (code == 1) || st.Since.IsZero() {
					t.Errorf("session present %v, after SUBACK with %d: %+v", present, code, st)
				}
				if !present { // else it came before the SUBSCRIBE
					if topic, _ := p.expect(kPublish).publishBody(); topic != "status" {
						t.Errorf("after SUBACK with %d: a message on %q, want the birth message", code, topic)
					}
				}
			})
		}
	}
}
