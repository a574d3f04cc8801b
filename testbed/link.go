package testbed

import (
	"net"
	"sync"
	"time"
)

// A link is one client's connection and the one made for it to the server.
type link struct {
	id             int
	client, server net.Conn
	cut            bool // by Cut; guarded by the proxy's mu
}

func (l *link) close() {
	l.client.Close()
	l.server.Close()
}

// handle joins a client to the server until either side ends. A server that is not there ends the client.
func (p *TapProxy) handle(client net.Conn) {
	server, err := net.DialTimeout("tcp", p.target, startTimeout)
	if err != nil {
		client.Close()
		return
	}
	l := &link{client: client, server: server}
	if !p.add(l) {
		l.close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pump(l, FromClient) })
	both.Go(func() { p.pump(l, FromServer) })
	both.Wait()
	p.mu.Lock()
	delete(p.links, l.id)
	p.mu.Unlock()
}

// add takes l into the books; false when the proxy is closed.
func (p *TapProxy) add(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.conns++
	l.id = p.conns
	p.links[l.id] = l
	return true
}

// pump passes bytes on in one direction; when that ends, it ends the other too. A stalled link does not pass on the end.
func (p *TapProxy) pump(l *link, from Direction) {
	defer l.close()
	src, dst := l.client, l.server
	if from == FromServer {
		src, dst = dst, src
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := src.Read(buf)
		if !p.record(l, from, buf[:n]) {
			return
		}
		if _, werr := dst.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// record waits while the direction is stalled and writes the bytes down; false when they must not be passed on.
func (p *TapProxy) record(l *link, from Direction, data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.stalled[from] && !p.closed && !l.cut {
		p.gate.Wait()
	}
	if p.closed || l.cut {
		return false
	}
	if len(data) > 0 {
		p.order++
		p.chunks = append(p.chunks, Chunk{Order: p.order, Conn: l.id, From: from, Data: append([]byte(nil), data...)})
	}
	return true
}

// reset closes c so that the other side gets a reset.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.SetDeadline(time.Now()) // wakes a blocked write
	c.Close()
}
