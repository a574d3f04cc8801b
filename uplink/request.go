package uplink

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// gzipLevel is where metered links and small boards meet: a fifth less to pay for than at level 1, and what it costs is
// hidden behind the request in flight. The levels above save no more that counts. See docs/uplink.md.
const gzipLevel = 5

// A poster makes requests of lines and sends them. It is used by one goroutine.
type poster struct {
	cfg       Config
	target    target
	wires     *wires
	transport http.RoundTripper
	roots     *x509.CertPool // of transport, if there are Config.Authorities
	gzip      *gzip.Writer   // nil: plain
	now       func() time.Time
	user      string // of the last request
	secret    string // of the last request; shown to nobody
	hide      hider  // of that secret
}

func newPoster(cfg Config) (*poster, error) {
	t, err := cfg.target()
	if err != nil {
		return nil, err
	}
	p := &poster{cfg: cfg, target: t, wires: newWires(), now: time.Now}
	if cfg.TLS != nil && cfg.TLS.Time != nil {
		p.now = cfg.TLS.Time
	}
	p.transport = newTransport(cfg.TLS, p.wires)
	p.renew()
	if cfg.Gzip {
		p.gzip, err = gzip.NewWriterLevel(io.Discard, gzipLevel)
	}
	return p, err
}

// renew takes authorities that have changed into use, unless a connection is open: that has been judged by those of its time.
func (p *poster) renew() {
	if p.cfg.Authorities == nil || p.wires.any() {
		return
	}
	roots := p.cfg.Authorities()
	if roots == p.roots {
		return
	}
	conf := p.cfg.TLS.Clone() // of nil it is nil
	if conf == nil {
		conf = &tls.Config{}
	}
	conf.RootCAs = roots
	p.roots, p.transport = roots, newTransport(conf, p.wires)
}

// hangUp closes all connections.
func (p *poster) hangUp() {
	p.wires.cut()
	if t, ok := p.transport.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// credential reads the user and the secret of the moment; both are empty if there is none to send.
func (p *poster) credential() (user, secret string, err error) {
	read := p.cfg.Token
	if p.cfg.API == "v1" && p.cfg.Username != "" {
		user, read = p.cfg.Username, p.cfg.Password
	}
	if read == nil {
		return user, "", nil
	}
	secret, err = read()
	return user, strings.TrimSpace(secret), err
}

// request builds the request, with the credential of the moment. Its body can be read again, which the transport does
// when an idle connection turns out to be closed.
func (p *poster) request(ctx context.Context, b *body) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target.url, nil)
	if err != nil {
		return nil, err
	}
	req.GetBody = b.begin
	req.Body, _ = b.begin()
	req.ContentLength = b.size
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set("Accept", "application/json")
	if p.cfg.UserAgent != "" {
		req.Header.Set("User-Agent", p.cfg.UserAgent)
	}
	if p.gzip != nil {
		req.Header.Set("Content-Encoding", "gzip")
	}
	p.authorize(req)
	return req, nil
}

// authorize adds the credential of the moment.
func (p *poster) authorize(req *http.Request) {
	switch {
	case p.user != "":
		req.SetBasicAuth(p.user, p.secret)
	case p.secret != "":
		req.Header.Set("Authorization", p.target.auth+" "+p.secret)
	}
}

// A body is what one request carries.
type body struct {
	open func() (io.ReadCloser, error)
	size int64 // bytes on the wire
	last *sent // of it, the last time that it was sent
}

// sent counts what has been read of a body on its way out.
type sent struct {
	io.ReadCloser
	bytes atomic.Int64
}

// Read implements io.Reader.
func (s *sent) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.bytes.Add(int64(n))
	return n, err
}

// begin opens the body to be sent, from its start.
func (b *body) begin() (io.ReadCloser, error) {
	r, err := b.open()
	b.last = &sent{ReadCloser: r}
	return b.last, err
}

// out reports whether all of the body has been given to the network.
func (b *body) out() bool { return b.last != nil && b.last.bytes.Load() >= b.size }

// pack makes a body of entries. Plain ones are read where they lie; the transport may still read a body after the
// answer came, so a compressed one has memory of its own.
func (p *poster) pack(entries []Entry) (*body, error) {
	if p.gzip == nil {
		open := func() (io.ReadCloser, error) { return io.NopCloser(&lines{entries: entries}), nil }
		return &body{open: open, size: sizeOf(entries)}, nil
	}
	var buf bytes.Buffer
	p.gzip.Reset(&buf)
	_, err := io.Copy(p.gzip, &lines{entries: entries})
	if err = errors.Join(err, p.gzip.Close()); err != nil {
		return nil, fmt.Errorf("compress lines: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(buf.Bytes())), nil }
	return &body{open: open, size: int64(buf.Len())}, nil
}

// sizeOf is the length of entries as a plain body.
func sizeOf(entries []Entry) (n int64) {
	for _, e := range entries {
		n += int64(len(e.Line)) + 1
	}
	return n
}

// lines reads entries, each with a newline behind it.
type lines struct {
	entries []Entry
	at      int // bytes of the first entry that were read
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (n int, err error) {
	for n < len(p) && len(l.entries) > 0 {
		line := l.entries[0].Line
		if l.at < len(line) {
			k := copy(p[n:], line[l.at:])
			n, l.at = n+k, l.at+k
			continue
		}
		p[n] = '\n'
		n++
		l.entries, l.at = l.entries[1:], 0
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
