package crash

import (
	"testing"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// MQTT packet types, and the DUP flag of a PUBLISH.
const (
	connack = 2
	publish = 3
	puback  = 4
	dupFlag = 8
)

// A wireMessage is one PUBLISH that went to the agent.
type wireMessage struct {
	conn  int
	id    uint16
	dup   bool
	rec   sim.Record
	acked bool // a PUBACK for it went the other way, on the same connection
}

// A wireConn is one connection of the agent: whether the broker said that it had no session, and what it sent.
type wireConn struct {
	fresh    bool
	messages []*wireMessage
}

// wireOf sorts what a tap recorded by connection. Connections are numbered from 1 without a gap.
func wireOf(t *testing.T, tap *testbed.TapProxy) []wireConn {
	t.Helper()
	conns := make([]wireConn, tap.Conns()+1)
	waiting := map[uint16]*wireMessage{} // by identifier, of the connection at hand
	last := 0
	for _, p := range testbed.Packets(tap.Chunks()) {
		if p.Conn < last && p.Type == publish {
			t.Errorf("connection %d sends after connection %d began", p.Conn, last)
		}
		if p.Conn > last {
			last = p.Conn
			clear(waiting)
		}
		c := &conns[p.Conn]
		switch {
		case p.Type == connack && p.From == testbed.FromServer && len(p.Body) == 2:
			c.fresh = p.Body[0]&1 == 0 && p.Body[1] == 0
		case p.Type == publish && p.From == testbed.FromServer:
			m := &wireMessage{conn: p.Conn, id: p.ID, dup: p.Flags&dupFlag != 0,
				rec: sim.Record{Topic: p.Topic, Payload: p.Body, Retained: p.Flags&1 == 1}}
			if waiting[p.ID] != nil {
				t.Errorf("connection %d: identifier %d is used again before it was acknowledged", p.Conn, p.ID)
			}
			waiting[p.ID] = m
			c.messages = append(c.messages, m)
		case p.Type == puback && p.From == testbed.FromClient && p.Conn == last:
			m := waiting[p.ID]
			if m == nil {
				t.Errorf("connection %d: PUBACK %d for nothing", p.Conn, p.ID)
				continue
			}
			m.acked = true
			delete(waiting, p.ID)
		}
	}
	return conns
}
