package agent

import (
	"testing"
	"time"

	"edgeagent/buffer"
)

func TestPackets(t *testing.T) {
	const keepAlive = 10 * time.Second
	p := newPackets(keepAlive)
	a, b := hashOf("t", []byte("a")), hashOf("t", []byte("b"))
	known := func(what string, id uint16, hash uint64, want bool) {
		t.Helper()
		if got := p.known(id, hash); got != want {
			t.Errorf("%s: known(%d) = %v", what, id, got)
		}
	}
	commit := func(record uint64, up time.Duration) uint64 {
		var batch buffer.Batch
		p.fill(&batch, record, up)
		p.committed(&batch)
		return batch.ForgetPackets
	}
	p.session(true, 0)
	p.take(1, a, 1)
	known("in the batch being built", 1, a, true)
	known("same identifier, other message", 1, b, false)
	known("same message, other identifier", 2, a, false)
	commit(1, 0)
	p.acked(1, 0)
	p.take(2, b, 2)
	if f := commit(2, 20*time.Second); f != 0 {
		t.Errorf("forgotten at twice the keep-alive: %d", f)
	}
	if f := commit(3, 20*time.Second+1); f != 1 {
		t.Errorf("past it forgotten up to %d, want 1", f)
	}
	known("forgotten", 1, a, false)
	known("not acknowledged, on the same connection for long", 2, b, true)
	p.down()
	if f := commit(4, time.Hour); f != 0 {
		t.Errorf("forgotten while unacknowledged and away: %d", f)
	}
	p.session(true, time.Hour)
	known("redelivered after a long absence", 2, b, true)
	p.take(2, a, 5)
	known("its identifier came back", 2, b, false)
	if f := commit(5, time.Hour); f != 2 {
		t.Errorf("a record whose identifiers all came back is forgotten up to %d, want 2", f)
	}
	p.session(false, 2*time.Hour)
	known("session gone", 2, a, false)
	var batch buffer.Batch
	p.fill(&batch, 6, 2*time.Hour)
	if !batch.ClearPackets || len(batch.Packets) != 0 {
		t.Errorf("a new session must clear the stored packets: %+v", batch)
	}
}

// An acknowledgement may be lost with the link that it was written to: its message is known when it comes again after an absence
// of any length, and for as long after that as it takes to come.
func TestPacketsOverAnOutage(t *testing.T) {
	const keep = 20 * time.Second
	p := newPackets(keep / 2)
	hash := hashOf("t", []byte("a"))
	commit := func(record uint64, up time.Duration) {
		var batch buffer.Batch
		p.fill(&batch, record, up)
		p.committed(&batch)
	}
	p.session(true, 0)
	p.take(1, hash, 1)
	commit(1, 0)
	p.acked(1, 0)
	p.down()
	commit(2, time.Hour)
	if !p.known(1, hash) {
		t.Error("forgotten while there was no connection")
	}
	p.session(true, time.Hour)
	commit(3, time.Hour+keep)
	if !p.known(1, hash) {
		t.Error("forgotten before the broker had time to send it again")
	}
	commit(4, time.Hour+keep+1)
	if p.known(1, hash) {
		t.Error("known for ever")
	}
}

func TestPacketsRestored(t *testing.T) {
	p := newPackets(10 * time.Second)
	a, b := hashOf("t", []byte("a")), hashOf("t", []byte("b"))
	p.restore(buffer.PacketRecord{Record: 3, Packets: []buffer.Packet{{ID: 1, Hash: a}, {ID: 2, Hash: a}}})
	p.restore(buffer.PacketRecord{Record: 4, Packets: []buffer.Packet{{ID: 2, Hash: b}}})
	if !p.known(1, a) || p.known(2, a) || !p.known(2, b) {
		t.Error("the newest message of an identifier is the known one")
	}
	var batch buffer.Batch
	p.fill(&batch, 5, time.Hour)
	if batch.ForgetPackets != 0 {
		t.Error("forgotten before the broker had a chance to send them again")
	}
	p.session(true, time.Hour)
	p.fill(&batch, 5, time.Hour+21*time.Second)
	if batch.ForgetPackets != 4 {
		t.Errorf("forgotten up to %d, want 4: nothing came again in time", batch.ForgetPackets)
	}
}

func TestHashTellsTopicFromPayload(t *testing.T) {
	if hashOf("ab", []byte("c")) == hashOf("a", []byte("bc")) {
		t.Error("topic and payload run together")
	}
}
