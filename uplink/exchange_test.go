package uplink

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"edgeagent/testbed"
)

// A server whose chain is exchanged for that of another authority is believed as soon as the file of authorities says so, without a restart; until
// then nothing is lost. An open connection goes on meanwhile.
func TestAuthoritiesAreExchanged(t *testing.T) {
	before, after := newAuthority(t), newAuthority(t)
	var shown atomic.Pointer[tls.Certificate] // by the server
	var trusted atomic.Pointer[x509.CertPool] // by the file
	show := func(a *authority) { c := a.issue("central", certFrom, certUntil); shown.Store(&c) }
	show(before)
	trusted.Store(before.pool())
	for _, http2 := range []bool{false, true} {
		show(before)
		trusted.Store(before.pool())
		c := newCentral(t, nil)
		s := httptest.NewUnstartedServer(c)
		s.EnableHTTP2 = http2
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			// No tickets: a session that is resumed shows no chain.
			conf := &tls.Config{Certificates: []tls.Certificate{*shown.Load()}, SessionTicketsDisabled: true}
			if http2 {
				conf.NextProtos = []string{"h2"}
			}
			return conf, nil
		}}
		s.StartTLS()
		t.Cleanup(s.Close)
		c.Server.Close()
		c.Server = s
		lines := windows("s", 0, 3)
		m := newMemory(t, lines[0])
		cfg := testConfig(s.URL)
		cfg.Authorities = trusted.Load
		u, stop := start(t, cfg, m)
		m.drained()

		trusted.Store(after.pool()) // the open connection has been judged
		m.add(lines[1])
		m.drained()

		trusted.Store(before.pool())
		show(after)
		s.CloseClientConnections()
		m.add(lines[2])
		testbed.WaitFor(t, 20*time.Second, "the new chain to be refused", func() bool { return u.Status().LastError != "" })
		trusted.Store(after.pool())
		m.drained()
		stop()
		check(t, c, m, lines, nil)
	}
}
