package testbed

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"reflect"
	"testing"
	"time"
)

// echo starts a server that sends back what it gets, in capitals.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 100)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					c.Write(bytes.ToUpper(buf[:n]))
				}
			}()
		}
	}()
	return l.Addr().String()
}

func dial(t *testing.T, p *TapProxy) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func ask(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

// expect reads exactly text.
func expect(t *testing.T, c net.Conn, text string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(startTimeout))
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("read %q, %v; want %q", got, err, text)
	}
}

// expectNothing reads for a moment, in which nothing may come.
func expectNothing(t *testing.T, c net.Conn) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, err := c.Read(make([]byte, 10)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("read %d bytes, %v; want nothing", n, err)
	}
}

func TestProxyRecords(t *testing.T) {
	p := StartTapProxy(t, echo(t))
	a, b := dial(t, p), net.Conn(nil)
	ask(t, a, "one")
	expect(t, a, "ONE")
	b = dial(t, p)
	ask(t, b, "two")
	expect(t, b, "TWO")
	want := []Chunk{
		{1, 1, FromClient, []byte("one")},
		{2, 1, FromServer, []byte("ONE")},
		{3, 2, FromClient, []byte("two")},
		{4, 2, FromServer, []byte("TWO")},
	}
	if got := p.Chunks(); !reflect.DeepEqual(got, want) || p.Conns() != 2 {
		t.Errorf("recorded %v of %d connections, want %v of 2", got, p.Conns(), want)
	}
}

func TestProxyStalls(t *testing.T) {
	tests := []struct {
		name string
		dirs []Direction
		seen int // chunks recorded while stalled
	}{
		{"both ways", nil, 0},
		{"from client", []Direction{FromClient}, 0},
		{"from server", []Direction{FromServer}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := StartTapProxy(t, echo(t))
			c := dial(t, p)
			p.Stall(tt.dirs...)
			ask(t, c, "one")
			expectNothing(t, c)
			if got := p.Chunks(); len(got) != tt.seen {
				t.Errorf("%v passed a stalled link, want %d chunks", got, tt.seen)
			}
			p.Resume()
			expect(t, c, "ONE")
		})
	}
}

func TestProxyCuts(t *testing.T) {
	p := StartTapProxy(t, echo(t))
	c := dial(t, p)
	ask(t, c, "one")
	expect(t, c, "ONE")
	p.Stall()
	ask(t, c, "lost")
	p.Cut()
	c.SetReadDeadline(time.Now().Add(startTimeout))
	if _, err := c.Read(make([]byte, 10)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v, want the end of the connection", err)
	}
	p.Resume()
	c = dial(t, p)
	ask(t, c, "two")
	expect(t, c, "TWO")
	for _, chunk := range p.Chunks() {
		if string(chunk.Data) == "lost" {
			t.Error("bytes that were not passed on are in the record")
		}
	}
}

func TestProxyRefuses(t *testing.T) {
	p := StartTapProxy(t, echo(t))
	standing := dial(t, p)
	ask(t, standing, "one")
	expect(t, standing, "ONE")
	p.Refuse()
	if c, err := net.Dial("tcp", p.Addr()); err == nil {
		c.Close()
		t.Error("a connection was taken")
	}
	ask(t, standing, "two")
	expect(t, standing, "TWO")
	p.Accept()
	c := dial(t, p)
	ask(t, c, "three")
	expect(t, c, "THREE")
}

func TestProxyWithoutServer(t *testing.T) {
	p := StartTapProxy(t, loopback(FreePort(t)))
	c := dial(t, p)
	c.SetReadDeadline(time.Now().Add(startTimeout))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v, want the end of the connection", err)
	}
}
