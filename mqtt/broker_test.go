package mqtt

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; a good one never waits so long.
const patience = 5 * time.Minute

// Packet kinds as they are in the first nibble.
const (
	kConnect, kConnack, kPublish, kPuback, kPubrec, kPubrel, kPubcomp = 1, 2, 3, 4, 5, 6, 7
	kSubscribe, kSuback, kUnsubscribe, kUnsuback                      = 8, 9, 10, 11
	kPingreq, kPingresp, kDisconnect                                  = 12, 13, 14
)

// A packet is one MQTT packet at the wire.
type packet struct {
	kind, flags byte
	body        []byte
}

func (p packet) id() uint16 { return binary.BigEndian.Uint16(p.body) }

// filters are those of a SUBSCRIBE or UNSUBSCRIBE.
func (p packet) filters() []string {
	var out []string
	for b := p.body[2:]; len(b) > 0; {
		n := 2 + int(binary.BigEndian.Uint16(b))
		out = append(out, string(b[2:n]))
		if p.kind == kSubscribe {
			n++
		}
		b = b[n:]
	}
	slices.Sort(out) // paho sends them in the order of a map
	return out
}

// publishBody splits a PUBLISH.
func (p packet) publishBody() (topic, payload string) {
	n := 2 + int(binary.BigEndian.Uint16(p.body))
	at := n
	if p.flags>>1&3 > 0 {
		at += 2
	}
	return string(p.body[2:n]), string(p.body[at:])
}

// A message is a PUBLISH to be sent.
type message struct {
	topic, payload string
	id             uint16
	qos            byte
	dup, retain    bool
}

func (m message) bytes() []byte {
	first := byte(kPublish<<4) | m.qos<<1
	if m.dup {
		first |= 8
	}
	if m.retain {
		first |= 1
	}
	body := append(binary.BigEndian.AppendUint16(nil, uint16(len(m.topic))), m.topic...)
	if m.qos > 0 {
		body = binary.BigEndian.AppendUint16(body, m.id)
	}
	body = append(body, m.payload...)
	return append(binary.AppendUvarint([]byte{first}, uint64(len(body))), body...)
}

// A peer is the broker's end of one connection: a goroutine that reads, and answers pings, and one that writes.
type peer struct {
	t            testing.TB
	conn         net.Conn
	mute         bool          // never answer pings
	in           chan packet   // what came; closed at the end
	out          chan []byte   // to be written
	dead         chan struct{} // closed at the end
	halt, resume chan struct{} // closed: read no more, as if stopped; end then
}

func newPeer(t testing.TB, conn net.Conn, mute bool) *peer {
	p := &peer{
		t: t, conn: conn, mute: mute, in: make(chan packet, 1<<12), out: make(chan []byte, 1<<12),
		dead: make(chan struct{}), halt: make(chan struct{}), resume: make(chan struct{}),
	}
	go p.read()
	go p.write()
	return p
}

func (p *peer) read() {
	defer close(p.in)
	defer close(p.dead)
	defer p.conn.Close()
	r := bufio.NewReader(p.conn)
	for {
		pk, err := readPacket(r)
		switch {
		case p.halted():
			<-p.resume
			return
		case err != nil:
			return
		case pk.kind != kPingreq:
			p.in <- pk
		case !p.mute:
			p.send([]byte{kPingresp << 4, 0})
		}
		if pk.kind == kDisconnect {
			return
		}
	}
}

func (p *peer) write() {
	for {
		select {
		case b := <-p.out:
			_, _ = p.conn.Write(b) // an error shows in what follows: tests cut connections
		case <-p.dead:
			return
		}
	}
}

// stall makes the peer read no more.
func (p *peer) stall() {
	close(p.halt)
	_ = p.conn.SetReadDeadline(time.Now())
}

func (p *peer) halted() bool {
	select {
	case <-p.halt:
		return true
	default:
		return false
	}
}

func readPacket(r *bufio.Reader) (packet, error) {
	first, err := r.ReadByte()
	if err != nil {
		return packet{}, err
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return packet{}, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r, body)
	return packet{first >> 4, first & 15, body}, err
}

// send has raw bytes written.
func (p *peer) send(b []byte) { p.out <- b }

func (p *peer) publish(ms ...message) {
	var b []byte
	for _, m := range ms {
		b = append(b, m.bytes()...)
	}
	p.send(b)
}

// next is the next packet from the client.
func (p *peer) next() (packet, bool) {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case pk, ok := <-p.in:
		return pk, ok
	case <-timer.C:
		p.t.Error("the client sends nothing")
		return packet{}, false
	}
}

// expect is the next packet, which must be of the kind; birth messages are passed over and acknowledged.
func (p *peer) expect(kind byte) packet {
	p.t.Helper()
	for {
		pk, ok := p.next()
		if ok && pk.kind == kPublish && kind != kPublish {
			continue
		}
		if !ok || pk.kind != kind {
			p.t.Fatalf("got packet kind %d (open %v), want %d", pk.kind, ok, kind)
		}
		return pk
	}
}

// welcome takes the CONNECT and accepts it.
func (p *peer) welcome(sessionPresent bool) packet {
	p.t.Helper()
	c := p.expect(kConnect)
	present := byte(0)
	if sessionPresent {
		present = 1
	}
	p.send([]byte{kConnack << 4, 2, present, 0})
	return c
}

// grant takes the SUBSCRIBE and answers with codes, by filter in sorted order; none: all granted with QoS 1.
func (p *peer) grant(codes map[string]byte) packet {
	p.t.Helper()
	s := p.expect(kSubscribe)
	answer := []byte{s.body[0], s.body[1]}
	for b := s.body[2:]; len(b) > 0; { // in the packet's own order
		n := 2 + int(binary.BigEndian.Uint16(b))
		code, ok := codes[string(b[2:n])]
		if !ok {
			code = 1
		}
		answer = append(answer, code)
		b = b[n+1:]
	}
	p.send(append([]byte{kSuback << 4, byte(len(answer))}, answer...))
	return s
}

// acks takes n acknowledgements and returns their identifiers.
func (p *peer) acks(n int) []uint16 {
	p.t.Helper()
	var ids []uint16
	for range n {
		ids = append(ids, p.expect(kPuback).id())
	}
	return ids
}
