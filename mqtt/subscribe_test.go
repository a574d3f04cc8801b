package mqtt

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// A broker that forgot the session gets one SUBSCRIBE per connection, like one that did not.
func TestSubscribeOnEveryConnection(t *testing.T) {
	for _, present := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Config{Filters: []Filter{{"a/+", 1}, {"b", 1}, {"a/+", 0}}}, nil)
			for conn := uint64(1); conn <= 3; conn++ {
				p := r.peer()
				p.welcome(present)
				if s := p.grant(nil); !slices.Equal(s.filters(), []string{"a/+", "b"}) {
					t.Errorf("SUBSCRIBE %v", s.filters())
				}
				if d := r.want(Connected); d.SessionPresent != present || d.Conn != conn {
					t.Errorf("Connected = %s", show(d))
				}
				r.want(Subscribed)
				ms, payloads := numbered(1, 10)
				p.publish(ms...)
				r.c.Ack(conn, ids(r.wantPayloads(payloads...)))
				p.acks(10)
				p.conn.Close()
				if d := r.want(Down); !errors.Is(d.Err, ErrClosed) || d.Conn != conn {
					t.Errorf("Down = %s", show(d))
				}
				if pk, ok := p.next(); ok {
					t.Errorf("one more packet, of kind %d", pk.kind)
				}
			}
		})
	}
}

// A message that matches two filters is delivered as often as the broker sends it, and no more.
func TestOverlappingFilters(t *testing.T) {
	for copies := 1; copies <= 2; copies++ {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Config{Filters: []Filter{{"sensors/#", 1}, {"sensors/+/temperature", 1}}}, nil)
			p := r.up()
			for i := range copies {
				p.publish(message{topic: "sensors/s1/temperature", payload: "20.5", id: uint16(i + 1), qos: 1})
			}
			p.publish(message{topic: "end"})
			for i := range copies {
				if d := r.want(Publish); d.PacketID != uint16(i+1) {
					t.Errorf("copy %d has identifier %d", i+1, d.PacketID)
				}
			}
			if d := r.want(Publish); d.Topic != "end" {
				t.Errorf("%d copies sent, one more delivered", copies)
			}
			if n := len(r.log.with("WARN", "overlap", "sensors/#", "sensors/+/temperature")); n != 1 {
				t.Errorf("%d lines about the overlap", n)
			}
		})
	}
}

// A filter of an earlier run is ended once, and only if the broker still has the session.
func TestRemovedFilter(t *testing.T) {
	tests := []struct {
		present bool
		remove  []string
		want    []string
	}{
		{true, []string{"b", "a"}, []string{"b"}},
		{true, []string{"b", "c/#", "b"}, []string{"b", "c/#"}},
		{true, []string{"a"}, nil},
		{false, []string{"b"}, nil},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Config{Filters: []Filter{{"a", 1}}, Unsubscribe: tt.remove}, nil)
			for conn := range 2 {
				p := r.peer()
				p.welcome(tt.present)
				if conn == 0 && tt.want != nil {
					u := p.expect(kUnsubscribe)
					if !slices.Equal(u.filters(), tt.want) {
						t.Errorf("%+v: UNSUBSCRIBE %v", tt, u.filters())
					}
					p.send([]byte{kUnsuback << 4, 2, u.body[0], u.body[1]})
				}
				p.grant(nil)
				r.want(Connected)
				r.want(Subscribed)
				p.conn.Close()
				r.want(Down)
			}
			if lines := r.log.with("no longer configured"); len(lines) != len(tt.want) {
				t.Errorf("%+v: log %v", tt, lines)
			}
		})
	}
}

// A refused filter is named and asked for again, alone, on the same connection; messages of the others flow meanwhile.
func TestRefusedSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Config{Filters: []Filter{{"good", 1}, {"secret", 1}, {"weak", 1}}}, nil)
		p := r.peer()
		p.welcome(false)
		p.grant(map[string]byte{"secret": 0x80, "weak": 0})
		r.want(Connected)
		p.publish(message{topic: "good", payload: "1", qos: 1, id: 1})
		r.wantPayloads("1")
		if s := p.grant(map[string]byte{"secret": 0x80}); !slices.Equal(s.filters(), []string{"secret"}) {
			t.Errorf("second SUBSCRIBE %v", s.filters())
		}
		if st := r.c.State(); st.Subscribed || !st.Connected {
			t.Errorf("State = %+v", st)
		}
		p.grant(nil)
		r.want(Subscribed)
		if st := r.c.State(); !st.Subscribed {
			t.Errorf("State = %+v", st)
		}
		if l := r.log.with("ERROR", "refuses", "filter=secret"); len(l) != 1 {
			t.Errorf("refusals: %v", l)
		}
		if l := r.log.with("WARN", "lower QoS", "filter=weak", "granted=0"); len(l) != 1 {
			t.Errorf("lower QoS: %v", l)
		}
		if l := r.log.with("INFO", "grants every subscription now"); len(l) != 1 {
			t.Errorf("granted after all: %v", l)
		}
	})
}

// A SUBACK that never comes ends the connection; one that answers too much does, too, instead of crashing paho.
func TestBadSuback(t *testing.T) {
	tests := []struct {
		suback []byte
		want   error
	}{
		{nil, ErrNoAnswer},
		{[]byte{kSuback << 4, 4, 0, 1, 1, 1}, ErrMalformed},
		{[]byte{kSuback << 4, 2, 0, 1}, ErrMalformed},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, Config{Filters: oneFilter}, nil)
			p := r.peer()
			p.welcome(false)
			r.want(Connected)
			p.expect(kSubscribe)
			p.send(tt.suback)
			if d := r.want(Down); !errors.Is(d.Err, tt.want) {
				t.Errorf("%x: Down %v, want %v", tt.suback, d.Err, tt.want)
			}
		})
	}
}
