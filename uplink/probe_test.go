package uplink

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

func as(text string) func() (string, error) { return func() (string, error) { return text, nil } }

// A real server tells who may write, and has stored nothing afterwards.
func TestTryRealServer(t *testing.T) {
	s := testbed.StartGuardedInfluxd(t)
	for _, c := range []struct {
		name  string
		cfg   Config
		want  Verdict
		cause string
	}{
		{"may write", Config{API: "v1", Database: "edge", Username: "w", Password: as("write-secret")}, Accepted, ""},
		{"compressed", Config{API: "v1", Database: "edge", Username: "w", Password: as("write-secret"), Gzip: true}, Accepted, ""},
		{"v2 on v1", Config{API: "v2", Bucket: "edge/autogen", Token: as("w:write-secret"), Gzip: true}, Accepted, ""},
		{"wrong password", Config{API: "v1", Database: "edge", Username: "w", Password: as("wrong-secret")}, Denied, "401 Unauthorized: authorization failed"},
		{"nobody", Config{API: "v1", Database: "edge"}, Denied, "401 Unauthorized: unable to parse authentication credentials"},
		{"may only read", Config{API: "v1", Database: "edge", Username: "r", Password: as("read-secret")}, Denied, `403 Forbidden: "r" user is not authorized to write to database "edge"`},
		{"no database", Config{API: "v1", Database: "none", Username: "w", Password: as("write-secret")}, Missing, `404 Not Found: database not found: "none"`},
		{"no policy", Config{API: "v1", Database: "edge", RetentionPolicy: "none", Username: "w", Password: as("write-secret")}, Missing, "500 Internal Server Error: retention policy not found: none"},
		{"no such api", Config{API: "v3", Database: "d", Token: as("w:write")}, Missing, "404 Not Found"},
	} {
		c.cfg.URL = s.URL()
		got, err := Try(t.Context(), c.cfg)
		if err != nil || got.Verdict != c.want || !strings.HasPrefix(got.Cause, c.cause) || strings.Contains(got.Cause, "secret") {
			t.Errorf("%s: %+v, %v; want %s, %q", c.name, got, err, c.want, c.cause)
		}
		if off := time.Since(got.Date); off < -time.Second || off > 5*time.Second || got.Version == "" {
			t.Errorf("%s: date %v, version %q", c.name, got.Date, got.Version)
		}
	}
	for _, q := range []string{"SHOW MEASUREMENTS", "SHOW SERIES", "SHOW SHARD GROUPS"} {
		if answer, err := s.QueryAs(testbed.Admin, testbed.AdminPassword, q); err != nil || strings.Contains(answer, "values") {
			t.Errorf("%s after probes: %s, %v", q, answer, err)
		}
	}
	if answer, err := s.QueryAs(testbed.Admin, testbed.AdminPassword, "SHOW DATABASES"); err != nil || strings.Contains(answer, "none") {
		t.Errorf("a probe has made a database: %s, %v", answer, err)
	}
}

