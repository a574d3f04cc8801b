package sim

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
	"go.uber.org/goleak"
)

// A cutter is a broker that takes a number of messages on each connection, acknowledges some of them, and hangs up; also
// when nothing has come for a while.
type cutter struct {
	take, ack int // messages read and acknowledged per connection; take 0: all
	arrived   []string
}

// serve takes connections until the listener is closed.
func (c *cutter) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		c.talk(conn)
		_ = conn.Close()
	}
}

const idleCut = 300 * time.Millisecond

func (c *cutter) talk(conn net.Conn) {
	for taken := 0; c.take == 0 || taken < c.take; {
		_ = conn.SetReadDeadline(time.Now().Add(idleCut))
		packet, err := packets.ReadPacket(conn)
		if err != nil {
			return
		}
		switch p := packet.(type) {
		case *packets.ConnectPacket:
			_ = packets.NewControlPacket(packets.Connack).Write(conn)
		case *packets.PublishPacket:
			taken++
			c.arrived = append(c.arrived, p.TopicName+" "+string(p.Payload))
			if c.take == 0 || taken <= c.ack {
				a := packets.NewControlPacket(packets.Puback).(*packets.PubackPacket)
				a.MessageID = p.MessageID
				_ = a.Write(conn)
			}
		case *packets.DisconnectPacket:
			return
		}
	}
}

// TestSimulateOverCuts checks what the doc of Simulate promises when connections break.
func TestSimulateOverCuts(t *testing.T) {
	fleet := mixed
	fleet.For, fleet.Repeat = time.Minute, 0
	fleet.Bad = 0 // so that all messages differ
	for _, c := range []cutter{{take: 40, ack: 30}, {take: 33, ack: 33}, {take: 25, ack: 7}} {
		t.Run(fmt.Sprintf("of %d %d acknowledged", c.take, c.ack), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			l := listenLocal(t)
			done := make(chan struct{})
			go func() { defer close(done); c.serve(l) }()
			var record bytes.Buffer
			sum, err := Simulate(t.Context(), SimulateOptions{Broker: "tcp://" + l.Addr().String(), Fleet: fleet, InFlight: 20, Record: &record})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			<-done
			var want []string
			for _, m := range messages(t, fleet) {
				want = append(want, m.Topic+" "+string(m.Payload))
			}
			if got := recorded(t, record.String()); !slices.Equal(got, want) {
				t.Errorf("record: got %d messages, want %d, or in another order", len(got), len(want))
			}
			checkArrival(t, c.arrived, want, 20)
			if sum.Reconnects == 0 || sum.Unknown != 0 || int64(len(c.arrived)) > sum.Sent+sum.Resent {
				t.Errorf("summary %+v, %d arrived", sum, len(c.arrived))
			}
		})
	}
}

// checkArrival checks that first copies come in the order of want, and second ones from the last few before.
func checkArrival(t *testing.T, arrived, want []string, few int) {
	t.Helper()
	place := map[string]int{}
	for i, m := range want {
		place[m] = i
	}
	next := 0
	for _, m := range arrived {
		switch i := place[m]; {
		case i == next:
			next++
		case i > next || i < next-few:
			t.Fatalf("message %d came when %d was due", i, next)
		}
	}
	if next != len(want) {
		t.Errorf("%d messages arrived, want %d", next, len(want))
	}
}
