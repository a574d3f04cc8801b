package uplink

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A mesh is a network in memory whose connections freeze, as those do whose other end has lost its power. It works in
// a bubble, so that time-outs cost nothing.
type mesh struct {
	mu    sync.Mutex
	at    map[string]*memListener // by address
	where string                  // the address that the server's name leads to; "" cannot be resolved
	conns []*iceConn
	cold  bool // connections to come are born frozen
	dials int
}

func newMesh() *mesh { return &mesh{at: map[string]*memListener{}} }

// A memListener takes connections of a mesh.
type memListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *memListener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *memListener) Addr() net.Addr { return &net.TCPAddr{} }

// listen serves h at addr, by HTTP/2 if there is a certificate.
func (m *mesh) listen(addr string, h http.Handler, cert *tls.Certificate) *http.Server {
	l := &memListener{conns: make(chan net.Conn), done: make(chan struct{})}
	m.mu.Lock()
	m.at[addr] = l
	m.mu.Unlock()
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	if cert == nil {
		go func() { _ = s.Serve(l) }()
		return s
	}
	s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*cert}, NextProtos: []string{"h2", "http/1.1"}}
	go func() { _ = s.ServeTLS(l, "", "") }()
	return s
}

func (m *mesh) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	host, _, _ := net.SplitHostPort(addr)
	m.mu.Lock()
	m.dials++
	where, l := m.where, m.at[m.where]
	cold := m.cold
	m.mu.Unlock()
	if where == "" {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	client, server := net.Pipe()
	c := &iceConn{Conn: client, peer: where, room: 32 << 10, thaw: make(chan struct{})}
	c.frozen = cold
	m.mu.Lock()
	m.conns = append(m.conns, c)
	m.mu.Unlock()
	select {
	case l.conns <- server:
		return c, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lead has the server's name lead to addr.
func (m *mesh) lead(addr string) { m.mu.Lock(); m.where = addr; m.mu.Unlock() }

// dialed is how often was dialed.
func (m *mesh) dialed() int { m.mu.Lock(); defer m.mu.Unlock(); return m.dials }

// freeze kills the connections of now without a word, and those to come if cold.
func (m *mesh) freeze(cold bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cold = cold
	for _, c := range m.conns {
		c.freeze()
	}
}

// An iceConn gives nothing to read once it is frozen, and takes no more than a system's buffer would.
type iceConn struct {
	net.Conn
	peer string

	mu     sync.Mutex
	frozen bool
	room   int           // bytes that it still takes when frozen
	thaw   chan struct{} // closed with the connection
	once   sync.Once
}

func (c *iceConn) freeze() { c.mu.Lock(); c.frozen = true; c.mu.Unlock() }

func (c *iceConn) isFrozen() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.frozen }

func (c *iceConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.frozen {
		c.room -= len(p)
		full := c.room < 0
		c.mu.Unlock()
		if full {
			<-c.thaw
			return 0, net.ErrClosed
		}
		return len(p), nil
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *iceConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.isFrozen() {
		<-c.thaw
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *iceConn) Close() error {
	c.once.Do(func() { close(c.thaw) })
	return c.Conn.Close()
}

func (c *iceConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.peer), Port: 443} }

// A meshRun is an uplink in a bubble, on a mesh where the name "central" leads to 192.0.2.1.
type meshRun struct {
	t       *testing.T
	mesh    *mesh
	central *central // not started: it is a handler
	server  *http.Server
	memory  *memory
	uplink  *Uplink
	cert    *tls.Certificate
	log     *logBuffer
	servers []*http.Server
}

// inMesh runs f in a bubble, over HTTP/1.1 or, with TLS, HTTP/2. The uplink's time-out is 30 s, as by default.
func inMesh(t *testing.T, http2 bool, f func(*meshRun)) {
	synctest.Test(t, func(t *testing.T) {
		r := &meshRun{t: t, mesh: newMesh(), memory: newMemory(t), log: &logBuffer{}}
		r.central = &central{points: map[string]string{}, got: make(chan struct{}, 1000)}
		cfg := Config{URL: "http://central", API: "v1", Database: "db", Logger: r.log.logger(), UserAgent: "t"}
		if http2 {
			a := newAuthority(t)
			cert := a.issue("central", certFrom, certUntil)
			r.cert, cfg.URL, cfg.TLS = &cert, "https://central", &tls.Config{RootCAs: a.pool()}
		}
		r.mesh.lead("192.0.2.1")
		r.serve("192.0.2.1")
		u, err := New(cfg, r.memory)
		if err != nil {
			t.Fatal(err)
		}
		r.uplink, u.poster.wires.dial = u, r.mesh.dial
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- u.Run(ctx) }()
		f(r)
		cancel()
		<-done
		for _, s := range r.servers {
			_ = s.Close()
		}
		r.mesh.freeze(true)
		for _, c := range r.mesh.conns {
			_ = c.Close()
		}
		<-time.After(10 * time.Minute) // whatever is left must end by itself
		synctest.Wait()
	})
}

// serve starts the central server at an address.
func (r *meshRun) serve(addr string) {
	r.server = r.mesh.listen(addr, r.central, r.cert)
	r.servers = append(r.servers, r.server)
}

// delivers queues lines and gives how long they took to arrive.
func (r *meshRun) delivers(lines ...string) time.Duration {
	r.t.Helper()
	began := time.Now()
	r.memory.add(lines...)
	limit := time.After(24 * time.Hour)
	for {
		r.memory.mu.Lock()
		changed, left := r.memory.changed, len(r.memory.queue)
		r.memory.mu.Unlock()
		if left == 0 {
			return time.Since(began)
		}
		select {
		case <-changed:
		case <-limit:
			r.t.Errorf("not delivered: %+v", r.uplink.Status())
			return time.Since(began)
		}
	}
}
