package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// A strictBroker has a backlog of n readings for the one client that it serves, and never more than limit of them are on
// the way: mosquitto does not keep to its limit exactly.
type strictBroker struct {
	url        string
	limit, n   int
	now        time.Time      // of the newest reading
	subscribed chan time.Time // when the client had subscribed
	taken      chan time.Time // when the last reading was acknowledged
	over       chan struct{}  // closed when the client is gone; then err says why
	err        error

	out         *bufio.Writer
	open        bool // subscribed
	sent, acked int
	last        time.Time     // when the last acknowledgement came
	pause       time.Duration // longest between two, to be read when all is taken
}

func newStrictBroker(h *host, limit, n int) *strictBroker {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatalf("listen: %v", err)
	}
	b := &strictBroker{url: "tcp://" + l.Addr().String(), limit: limit, n: n, now: time.Now(),
		subscribed: make(chan time.Time, 1), taken: make(chan time.Time, 1), over: make(chan struct{})}
	go func() {
		defer close(b.over)
		b.err = b.serve(l)
	}()
	h.Cleanup(func() { l.Close(); <-b.over }) // the client was started later, so it has been stopped by now
	return b
}

// await returns what comes from one of the channels, subscribed or taken.
func (b *strictBroker) await(h *host, c chan time.Time) (at time.Time) {
	timeout := time.NewTimer(drainTimeout)
	defer timeout.Stop()
	select {
	case at = <-c:
	case <-b.over:
		h.Fatalf("the agent left the broker with %d of %d readings acknowledged: %v", b.acked, b.n, b.err)
	case <-timeout.C:
		h.Fatalf("waited %v for the agent at the broker", drainTimeout)
	}
	return at
}

// serve serves one client until it goes.
func (b *strictBroker) serve(l net.Listener) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	b.out = bufio.NewWriter(conn)
	for {
		if in.Buffered() == 0 {
			if err := b.out.Flush(); err != nil {
				return fmt.Errorf("write to the client: %w", err)
			}
		}
		p, err := packets.ReadPacket(in)
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
		if err := b.answer(p); err != nil {
			return err
		}
		b.send()
	}
}

// answer writes the answer to p. As all that is written, it is on its way after the next Flush, which has the error too.
func (b *strictBroker) answer(p packets.ControlPacket) error {
	switch p := p.(type) {
	case *packets.ConnectPacket:
		packets.NewControlPacket(packets.Connack).Write(b.out)
	case *packets.SubscribePacket:
		if b.open {
			return errors.New("a second SUBSCRIBE")
		}
		ack := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
		ack.MessageID, ack.ReturnCodes = p.MessageID, p.Qoss
		ack.Write(b.out)
		b.open = true
		b.subscribed <- time.Now()
	case *packets.PublishPacket: // the agent's own, about its state
		if p.Qos > 0 {
			ack := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
			ack.MessageID = p.MessageID
			ack.Write(b.out)
		}
	case *packets.PubackPacket:
		b.took(time.Now())
	case *packets.PingreqPacket:
		packets.NewControlPacket(packets.Pingresp).Write(b.out)
	}
	return nil
}

func (b *strictBroker) took(now time.Time) {
	if b.acked > 0 {
		b.pause = max(b.pause, now.Sub(b.last))
	}
	b.last = now
	b.acked++
	if b.acked == b.n {
		b.taken <- now
	}
}

// send writes as many readings as may be on the way.
func (b *strictBroker) send() {
	for b.open && b.sent < b.n && b.sent-b.acked < b.limit {
		topic, payload := backlog(b.sent, b.n, b.now)
		p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		p.Qos, p.TopicName, p.Payload = 1, topic, []byte(payload)
		p.MessageID = uint16(b.sent%0xffff) + 1
		p.Write(b.out)
		b.sent++
	}
}
