package e2e

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"edgeagent/status"
	"edgeagent/testbed"
)

// A far link leads to a broker that is a delay away in each direction and keeps to an in-flight limit exactly, which
// mosquitto does not always do.
type far struct {
	target string
	delay  time.Duration
	limit  int
	quit   chan struct{} // closed at the end of the test
	wg     sync.WaitGroup
}

// startFar returns the URL of a far link to target. It ends with the test.
func startFar(t *testing.T, target string, delay time.Duration, limit int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{target: target, delay: delay, limit: limit, quit: make(chan struct{})}
	f.wg.Go(func() { f.serve(l) })
	t.Cleanup(func() { close(f.quit); l.Close(); f.wg.Wait() })
	return "tcp://" + l.Addr().String()
}

func (f *far) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", f.target)
		if err != nil {
			client.Close()
			continue
		}
		f.join(client, server)
	}
}

// join passes packets both ways until one side ends, or the test.
func (f *far) join(client, server net.Conn) {
	const publish, puback = 3, 4
	inFlight, over := make(chan struct{}, f.limit), make(chan struct{})
	end := sync.OnceFunc(func() { close(over); client.Close(); server.Close() })
	f.wg.Go(func() {
		select {
		case <-f.quit:
			end()
		case <-over:
		}
	})
	f.pump(client, server, end, func(kind byte) {
		if kind == puback {
			<-inFlight
		}
	})
	f.pump(server, client, end, func(kind byte) {
		if kind == publish {
			select {
			case inFlight <- struct{}{}:
			case <-over:
			}
		}
	})
}

// pump passes packets on, each after the delay. gate is called before a packet sets out.
func (f *far) pump(from, to net.Conn, end func(), gate func(kind byte)) {
	type late struct {
		due    time.Time
		packet []byte
	}
	queue := make(chan late, 1<<16)
	f.wg.Go(func() {
		defer close(queue)
		in := bufio.NewReader(from)
		for {
			packet, err := readPacket(in)
			if err != nil {
				end()
				return
			}
			gate(packet[0] >> 4)
			queue <- late{time.Now().Add(f.delay), packet}
		}
	})
	f.wg.Go(func() {
		for l := range queue {
			<-time.After(time.Until(l.due))
			_, _ = to.Write(l.packet) // if it has ended, so has from
		}
	})
}

// readPacket reads one MQTT packet.
func readPacket(in *bufio.Reader) ([]byte, error) {
	first, err := in.ReadByte()
	if err != nil {
		return nil, err
	}
	size, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	packet := binary.AppendUvarint([]byte{first}, size)
	head := len(packet)
	packet = append(packet, make([]byte, size)...)
	_, err = io.ReadFull(in, packet[head:])
	return packet, err
}

// TestFarBroker checks that a broker with a small in-flight limit and a slow link is not held to one in-flight window per
// commit interval.
func TestFarBroker(t *testing.T) {
	t.Parallel()
	const limit, n, roundTrip = 20, 1000, 120 * time.Millisecond
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: startFar(t, b.Addr(), roundTrip/2, limit), uplink: nowhere})
	w.start()
	awaitSubscription(t, b, "gw")
	began := time.Now()
	newPublisher(t, b.URL()).publish(numbered(n)...)
	most := 3*roundTrip*n/limit + 10*time.Second // two intervals are for learning and for the rest at the end
	w.await(most, "all messages", func(r status.Report) bool { return r.Ledger.Received == n && r.MQTT.Unacked == 0 })
	t.Logf("%d messages, %d in flight at a round trip of %v, taken in %v", n, limit, roundTrip, time.Since(began).Round(time.Millisecond))
	w.stop()
}
