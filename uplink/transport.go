package uplink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a connection. Each request is bounded by Config.Timeout too.
const (
	dialTimeout = 30 * time.Second
	tlsTimeout  = 30 * time.Second // a small board needs some seconds
	pingAfter   = 30 * time.Second // HTTP/2: silence after which the server is asked for a sign of life
	pingTimeout = 15 * time.Second
	idleTimeout = 90 * time.Second
)

// errProxyAuth is returned when the proxy on the way wants a password.
var errProxyAuth = errors.New("the proxy wants a password (407)")

// newTransport makes the transport of one uplink, whose connections are kept in w. It never follows a redirect: a
// followed one would turn the write into a GET of some page that answers 200.
func newTransport(cfg *tls.Config, w *wires) *http.Transport {
	if cfg == nil {
		cfg = &tls.Config{}
	}
	cfg = cfg.Clone()
	cfg.MinVersion = max(cfg.MinVersion, tls.VersionTLS12)
	if cfg.ClientSessionCache == nil { // a resumed session spares the certificates, which are most of a handshake's bytes
		cfg.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	}
	certs, own := cfg.Certificates, cfg.GetClientCertificate
	cfg.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		w.asked.Store(true)
		if own != nil {
			return own(asked)
		}
		for i := range certs {
			if asked.SupportsCertificate(&certs[i]) == nil {
				return &certs[i], nil
			}
		}
		return new(tls.Certificate), nil // none; the server may do without
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         w.open,
		TLSClientConfig:     cfg,
		TLSHandshakeTimeout: tlsTimeout,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		MaxIdleConns:        1,
		IdleConnTimeout:     idleTimeout,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
			switch res.StatusCode {
			case http.StatusOK:
				return nil
			case http.StatusProxyAuthRequired:
				return errProxyAuth
			}
			return fmt.Errorf("the proxy does not connect: it answers %d %s", res.StatusCode, http.StatusText(res.StatusCode))
		},
	}
}

// wires are the open connections of an uplink. After a request without an answer all of them are closed: one may be half
// open, or lead to an address that the server has left. A transport on its own would keep an HTTP/2 connection on
// which a request timed out, and use it for the next.
type wires struct {
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	asked atomic.Bool // a server asked for a client certificate and has not answered a request since

	mu   sync.Mutex // guards live
	live map[*wire]struct{}
}

func newWires() *wires {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &wires{dial: d.DialContext, live: map[*wire]struct{}{}}
}

// A wire is a connection that is in the books of wires until it is closed.
type wire struct {
	net.Conn
	all *wires
}

// open dials.
func (w *wires) open(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := w.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	conn := &wire{Conn: c, all: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live[conn] = struct{}{}
	return conn, nil
}

// Close implements net.Conn.
func (c *wire) Close() error {
	c.all.mu.Lock()
	delete(c.all.live, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// any reports whether a connection is open.
func (w *wires) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live) > 0
}

// cut closes all connections.
func (w *wires) cut() {
	w.mu.Lock()
	live := w.live
	w.live = map[*wire]struct{}{}
	w.mu.Unlock()
	for c := range live {
		_ = c.Conn.Close()
	}
}