// What servers that are not here answer, and what is between.
func TestTryAtTheWire(t *testing.T) {
	influx := map[string]string{"X-Influxdb-Version": "v2.7"}
	for _, c := range []struct {
		name, api string
		reply     reply
		want      Verdict
	}{
		{"v2", "v2", reply{status: 204, header: influx}, Accepted},
		{"v2 before 2.0.9", "v2", reply{status: 400, body: `{"code":"invalid","message":"writing requires points"}`}, Accepted},
		{"v2, another 400", "v2", reply{status: 400, body: `{"code":"invalid","message":"org is missing"}`}, Ill},
		{"v2, no bucket", "v2", reply{status: 404, body: `{"code":"not found","message":"bucket \"b\" not found"}`}, Missing},
		{"v2, token", "v2", reply{status: 401, body: `{"code":"unauthorized","message":"unauthorized access"}`}, Denied},
		{"v2, read token", "v2", reply{status: 403, body: `{"code":"forbidden","message":"insufficient permissions for write"}`}, Denied},
		{"v3", "v3", reply{status: 400, body: "serde error: unknown variant `probe`, expected one of `auto`, `second`"}, Accepted},
		{"v3, token", "v3", reply{status: 401, body: `{"error": "the request was not authenticated"}`}, Denied},
		{"v3, a page", "v3", reply{status: 400, header: map[string]string{"Content-Type": "text/html"}, body: "<html>precision</html>"}, Stranger},
		{"v3, that takes it", "v3", reply{status: 204, header: influx}, Ill},
		{"portal, 200", "v1", reply{status: 200, header: map[string]string{"Content-Type": "text/html"}, body: "<html>sign in</html>"}, Stranger},
		{"portal, empty 200", "v1", reply{status: 200}, Stranger},
		{"portal, redirect", "v1", reply{status: 302, header: map[string]string{"Location": "http://portal/"}}, Stranger},
		{"portal, 403", "v1", reply{status: 403, header: map[string]string{"Content-Type": "text/html"}, body: "<html>no</html>"}, Stranger},
		{"portal, 404", "v1", reply{status: 404, body: "<html>not here</html>"}, Stranger},
		{"busy", "v1", reply{status: 503, header: map[string]string{"Retry-After": "7"}}, Busy},
		{"ill", "v1", reply{status: 500, header: influx, body: `{"error":"engine is closed"}`}, Ill},
		{"gone", "v1", reply{drop: true}, Unreachable},
	} {
		s := newCentral(t, func(int, []string) reply { return c.reply })
		got, err := Try(t.Context(), Config{URL: s.URL, API: c.api, Org: "o", Bucket: "b", Database: "d", Token: as("my-secret-token")})
		if err != nil || got.Verdict != c.want || (got.Cause == "") != (c.want == Accepted) {
			t.Errorf("%s: %+v, %v; want %s", c.name, got, err, c.want)
		}
		s.Close() // and with it all that the handler writes
		if len(s.bodies) != 1 || s.bodies[0] != "" || s.requests[0].Method != http.MethodPost {
			t.Errorf("%s: sent %q", c.name, s.bodies)
		}
		if p := s.requests[0].URL.Query().Get("precision"); (p == "probe") != (c.api == "v3") {
			t.Errorf("%s: precision %s", c.name, p)
		}
	}
}

func TestTryCertificates(t *testing.T) {
	ca := newAuthority(t)
	expired := ca.issue("central", time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		cert tls.Certificate
		cfg  *tls.Config
		want Verdict
		says string
	}{
		{ca.issue("central", certFrom, certUntil), &tls.Config{RootCAs: ca.pool()}, Accepted, ""},
		{ca.issue("central", certFrom, certUntil), nil, Unreachable, "name its CA in tls.ca_file"},
		{expired, &tls.Config{RootCAs: ca.pool()}, Unreachable, "has expired, or this gateway's clock is wrong"},
	} {
		s := secured(t, c.cert, nil)
		s.answer = func(int, []string) reply { return reply{status: 204} }
		got, err := Try(t.Context(), Config{URL: s.URL, API: "v1", Database: "d", TLS: c.cfg})
		if err != nil || got.Verdict != c.want || !strings.Contains(got.Cause, c.says) {
			t.Errorf("%+v, %v; want %s, %q", got, err, c.want, c.says)
		}
		if c.want == Accepted && (len(got.Chain) == 0 || !got.Chain[0].NotAfter.Equal(certUntil)) {
			t.Errorf("chain %v", got.Chain)
		}
	}
}

func TestTrySecrets(t *testing.T) {
	s := newCentral(t, nil)
	missing := filepath.Join(t.TempDir(), "token")
	for _, token := range []func() (string, error){
		as("two\nlines"),
		func() (string, error) { _, err := os.ReadFile(missing); return "", err },
	} {
		got, err := Try(t.Context(), Config{URL: s.URL, API: "v2", Bucket: "b", Token: token})
		if err != nil || got.Verdict != Denied || got.Status != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if len(s.requests) != 0 {
		t.Error("asked without a credential")
	}
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	got, err := Try(t.Context(), Config{URL: slow.URL, API: "v1", Database: "d", Timeout: 50 * time.Millisecond})
	if err != nil || got.Verdict != Unreachable {
		t.Errorf("a server that hangs: %+v, %v", got, err)
	}
	if _, err := Try(t.Context(), Config{URL: "ftp://h", API: "v1", Database: "d"}); err == nil {
		t.Error("an address that is none")
	}
}
