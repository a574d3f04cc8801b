package agent

import (
	"sort"
	"time"

	"github.com/cespare/xxhash/v2"

	"edgeagent/buffer"
)

// packets is the memory by which a redelivery is recognised: QoS 1 messages taken on the present session, by packet
// identifier and a hash of topic and payload. A message is forgotten when its acknowledgement was written twice the
// keep-alive ago and the connection is still the same, when it has not come again for so long after the next connection, when its
// identifier has come back with another message, or with the session. While there is no connection none is: an acknowledgement
// that was written to a link which had died is lost, and its message comes again however long the link was away.
type packets struct {
	keep    time.Duration // twice the keep-alive
	latest  map[uint16]packet
	records []packetRecord // ascending by number; the newest may be of the batch being built
	pending []buffer.Packet

	cleared   bool // the session is new since the last commit
	connected bool
	since     time.Duration // Up, when the present connection was made
}

type packet struct {
	hash   uint64
	record uint64
}

// A packetRecord is the packets of one commit.
type packetRecord struct {
	number uint64
	ids    []uint16
	live   int           // of these, how many identifiers have not come back
	older  bool          // taken on an earlier connection of the session, or by an earlier process
	acked  bool          // its acknowledgements have been written
	at     time.Duration // Up, then
}

func newPackets(keepAlive time.Duration) *packets {
	return &packets{keep: 2 * keepAlive, latest: make(map[uint16]packet)}
}

// hashOf is the identity of a message beside its packet identifier.
func hashOf(topic string, payload []byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(topic)
	_, _ = d.Write([]byte{0})
	_, _ = d.Write(payload)
	return d.Sum64()
}

// known reports whether a message delivered with the DUP flag has been taken before.
func (p *packets) known(id uint16, hash uint64) bool {
	k, ok := p.latest[id]
	return ok && k.hash == hash
}

// take remembers a message as part of the batch that becomes the given record.
func (p *packets) take(id uint16, hash uint64, record uint64) {
	p.supersede(id)
	p.latest[id] = packet{hash, record}
	p.pending = append(p.pending, buffer.Packet{ID: id, Hash: hash})
	if n := len(p.records); n == 0 || p.records[n-1].number != record {
		p.records = append(p.records, packetRecord{number: record})
	}
	r := &p.records[len(p.records)-1]
	r.ids = append(r.ids, id)
	r.live++
}

// supersede takes an identifier that comes back off the record it was in.
func (p *packets) supersede(id uint16) {
	if k, ok := p.latest[id]; ok {
		if r := p.find(k.record); r != nil {
			r.live--
		}
	}
}

// find is the record with a number; nil if it is forgotten.
func (p *packets) find(number uint64) *packetRecord {
	i := sort.Search(len(p.records), func(i int) bool { return p.records[i].number >= number })
	if i < len(p.records) && p.records[i].number == number {
		return &p.records[i]
	}
	return nil
}

// session follows a new connection. A new session at the broker knows none of the old identifiers.
func (p *packets) session(present bool, up time.Duration) {
	p.connected, p.since = true, up
	if present {
		for i := range p.records {
			p.records[i].older = true
		}
		return
	}
	clear(p.latest)
	p.records, p.pending, p.cleared = p.records[:0], p.pending[:0], true
}

func (p *packets) down() { p.connected = false }

// acked notes that the acknowledgements of a record have been written.
func (p *packets) acked(record uint64, up time.Duration) {
	if r := p.find(record); r != nil {
		r.acked, r.at = true, up
	}
}

// fill writes the packets of the batch, and what is forgotten with it, into b; the batch becomes the given record.
func (p *packets) fill(b *buffer.Batch, record uint64, up time.Duration) {
	b.Packets, b.ClearPackets, b.ForgetPackets = p.pending, p.cleared, 0
	for _, r := range p.records {
		if r.number >= record || !p.over(r, up) {
			break
		}
		b.ForgetPackets = r.number
	}
}

// over reports whether a committed record need not be known any more. What the broker does not know as acknowledged is redelivered
// soon after the next connection, or never.
func (p *packets) over(r packetRecord, up time.Duration) bool {
	switch {
	case r.live == 0:
		return true
	case !p.connected:
		return false
	case r.older:
		return up-p.since > p.keep
	}
	return r.acked && up-r.at > p.keep
}

// committed ends the batch that b carried.
func (p *packets) committed(b *buffer.Batch) {
	p.pending, p.cleared = p.pending[:0], false
	i := 0
	for ; i < len(p.records) && p.records[i].number <= b.ForgetPackets; i++ {
		p.forget(p.records[i])
	}
	p.records = append(p.records[:0], p.records[i:]...)
}

// forget drops the identifiers of a record that have not come back.
func (p *packets) forget(r packetRecord) {
	for _, id := range r.ids {
		if p.latest[id].record == r.number {
			delete(p.latest, id)
		}
	}
}

// restore takes in the packets of a stored record, oldest first. Whether they were acknowledged is not known.
func (p *packets) restore(r buffer.PacketRecord) {
	rec := packetRecord{number: r.Record, live: len(r.Packets)}
	for _, k := range r.Packets {
		p.supersede(k.ID)
		p.latest[k.ID] = packet{k.Hash, r.Record}
		rec.ids = append(rec.ids, k.ID)
	}
	p.records = append(p.records, rec)
}
