package testbed

import (
	"net"
	"sync"
)

// A Direction is who sends.
type Direction uint8

const (
	FromClient Direction = iota
	FromServer
)

// A Chunk is what one read from a connection gave: a piece of a stream, not a packet.
type Chunk struct {
	Order int64 // place among all chunks of the proxy, both ways, all connections, from 1
	Conn  int   // number of the connection, from 1
	From  Direction
	Data  []byte
}

// A TapProxy stands between a client and a server, records every byte both ways before it passes it on, and breaks the
// link on request. Its methods may be called at any time from any goroutine.
type TapProxy struct {
	t      TB
	target string
	port   int
	wg     sync.WaitGroup

	mu       sync.Mutex // guards what follows
	gate     *sync.Cond // signalled when stalled, closed or a link's cut change
	listener net.Listener
	links    map[int]*link
	conns    int
	chunks   []Chunk
	order    int64
	stalled  [2]bool
	closed   bool
}

// StartTapProxy starts a proxy on a free port for the server at target, host:port. It ends with the test.
func StartTapProxy(t TB, target string) *TapProxy {
	t.Helper()
	p := &TapProxy{t: t, target: target, port: FreePort(t), links: map[int]*link{}}
	p.gate = sync.NewCond(&p.mu)
	p.Accept()
	t.Cleanup(p.close)
	return p
}

// Addr is host:port of the proxy. It stays the same over Refuse and Accept.
func (p *TapProxy) Addr() string { return loopback(p.port) }

// URL is Addr as an MQTT client wants it.
func (p *TapProxy) URL() string { return "tcp://" + p.Addr() }

// Accept lets clients connect, which they can from the start, until Refuse.
func (p *TapProxy) Accept() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.closed {
		return
	}
	l, err := net.Listen("tcp", loopback(p.port))
	if err != nil {
		p.t.Fatalf("listen for the proxy: %v", err)
	}
	p.listener = l
	p.wg.Go(func() { p.serve(l) })
}

// Refuse has the system refuse new connections. Those that stand go on.
func (p *TapProxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
}

// Cut ends all connections that stand with a reset, as a lost link does; what was not passed on yet is lost. New
// connections are taken.
func (p *TapProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.links {
		l.cut = true
		reset(l.client)
		reset(l.server)
	}
	p.gate.Broadcast()
}

// Stall stops passing bytes on in the given directions, in both if none is given, while connections stay open and new
// ones are taken: a link that has died without a word. Resume ends it, and nothing is lost.
func (p *TapProxy) Stall(dirs ...Direction) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(dirs) == 0 {
		dirs = []Direction{FromClient, FromServer}
	}
	for _, d := range dirs {
		p.stalled[d] = true
	}
}

// Resume ends every Stall.
func (p *TapProxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = [2]bool{}
	p.gate.Broadcast()
}

// Chunks is a copy of the record so far, in order. Bytes held back by Stall are not in it yet.
func (p *TapProxy) Chunks() []Chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Chunk(nil), p.chunks...)
}

// Conns is the number of connections taken so far.
func (p *TapProxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns
}

func (p *TapProxy) close() {
	p.Refuse()
	p.mu.Lock()
	p.closed = true
	for _, l := range p.links {
		l.close()
	}
	p.gate.Broadcast()
	p.mu.Unlock()
	p.wg.Wait()
}

// serve takes connections from l until it is closed.
func (p *TapProxy) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.handle(client) })
	}
}
