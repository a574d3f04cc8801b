package uplink

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// A peerConn is a connection to a server that has moved to another address.
type peerConn struct {
	net.Conn
	peer string
}

func (c peerConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.peer), Port: 8086} }

// startMoving runs an uplink whose server's name leads to servers[*at], at the address 192.0.2.(*at).
func startMoving(t *testing.T, at *atomic.Int64, servers []*central, cfg Config, m *memory) *Uplink {
	cfg.URL = "http://central.invalid"
	u, err := New(cfg, m)
	if err != nil {
		t.Fatal(err)
	}
	u.poster.wires.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		i := at.Load()
		c, err := new(net.Dialer).DialContext(ctx, network, servers[i].Listener.Addr().String())
		return peerConn{c, net.IPv4(192, 0, 2, byte(i)).String()}, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- u.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return u
}

// hangingUp makes every answer of c the last one on its connection.
func hangingUp(c *central) *central {
	c.Config.SetKeepAlivesEnabled(false)
	return c
}

// What another server refused is not parked because this one takes lines: the name led elsewhere for a while.
func TestRefusalsOfAnotherServer(t *testing.T) {
	for back := range 30 { // refusals of the wrong server until the name leads back
		var at atomic.Int64
		right := hangingUp(newCentral(t, func(n int, _ []string) reply {
			if n == 1 {
				at.Store(1)
			}
			return stored
		}))
		wrong := hangingUp(newCentral(t, func(n int, _ []string) reply {
			if n > back {
				at.Store(0)
			}
			return jsonReply(400, "partial write: field type conflict")
		}))
		lines := windows("s", 0, 300)
		m := newMemory(t, lines...)
		cfg := testConfig("")
		cfg.BatchPoints = 100
		startMoving(t, &at, []*central{right, wrong}, cfg, m)
		m.drained()
		check(t, right, m, lines, nil)
	}
}

// The same address, but the server was away in between: what it refused before proves nothing now.
func TestRefusalsBeforeARestart(t *testing.T) {
	for refusals := range 12 {
		c := newCentral(t, nil)
		c.answer = func(n int, _ []string) reply {
			switch {
			case n == 1 || n > 2+refusals:
				return stored
			case n == 2+refusals:
				return reply{status: 503}
			}
			return jsonReply(400, "database is being opened")
		}
		lines := windows("s", 0, 20)
		m := newMemory(t, lines...)
		cfg := testConfig(c.URL)
		cfg.BatchPoints = 10
		_, stop := start(t, cfg, m)
		m.drained()
		stop()
		check(t, c, m, lines, nil)
	}
}

// Two servers by turns, and a line that both refuse: it ends up parked, and holds up nothing.
func TestPoisonLineAtServersByTurns(t *testing.T) {
	var at atomic.Int64
	var servers []*central
	for range 2 {
		servers = append(servers, hangingUp(newCentral(t, func(_ int, lines []string) reply {
			at.Store(1 - at.Load())
			if hasSensor(lines, "bad") {
				return jsonReply(400, "no")
			}
			return stored
		})))
	}
	all, good, bad := mixed(200, 0, 70, 71, 199)
	m := newMemory(t, all...)
	cfg := testConfig("")
	startMoving(t, &at, servers, cfg, m)
	m.drained()
	held := slices.Concat(servers[0].holds(), servers[1].holds())
	slices.Sort(held)
	if held = slices.Compact(held); !slices.Equal(held, sorted(good)) {
		t.Errorf("together they hold %d lines, want %d", len(held), len(good))
	}
	for _, l := range bad {
		if m.parked[l] != "no" {
			t.Errorf("%s is not parked: %q", l, m.parked)
		}
	}
	if n := servers[0].count() + servers[1].count(); n > 120 || strings.Join(m.uploads, "") == "" {
		t.Errorf("%d requests", n)
	}
}
