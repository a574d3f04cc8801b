package main

import (
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/testbed"
)

// yardstick is a bare paho consumer: this program again, with the command drain.
type yardstick struct{}

func (yardstick) name() string { return "paho" }

func (yardstick) start(h *host, b *testbed.Broker, n int) (*testbed.Process, func()) {
	self, err := os.Executable()
	if err != nil {
		h.Fatalf("find this program: %v", err)
	}
	cmd := testbed.Command(self, "drain", "-broker", b.URL(), "-n", strconv.Itoa(n))
	p := testbed.Start(h, cmd, filepath.Join(h.TempDir(), "drain.log"))
	return p, func() {
		if code, ok := p.Wait(drainTimeout); code != 0 || !ok {
			h.Fatalf("drain ended with code %d, in time: %v", code, ok)
		}
	}
}

// drain takes and acknowledges n messages, one by one, and ends when the last acknowledgement is written. paho queues
// them and does not say when, so they are counted on the wire.
func drain(args []string) error {
	flags := flag.NewFlagSet("drain", flag.ContinueOnError)
	broker := flags.String("broker", "", "URL of the broker")
	n := flags.Int64("n", 0, "messages to take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all := make(chan struct{})
	o := options(*broker, session, func(_ paho.Client, m paho.Message) { m.Ack() })
	o.SetCustomOpenConnectionFn(func(u *url.URL, _ paho.ClientOptions) (net.Conn, error) {
		c, err := net.Dial("tcp", u.Host)
		return &ackCounter{Conn: c, left: *n, all: all}, err
	})
	c := paho.NewClient(o)
	if err := await(c.Connect()); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	<-all
	c.Disconnect(0)
	return nil
}

// An ackCounter closes all when it has passed on as many PUBACKs as are left. paho writes each with a Write of its own,
// and all from one goroutine.
type ackCounter struct {
	net.Conn
	left int64
	all  chan struct{}
}

func (c *ackCounter) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	const puback = 0x40
	if err == nil && b[0] == puback {
		c.left--
		if c.left == 0 {
			close(c.all)
		}
	}
	return n, err
}
