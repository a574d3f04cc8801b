package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// selfSigned is a certificate for name from from on, for an hour, and a file with it for who trusts it.
func selfSigned(t *testing.T, name string, from time.Time) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: from, NotAfter: from.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// door listens, with TLS if there is a configuration, does with each connection what serve does, and closes it.
func door(t *testing.T, conf *tls.Config, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			if conf != nil {
				c = tls.Server(c, conf)
			}
			serve(c)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port
}

// hear reads what comes first, which takes a handshake, and answers.
func hear(answer string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = c.Read(make([]byte, 512))
		_, _ = c.Write([]byte(answer))
	}
}

// Each reason why broker and server cannot be had has a next step of its own: real doors with the fault in them.
func TestNextStep(t *testing.T) {
	good, goodCA := selfSigned(t, "localhost", time.Now().Add(-time.Minute))
	other, otherCA := selfSigned(t, "other.example", time.Now().Add(-time.Minute))
	old, oldCA := selfSigned(t, "localhost", time.Now().Add(-2*time.Hour))
	young, youngCA := selfSigned(t, "localhost", time.Now().Add(time.Hour))
	secure := func(c tls.Certificate) string {
		return door(t, &tls.Config{Certificates: []tls.Certificate{c}}, hear(""))
	}
	wants := door(t, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert}, hear(""))
	for _, c := range []struct {
		name, at, ca   string // ca is empty without TLS, "-" with that of the system
		broker, uplink string // part of the next step; empty is not tried
	}{
		{"closed", fmt.Sprintf("127.0.0.1:%d", testbed.FreePort(t)), "", "nothing listens there", "nothing listens there"},
		{"no such name", "no.such.host.invalid:1", "", "is the name in mqtt.brokers right?", "is the name in url right?"},
		{"self-signed", secure(good), "-", "name the CA that signed it in mqtt.tls.ca_file", "name the CA that signed it in uplink.tls.ca_file"},
		{"wrong name", secure(other), otherCA, "is the address in mqtt.brokers right?", "name in uplink.tls.server_name what the certificate is for"},
		{"expired", secure(old), oldCA, "renew the certificate at the server", "renew the certificate at the server"},
		{"not yet", secure(young), youngCA, "set the clock of this gateway", "set the clock of this gateway"},
		{"no TLS there", door(t, nil, hear("HTTP/1.1 400 Bad Request\r\n\r\n")), "-", "the server speaks no TLS there", "the server speaks no TLS there"},
		{"client certificate", wants, goodCA, "the server wants another certificate", ""},
		{"wrong password", door(t, nil, hear("\x20\x02\x00\x04")), "", "its log says why it refused", ""},
		{"not allowed", door(t, nil, hear("\x20\x02\x00\x05")), "", "its log says why it refused", ""},
		{"no broker", door(t, nil, hear("HTTP/1.1 400 Bad Request\r\n\r\n")), "", "is that the port of an MQTT broker", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tcp, http, more := "tcp://", "http://", ""
			if c.ca != "" {
				tcp, http = "ssl://", "https://"
			}
			if len(c.ca) > 1 {
				more = fmt.Sprintf("[mqtt.tls]\nca_file = %q\n[uplink.tls]\nca_file = %q\n", c.ca, c.ca)
			}
			o := Options{Config: config(t, more), Now: time.Now}
			b := judgeBroker(seeBroker(t.Context(), o, tcp+c.at), o, running{err: os.ErrNotExist})
			leadsTo(t, b, "broker", c.broker)
			if c.uplink != "" {
				u := o.Config.Uplinks[0]
				u.URL = http + c.at
				leadsTo(t, judgeServer(seeServer(t.Context(), o, u), time.Now()), "uplink", c.uplink)
			}
		})
	}
}

// leadsTo wants the last line to be a failed check with this next step.
func leadsTo(t *testing.T, r Report, check, next string) {
	t.Helper()
	if l := r[len(r)-1]; l.Verdict != Fail || l.Check != check || !strings.Contains(l.Next, next) {
		t.Errorf("%s %s: %s -> %s; want the step %q", l.Verdict, l.Check, l.Text, l.Next, next)
	}
}
