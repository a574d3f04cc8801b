package mqtt

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// flood is a broker that accepts one client and sends it n QoS 1 messages as fast as it reads them; the channel returned is
// closed when all are acknowledged.
func flood(b *testing.B, n int) (addr string, acked <-chan struct{}) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	done := make(chan struct{})
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		if _, err := readPacket(r); err != nil {
			return
		}
		_, _ = conn.Write([]byte{kConnack << 4, 2, 1, 0})
		go pour(conn, n)
		for got := 0; ; {
			pk, err := readPacket(r)
			if err != nil || pk.kind == kDisconnect {
				return
			}
			if pk.kind == kPuback {
				if got++; got == n {
					close(done)
				}
			}
		}
	}()
	return l.Addr().String(), done
}

func pour(conn net.Conn, n int) {
	w := bufio.NewWriterSize(conn, 64<<10)
	for i := range n {
		m := message{topic: "sensors/boiler-12/temperature", payload: `{"temperature":21.37,"ts":1700000123456}`, id: uint16(i%65535 + 1), qos: 1}
		_, _ = w.Write(m.bytes())
	}
	_ = w.Flush()
}

// BenchmarkDrain compares a bare paho consumer, which acknowledges by itself, with this package: a consumer that takes what
// is there and acknowledges it in batches.
func BenchmarkDrain(b *testing.B) {
	b.Run("paho", func(b *testing.B) {
		addr, done := flood(b, b.N)
		b.ReportAllocs()
		o := paho.NewClientOptions().AddBroker("tcp://" + addr).SetClientID("x").SetCleanSession(false).SetAutoReconnect(false)
		o.SetDefaultPublishHandler(func(paho.Client, paho.Message) {})
		c := paho.NewClient(o)
		if t := c.Connect(); !t.WaitTimeout(10*time.Second) || t.Error() != nil {
			b.Fatal(t.Error())
		}
		<-done
		b.StopTimer()
		c.Disconnect(100)
	})
	b.Run("edgeagent", func(b *testing.B) {
		addr, done := flood(b, b.N)
		b.ReportAllocs()
		c := New(Config{Brokers: []string{"tcp://" + addr}, ClientID: "x"})
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		go func() {
			var ds []Delivery
			var ids []uint16
			for {
				select {
				case <-c.Ready():
				case <-ctx.Done():
					return
				}
				ds, ids = c.Take(ds[:0]), ids[:0]
				for _, d := range ds {
					if d.Kind == Publish {
						ids = append(ids, d.PacketID)
					}
				}
				c.Ack(1, ids)
			}
		}()
		<-done
		b.StopTimer()
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkQueue is the cost of handing one message over.
func BenchmarkQueue(b *testing.B) {
	q := newQueue(8192, 4<<20)
	d := Delivery{Topic: "sensors/boiler-12/temperature", Payload: make([]byte, 40)}
	var dst []Delivery
	b.ReportAllocs()
	for i := range b.N {
		if !q.put(&d, time.Second, nil, nil) {
			b.Fatal(fmt.Sprint("full after ", i))
		}
		if i%256 == 255 {
			dst = q.take(dst[:0])
		}
	}
}
