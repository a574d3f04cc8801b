package uplink

import (
	"context"
	"sync"
	"testing"
	"time"

	"edgeagent/testbed"
)

// A server that hangs is given up after the timeout.
func TestStall(t *testing.T) {
	release := make(chan struct{})
	c := newCentral(t, func(n int, _ []string) reply {
		if n <= 2 {
			<-release
		}
		return stored
	})
	t.Cleanup(func() { close(release) })
	lines := windows("s", 0, 50)
	m := newMemory(t, lines...)
	cfg := testConfig(c.URL)
	cfg.Timeout = 50 * time.Millisecond
	start(t, cfg, m)
	m.drained()
	check(t, c, m, lines, nil)
}

// Trial C2: at an orderly stop a request in flight is awaited and settled, so that nothing is sent again.
func TestStopSettlesWhatIsInFlight(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	c := newCentral(t, func(int, []string) reply {
		close(arrived)
		<-release
		return stored
	})
	m := newMemory(t, windows("s", 0, 50)...)
	u, err := New(testConfig(c.URL), m)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- u.Run(ctx) }()
	<-arrived
	cancel()
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if queued, _, _ := m.counts(); queued != 0 {
		t.Errorf("%d points would be sent again", queued)
	}
}

// Trial A9, C4: the server comes late, then limits the rate, then has a bad spell.
func TestUnreliableServer(t *testing.T) {
	rng := testbed.Random(t)
	var mu sync.Mutex // guards rng
	var c *central
	refuse := refusing(&c, true, 400, "no")
	c = newCentral(t, func(n int, lines []string) reply {
		mu.Lock() // a request whose connection was dropped may still be in here
		what := rng.IntN(8)
		mu.Unlock()
		switch what {
		case 0:
			return jsonReply(429, "slow down")
		case 1:
			return reply{status: 502, body: "<html>Bad Gateway</html>"}
		case 2:
			return reply{drop: true}
		case 3:
			return reply{drop: true, store: !hasSensor(lines, "bad")}
		case 4:
			return jsonReply(404, "database not found")
		}
		return refuse(n, lines)
	})
	all, good, bad := mixed(400, 3, 200, 201, 380)
	m := newMemory(t, all...)
	cfg := testConfig(c.URL)
	cfg.BatchPoints = 50
	start(t, cfg, m)
	m.drained()
	check(t, c, m, good, bad)
}
