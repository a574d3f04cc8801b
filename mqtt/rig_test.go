package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A rig is a running Client against scripted peers.
type rig struct {
	t      testing.TB
	c      *Client
	peers  chan *peer
	refuse func() error // a dial error instead of a peer; nil for none
	mute   bool
	log    *logBook
	stop   func() error // ends Run and returns its error
	got    []Delivery
}

// start runs a client whose connections are pipes, so that it can live in a synctest bubble.
func start(t testing.TB, cfg Config, change func(*rig)) *rig {
	t.Helper()
	r := &rig{t: t, peers: make(chan *peer, 1024), log: &logBook{}}
	if cfg.ClientID == "" {
		cfg.ClientID = "edgeagent-test"
	}
	if cfg.Brokers == nil {
		cfg.Brokers = []string{"tcp://broker.test:1883"}
	}
	cfg.Logger = slog.New(slog.NewTextHandler(r.log, nil))
	r.c = New(cfg)
	r.c.open = func(context.Context, *url.URL, *tls.Config) (net.Conn, error) {
		if r.refuse != nil {
			if err := r.refuse(); err != nil {
				return nil, err
			}
		}
		ours, theirs := net.Pipe()
		r.peers <- newPeer(t, theirs, r.mute)
		return ours, nil
	}
	if change != nil {
		change(r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.c.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

// overTCP lets a rig's connections be TCP, on the loopback.
func overTCP(r *rig) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { l.Close() })
	r.c.open = func(ctx context.Context, _ *url.URL, _ *tls.Config) (net.Conn, error) {
		u := &url.URL{Scheme: "tcp", Host: l.Addr().String()}
		ours, err := dial(ctx, u, nil)
		if err != nil {
			return nil, err
		}
		theirs, err := l.Accept()
		if err == nil {
			r.peers <- newPeer(r.t, theirs, r.mute)
		}
		return ours, err
	}
}

// peer is the next connection that the client makes.
func (r *rig) peer() *peer {
	r.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case p := <-r.peers:
		return p
	case <-timer.C:
		r.t.Fatal("the client does not connect")
		return nil
	}
}

// up is the next connection, accepted and subscribed.
func (r *rig) up() *peer {
	r.t.Helper()
	p := r.peer()
	p.welcome(true)
	if len(r.c.cfg.Filters) > 0 {
		p.grant(nil)
	}
	r.want(Connected)
	r.want(Subscribed)
	return p
}

// next is the next delivery.
func (r *rig) next() Delivery {
	r.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for len(r.got) == 0 {
		if r.got = r.c.Take(nil); len(r.got) > 0 {
			break
		}
		select {
		case <-r.c.Ready():
		case <-timer.C:
			r.t.Fatal("nothing is delivered")
		}
	}
	d := r.got[0]
	r.got = r.got[1:]
	return d
}

// want is the next delivery, which must be of the kind.
func (r *rig) want(k Kind) Delivery {
	r.t.Helper()
	d := r.next()
	if d.Kind != k {
		r.t.Fatalf("got %s, want kind %d", show(d), k)
	}
	return d
}

// wantEach are the next deliveries, which must be those messages.
func (r *rig) wantPayloads(payloads ...string) []Delivery {
	r.t.Helper()
	var out []Delivery
	for _, p := range payloads {
		d := r.want(Publish)
		if string(d.Payload) != p {
			r.t.Fatalf("got payload %q, want %q", d.Payload, p)
		}
		out = append(out, d)
	}
	return out
}

func show(d Delivery) string {
	return fmt.Sprintf("{kind %d conn %d topic %q id %d too_big %v err %v}", d.Kind, d.Conn, d.Topic, d.PacketID, d.TooBig, d.Err)
}

func ids(ds []Delivery) []uint16 {
	var out []uint16
	for _, d := range ds {
		out = append(out, d.PacketID)
	}
	return out
}

// A logBook keeps the lines logged.
type logBook struct {
	mu    sync.Mutex
	lines []string
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

// with are the lines that contain all words.
func (l *logBook) with(words ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, line := range l.lines {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			out = append(out, line)
		}
	}
	return out
}

var errRefusedDial = errors.New("connection refused")
