package mqtt

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"edgeagent/testbed"
)

// A broker whose chain is exchanged is believed as soon as the authorities of now vouch for it, with no restart.
func TestAuthoritiesAreExchanged(t *testing.T) {
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS() // for its certificate, which vouches for itself
	defer web.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	secure := tls.NewListener(l, &tls.Config{Certificates: web.TLS.Certificates})
	peers := make(chan *peer, 10)
	go func() {
		for {
			conn, err := secure.Accept()
			if err != nil {
				return
			}
			if conn.(*tls.Conn).Handshake() != nil {
				conn.Close()
				continue
			}
			peers <- newPeer(t, conn, false)
		}
	}()
	var trusted atomic.Pointer[x509.CertPool]
	trusted.Store(x509.NewCertPool()) // as if it held another authority alone
	r := start(t, Config{Brokers: []string{"tls://" + l.Addr().String()}, Filters: oneFilter, Authorities: trusted.Load,
		RetryMin: time.Millisecond, RetryMax: 10 * time.Millisecond}, func(r *rig) {
		r.c.open, r.peers = dial, peers
	})
	testbed.WaitFor(t, 20*time.Second, "the chain to be refused", func() bool { return len(r.log.with("cannot connect", "certificate")) > 0 })
	right := x509.NewCertPool()
	right.AddCert(web.Certificate())
	trusted.Store(right)
	r.up()
	r.stop()
}
