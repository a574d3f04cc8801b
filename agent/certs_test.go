package agent

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/configs"
)

// A pair is a self-signed certificate with its key, as PEM.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, name string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}
}

// newTLSServer answers each request with the name of the client certificate, on a connection of its own. adjust may change what it asks.
func newTLSServer(t *testing.T, adjust func(*tls.Config)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if certs := r.TLS.PeerCertificates; len(certs) > 0 {
			_, _ = io.WriteString(w, certs[0].Subject.CommonName)
		}
	}))
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	adjust(s.TLS)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// asked makes one request on a new connection and returns the answer.
func asked(t *testing.T, s *httptest.Server, cfg *tls.Config) (string, error) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}}
	resp, err := client.Get(s.URL)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

func put(t *testing.T, name string, text []byte) string {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A renewed client certificate is used by the next connection; while certificate and key do not fit, the old one is.
func TestClientCertificateIsReadAgain(t *testing.T) {
	home := t.TempDir()
	first, second := newPair(t, "first"), newPair(t, "second")
	s := newTLSServer(t, func(*tls.Config) {})
	var said bytes.Buffer
	ca := put(t, filepath.Join(home, "ca"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	c := configs.TLS{CAFile: ca, CertFile: filepath.Join(home, "cert"), KeyFile: filepath.Join(home, "key")}
	put(t, c.KeyFile, first.key)
	if _, err := TLSOf("uplink.tls", c, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "uplink.tls.cert_file and key_file: ") {
		t.Errorf("without a certificate: %v", err)
	}
	put(t, c.CertFile, first.cert)
	cfg, err := TLSOf("uplink.tls", c, slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	wants := func(what, name string, warnings int) {
		t.Helper()
		if got, err := asked(t, s, cfg); err != nil || got != name {
			t.Errorf("%s: presented %q, %v; want %q", what, got, err, name)
		}
		if n := strings.Count(said.String(), "level=WARN"); n != warnings || strings.Contains(said.String(), "PRIVATE") {
			t.Errorf("%s: %d warnings, want %d:\n%s", what, n, warnings, said.String())
		}
	}
	wants("at first", "first", 0)
	put(t, c.CertFile, second.cert)
	wants("half renewed", "first", 1)
	put(t, c.KeyFile, second.key)
	wants("renewed", "second", 1)
	if err := os.Remove(c.CertFile); err != nil {
		t.Fatal(err)
	}
	wants("gone", "second", 2)
}

// A peer that offers TLS 1.1 at most is refused, with a section of its own and without.
func TestOldTLSIsRefused(t *testing.T) {
	s := newTLSServer(t, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	for _, section := range []configs.TLS{{}, {InsecureSkipVerify: true}, {ServerName: "example.com"}} {
		cfg, err := TLSOf("mqtt.tls", section, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := asked(t, s, cfg); err == nil || !strings.Contains(err.Error(), "protocol version") {
			t.Errorf("%+v: %v, want a refusal of the version", section, err)
		}
	}
}

// The authorities are those that the file holds at each call; one that is being written, or gone, leaves those before, told once.
func TestAuthoritiesAreReadAgain(t *testing.T) {
	first, second := newPair(t, "first"), newPair(t, "second")
	var said bytes.Buffer
	file := put(t, filepath.Join(t.TempDir(), "ca"), first.cert)
	if AuthoritiesOf("mqtt.tls", configs.TLS{ServerName: "x"}, nil) != nil {
		t.Error("a section without authorities has some")
	}
	now := AuthoritiesOf("mqtt.tls", configs.TLS{CAFile: file}, slog.New(slog.NewTextHandler(&said, nil)))
	parse := func(p pair) *x509.Certificate {
		block, _ := pem.Decode(p.cert)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		return cert
	}
	wants := func(what string, of pair, not pair, warnings int) {
		t.Helper()
		pool := now()
		if _, err := parse(of).Verify(x509.VerifyOptions{Roots: pool}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := parse(not).Verify(x509.VerifyOptions{Roots: pool}); err == nil {
			t.Errorf("%s: the other is trusted too", what)
		}
		if now() != pool {
			t.Errorf("%s: another pool, though nothing has changed", what)
		}
		if n := strings.Count(said.String(), "level=WARN"); n != warnings {
			t.Errorf("%s: %d warnings, want %d:\n%s", what, n, warnings, said.String())
		}
	}
	wants("at first", first, second, 0)
	put(t, file, second.cert[:20])
	wants("half written", first, second, 1)
	put(t, file, second.cert)
	wants("exchanged", second, first, 1)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wants("gone", second, first, 2)
}
