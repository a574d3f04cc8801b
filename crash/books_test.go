package crash

import (
	"maps"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
)

// A mark is a moment at which it is certain how many messages the agent had taken: no connection stood, and it said so,
// or it was dead and its store said so.
type mark struct {
	conns    int   // connections made so far
	received int64 // one for each message, since the store began
	what     string
}

// A tally is the sequence of messages that the agent has taken, found out from marks and the wire. Messages are taken in
// the order of the wire; of each connection a first part is taken, and what was not committed when the agent was killed
// is lost from the end.
type tally struct {
	t     *testing.T
	conns []wireConn
	taken []*wireMessage
	upTo  int // connections that are in taken
}

// follow takes in what came up to a mark.
func (y *tally) follow(m mark) {
	y.t.Helper()
	before := len(y.taken)
	sent := 0
	for c := y.upTo + 1; c <= m.conns; c++ {
		if len(y.conns[c].messages) == 0 {
			continue
		}
		if sent++; sent > 1 {
			y.t.Fatalf("%s: the agent was sent messages on several connections; the books cannot be followed", m.what)
		}
		y.taken = append(y.taken, y.conns[c].messages...)
	}
	y.upTo = m.conns
	if m.received > int64(len(y.taken)) {
		y.t.Fatalf("%s: the agent counts %d received, and was sent %d", m.what, m.received, len(y.taken))
	}
	for _, lost := range y.taken[m.received:] {
		if lost.acked {
			y.t.Errorf("%s: message %d of connection %d was acknowledged, and is lost: %d received now, %d before",
				m.what, lost.id, lost.conn, m.received, before)
		}
	}
	y.taken = y.taken[:m.received]
}

// items decodes what was taken. A DUP message is the same as the last one taken with its identifier in the session, if it
// has the same topic and payload.
func (y *tally) items() []sim.Item {
	type content struct{ topic, payload string }
	known := map[uint16]content{}
	conn := 0
	var items []sim.Item
	for _, m := range y.taken {
		for ; conn < m.conn; conn++ {
			if y.conns[conn+1].fresh {
				clear(known)
			}
		}
		c := content{m.rec.Topic, string(m.rec.Payload)}
		item := sim.Decode(m.rec, time.Millisecond)
		item.Again = m.dup && known[m.id] == c
		known[m.id] = c
		items = append(items, item)
	}
	return items
}

// sameLedger compares all columns; a reason that is absent is 0.
func sameLedger(t *testing.T, l status.Ledger, want sim.Ledger) {
	t.Helper()
	got := sim.Ledger{Received: l.Received, Windowed: l.Windowed, Late: l.Late, Duplicate: l.Duplicate, Retained: l.Retained, Rejected: l.Rejected}
	zero := func(_ string, n int64) bool { return n == 0 }
	maps.DeleteFunc(got.Rejected, zero)
	maps.DeleteFunc(want.Rejected, zero)
	if got.Received != want.Received || got.Windowed != want.Windowed || got.Late != want.Late || got.Duplicate != want.Duplicate ||
		got.Retained != want.Retained || !maps.Equal(got.Rejected, want.Rejected) {
		t.Errorf("ledger: got %+v, want %+v", got, want)
	}
}

// balanced fails the test unless both identities hold, by this test's own sums.
func balanced(t *testing.T, r status.Report) {
	t.Helper()
	l, p := r.Ledger, r.Points
	sum := l.Windowed + l.Late + l.Duplicate + l.Retained
	for _, n := range l.Rejected {
		sum += n
	}
	if l.Received != sum || !l.Balanced {
		t.Errorf("ledger: received %d, columns sum up to %d, balanced %v", l.Received, sum, l.Balanced)
	}
	in := p.Finalized + p.Updated + p.LateReports + p.LateReadings + p.Health + p.Carried
	out := p.Uploaded + p.Queued + p.Parked + p.Evicted + p.Superseded
	if in != out || !p.Balanced {
		t.Errorf("points: %d in, %d out, balanced %v", in, out, p.Balanced)
	}
}
