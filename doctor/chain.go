package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"slices"
	"time"

	"edgeagent/agent"
	"edgeagent/configs"
)

const (
	expirySoon  = 14 * 24 * time.Hour
	handshakeIn = 15 * time.Second
)

// A chain is the certificates that a server shows, its own first; empty without TLS.
type chain struct {
	certs []*x509.Certificate
	loose bool  // nobody checks them: insecure_skip_verify
	err   error // why the connection failed, as far as TLS is to blame
}

// seeBrokerChain shakes hands with a broker whose URL asks for TLS. That it cannot be reached at all is told elsewhere.
func seeBrokerChain(ctx context.Context, broker string, t configs.TLS) chain {
	u, err := url.Parse(broker)
	if err != nil || !slices.Contains([]string{"ssl", "tls", "mqtts", "wss"}, u.Scheme) {
		return chain{}
	}
	c := chain{loose: t.InsecureSkipVerify}
	conf, err := agent.TLSOf("mqtt.tls", t, quiet())
	if err != nil {
		c.err = err
		return c
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), map[string]string{"wss": "443"}[u.Scheme])
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeIn)
	defer cancel()
	conn, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", host)
	if err != nil {
		return c
	}
	defer conn.Close()
	if secure, ok := conn.(*tls.Conn); ok {
		c.certs = secure.ConnectionState().PeerCertificates
	}
	return c
}

// judgeChain looks at how long the certificates of a server hold, that which ends first. Nothing is said without TLS.
func judgeChain(check, where string, c chain, now time.Time) Report {
	var out Report
	if c.err != nil {
		return Report{fail(check, "name files that are there and can be read", "%s: %v", where, c.err)}
	}
	if len(c.certs) == 0 {
		return nil
	}
	if c.loose {
		out = append(out, warn(check, "name the CA in tls.ca_file instead", "%s: insecure_skip_verify: anyone on the way can read and change what is sent", where))
	}
	first := slices.MinFunc(c.certs, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	until := first.NotAfter.UTC().Format(time.DateOnly)
	switch left := first.NotAfter.Sub(now); {
	case left < 0:
		// it is let through: nobody checks it, or it is not on the way to the root that is trusted
		out = append(out, warn(check, "renew it at the server; or is the clock of this gateway wrong?", "%s: the certificate (%s) has expired on %s", where, first.Subject, until))
	case left < expirySoon:
		out = append(out, warn(check, "renew it at the server in time", "%s: the certificate (%s) holds until %s, %s from now", where, first.Subject, until, span(left)))
	default:
		out = append(out, ok(check, "%s: the certificate holds until %s", where, until))
	}
	return out
}
