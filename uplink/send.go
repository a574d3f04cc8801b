package uplink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"
	"unicode"
)

// stopGrace is how long a request and its settlement may go on after Run was told to stop, so that what the server
// has stored is not sent again after an orderly restart.
const stopGrace = 5 * time.Second

// errBadToken is returned for a token that no header can carry.
var errBadToken = errors.New("the token holds a line break or another control character, so it cannot be sent")

// post sends entries as one request and tells what came of it.
func (p *poster) post(ctx context.Context, entries []Entry) answer {
	b, err := p.pack(entries)
	if err != nil {
		return answer{outcome: down, reason: err.Error()}
	}
	return p.send(ctx, b)
}

// send sends b as one request and tells what came of it. It ends early when ctx does, but not before stopGrace.
func (p *poster) send(ctx context.Context, b *body) answer {
	user, secret, err := p.credential()
	if err != nil {
		return answer{outcome: denied, reason: p.clean(fmt.Sprintf("read token or password: %v", err))}
	}
	p.user, p.secret = user, secret
	p.renew()
	if user == "" && strings.ContainsFunc(secret, unicode.IsControl) {
		return answer{outcome: denied, reason: errBadToken.Error()}
	}
	inner, cancel := withGrace(ctx)
	defer cancel()
	inner, stop := context.WithTimeout(inner, p.cfg.Timeout)
	defer stop()
	var peer string
	inner = httptrace.WithClientTrace(inner, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		peer, _, _ = net.SplitHostPort(i.Conn.RemoteAddr().String())
	}})
	req, err := p.request(inner, b)
	if err != nil {
		return answer{outcome: down, reason: p.clean(err.Error())}
	}
	began := p.now()
	a := p.exchange(req, &peer)
	if a.outcome == settled && !b.out() { // whoever says so has not seen the lines
		a.outcome, a.reason = portal, "it answered before it had read the lines"
		p.hangUp()
	}
	if p.cfg.Observe != nil {
		p.cfg.Observe(p.now().Sub(began), a.outcome.String())
	}
	return a
}

// exchange sends a request and judges its answer; peer is who answered, as soon as that is known.
func (p *poster) exchange(req *http.Request, peer *string) answer {
	res, err := p.transport.RoundTrip(req)
	if err != nil {
		return p.noAnswer(err, *peer != "")
	}
	p.wires.asked.Store(false)
	a := readAnswer(res, p.clean)
	a.peer = *peer
	if a.status >= 500 || a.outcome == portal { // perhaps another address serves better, or a sign-in was what it took
		p.hangUp()
	}
	return a
}

// noAnswer judges an error of the network; connected tells whether there was a connection for the request. No connection
// of now is used again.
func (p *poster) noAnswer(err error, connected bool) answer {
	p.hangUp()
	a := answer{outcome: down, reason: cut(p.clean(explain(err, p.now())), maxReason)}
	var slow net.Error
	late := errors.As(err, &slow) && slow.Timeout()
	a.timeout = late && connected
	switch {
	case errors.Is(err, errProxyAuth):
		a.outcome = blocked
	case late && connected:
		a.reason = fmt.Sprintf("no answer within %v", p.cfg.Timeout)
	case late:
		a.reason = fmt.Sprintf("no connection within %v", p.cfg.Timeout)
	case p.wires.asked.Load(): // the server's refusal of a certificate may be lost behind its closing
		a.reason = cut(a.reason, 200) + "; the server asks for a client certificate and did not accept what it got: tls.cert_file and tls.key_file"
	}
	return a
}

// withGrace is ctx without its end, ending stopGrace after it.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(stopGrace, cancel) })
	return inner, func() { stop(); cancel() }
}
