package uplink

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"edgeagent/docs"
)

// newSecureCentral is a central with TLS and HTTP/2, and a pool with its certificate.
func newSecureCentral(t *testing.T) (*central, *x509.CertPool) {
	c := newCentral(t, nil)
	s := httptest.NewUnstartedServer(c)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	c.Server.Close()
	c.Server = s
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return c, pool
}

func TestTLS(t *testing.T) {
	c, pool := newSecureCentral(t)
	lines := windows("s", 0, 5)
	m := newMemory(t, lines...)
	cfg := testConfig(c.URL)
	cfg.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10}
	_, stop := start(t, cfg, m)
	m.drained()
	stop()
	check(t, c, m, lines, nil)
	if r := c.requests[0]; r.ProtoMajor != 2 || r.TLS.Version < tls.VersionTLS12 {
		t.Errorf("came by %s and TLS %x", r.Proto, r.TLS.Version)
	}
}

// secured starts a central with the certificate cert, which wants one of a client if clients is given.
func secured(t *testing.T, cert tls.Certificate, clients *x509.CertPool) *central {
	c := newCentral(t, nil)
	s := httptest.NewUnstartedServer(c)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	if clients != nil {
		s.TLS.ClientCAs, s.TLS.ClientAuth = clients, tls.RequireAndVerifyClientCert
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	c.Server.Close()
	c.Server = s
	return c
}

// Certificates that are not accepted are told in words that help, keep the lines, and deliver them once mended: here by
// the right trust, or by a clock that is set while the agent runs.
func TestCertificates(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	day := func(y int) time.Time { return time.Date(y, 5, 6, 7, 8, 9, 0, time.UTC) }
	valid := ca.issue("central", day(2020), day(2040))
	client := ca.issue("gateway", certFrom, certUntil)
	clock := func(at time.Time) func() time.Time { return func() time.Time { return at } }
	for _, c := range []struct {
		name    string
		server  tls.Certificate
		clients *x509.CertPool
		cfg     *tls.Config
		want    []string // parts of the cause; none is delivered
	}{
		{"own CA", valid, nil, &tls.Config{RootCAs: ca.pool(), Time: clock(day(2030))}, nil},
		{"unknown CA", valid, nil, &tls.Config{RootCAs: other.pool()}, []string{"unknown authority", "tls.ca_file"}},
		{"system's CAs", valid, nil, &tls.Config{}, []string{"tls.ca_file"}},
		{"other name", ca.issue("elsewhere", certFrom, certUntil), nil, &tls.Config{RootCAs: ca.pool(), ServerName: "central"},
			[]string{"elsewhere", "tls.server_name"}},
		{"expired", ca.issue("central", day(2019), day(2021)), nil, &tls.Config{RootCAs: ca.pool(), Time: clock(day(2030))},
			[]string{"has expired", "clock is wrong", "to 2021-05-06T07:08:09Z", "the clock says 2030-05-06T07:08:09Z"}},
		{"not yet valid", ca.issue("central", day(2035), day(2040)), nil, &tls.Config{RootCAs: ca.pool(), Time: clock(day(2030))},
			[]string{"is not valid yet", "clock is wrong", "from 2035-05-06T07:08:09Z"}},
		{"clock at 1970", valid, nil, &tls.Config{RootCAs: ca.pool(), Time: clock(time.Unix(40, 0))},
			[]string{"is not valid yet", "the clock says 1970-01-01T00:00:40Z"}},
		{"client certificate", valid, ca.pool(), &tls.Config{RootCAs: ca.pool(), Certificates: []tls.Certificate{client}}, nil},
		{"no client certificate", valid, ca.pool(), &tls.Config{RootCAs: ca.pool()}, []string{"asks for a client certificate", "tls.cert_file"}},
		{"client certificate of others", valid, ca.pool(), &tls.Config{RootCAs: ca.pool(), Certificates: []tls.Certificate{other.issue("x", certFrom, certUntil)}},
			[]string{"asks for a client certificate"}},
		{"TLS 1.1 at most", valid, nil, &tls.Config{RootCAs: ca.pool(), MaxVersion: tls.VersionTLS11}, []string{"tls"}},
	} {
		s := secured(t, c.server, c.clients)
		cfg := testConfig(s.URL)
		cfg.TLS = c.cfg
		p, err := newPoster(cfg)
		if err != nil {
			t.Fatal(err)
		}
		a := p.post(t.Context(), entriesFrom(1, 1))
		p.hangUp()
		if want := len(c.want) == 0; (a.outcome == settled) != want || (s.count() == 1) != want || !want && a.outcome != down {
			t.Errorf("%s: %v (%s), %d requests", c.name, a.outcome, a.reason, s.count())
		}
		for _, part := range c.want {
			if !strings.Contains(a.reason, part) {
				t.Errorf("%s: %q does not hold %q", c.name, a.reason, part)
			}
		}
	}
}

// The message that docs/uplink.md shows is what the agent says of such a certificate.
func TestCertificateOfDocuments(t *testing.T) {
	d, err := docs.Read("../docs/uplink.md")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	want := outsideValidity(newAuthority(t).issue("central", from, from.AddDate(1, 0, 0)).Leaf, time.Unix(40, 0))
	for _, b := range d.Blocks {
		if got := strings.Join(strings.Fields(b.Text), " "); strings.Contains(got, "certificate (CN=") {
			if got != want {
				t.Errorf("docs/uplink.md shows %q, the agent says %q", got, want)
			}
			return
		}
	}
	t.Error("docs/uplink.md shows no message about a certificate")
}

// A gateway without a clock chip starts in 1970: the lines wait, and go out when the clock is set, without a restart.
func TestClockIsSetLater(t *testing.T) {
	ca := newAuthority(t)
	s := secured(t, ca.issue("central", certFrom, certUntil), nil)
	var set atomic.Bool
	var log logBuffer
	cfg := testConfig(s.URL)
	cfg.Logger = log.logger()
	cfg.TLS = &tls.Config{RootCAs: ca.pool(), Time: func() time.Time {
		if set.Load() {
			return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		return time.Unix(40, 0)
	}}
	lines := windows("s", 0, 5)
	m := newMemory(t, lines...)
	_, stop := start(t, cfg, m)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(log.String(), "the clock says 1970-01-01T00:00:40Z") {
		<-tick.C
	}
	set.Store(true)
	m.drained()
	stop()
	check(t, s, m, lines, nil)
}

// Proxies come from the environment, which the process reads once: so the test runs in a process of its own.
func TestProxyFromEnvironment(t *testing.T) {
	if target := os.Getenv("UPLINK_TEST_TARGET"); target != "" {
		p, err := newPoster(testConfig(target))
		if err != nil {
			t.Fatal(err)
		}
		a := p.post(t.Context(), entriesFrom(1, 1))
		p.hangUp()
		_, cause := describe(a)
		fmt.Printf("outcome %d: %s\n", a.outcome, cause)
		return
	}
	var mu sync.Mutex
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		if r.Method == http.MethodConnect {
			w.WriteHeader(403)
			return
		}
		w.WriteHeader(204)
	}))
	defer proxy.Close()
	for _, c := range []struct{ target, env, outcome, request string }{
		{"http://central.invalid", "HTTP_PROXY=http://me:secret@" + proxy.Listener.Addr().String(), "outcome 0: 204", "POST central.invalid Basic bWU6c2VjcmV0"},
		{"https://central.invalid", "HTTPS_PROXY=" + proxy.URL, "outcome 7: the proxy does not connect: it answers 403 Forbidden", "CONNECT central.invalid:443 "},
		{"http://central.invalid", "NO_PROXY=.invalid", "outcome 7: the name central.invalid cannot be resolved", ""},
	} {
		mu.Lock()
		seen = nil
		mu.Unlock()
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxyFromEnvironment$")
		cmd.Env = append(os.Environ(), "HTTP_PROXY=", "http_proxy=", "HTTPS_PROXY=", "https_proxy=", "NO_PROXY=", "no_proxy=", "REQUEST_METHOD=",
			"UPLINK_TEST_TARGET="+c.target, c.env)
		if c.request == "" {
			cmd.Env = append(cmd.Env, "HTTP_PROXY="+proxy.URL)
		}
		out, err := cmd.CombinedOutput()
		mu.Lock()
		got := strings.Join(seen, ", ")
		mu.Unlock()
		if err != nil || !strings.Contains(string(out), c.outcome) || got != c.request || strings.Contains(string(out), "secret") {
			t.Errorf("%s with %s: %v, the proxy saw %q\n%s", c.target, c.env, err, got, out)
		}
	}
}

// A proxy that wants a password is for an operator, also when it stands before TLS; its own is not shown.
func TestProxyWantsPassword(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(407) }))
	defer proxy.Close()
	for _, target := range []string{"https://central.invalid", "http://central.invalid"} {
		p, err := newPoster(testConfig(target))
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(proxy.URL)
		u.User = url.UserPassword("me", "hidden")
		p.transport.(*http.Transport).Proxy = http.ProxyURL(u)
		a := p.post(t.Context(), entriesFrom(1, 1))
		p.hangUp()
		if state, cause := describe(a); state != StateBlocked || !strings.Contains(cause, "407") || strings.Contains(cause, "hidden") {
			t.Errorf("%s: %s: %s", target, state, cause)
		}
	}
}

func TestSecretsAreTakenOut(t *testing.T) {
	p := &poster{secret: "tok-1234"}
	got := p.clean(`invalid proxy address "http://me:hidden@proxy:3128": bad tok-1234`)
	if want := `invalid proxy address "http://***@proxy:3128": bad ***`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
