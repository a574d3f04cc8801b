package uplink

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// check compares what the server holds and what the outbox parked with what is wanted.
func check(t *testing.T, c *central, m *memory, held, parked []string) {
	t.Helper()
	if got := c.holds(); !reflect.DeepEqual(got, sorted(held)) {
		t.Errorf("the server holds %d lines, want %d\ngot  %.300q\nwant %.300q", len(got), len(held), got, sorted(held))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var got []string
	for l := range m.parked {
		got = append(got, l)
	}
	if slices.Sort(got); !slices.Equal(got, sorted(parked)) {
		t.Errorf("parked %q, want %q", got, parked)
	}
}

func TestDelivers(t *testing.T) {
	for _, compress := range []bool{false, true} {
		c := newCentral(t, nil)
		lines := windows("s", 0, 1000)
		m := newMemory(t, lines[:700]...)
		cfg := testConfig(c.URL)
		cfg.BatchPoints, cfg.Gzip = 99, compress
		u, _ := start(t, cfg, m)
		m.drained()
		m.add(lines[700:]...)
		m.drained()
		check(t, c, m, lines, nil)
		if got := strings.Join(c.bodies, ""); got != strings.Join(lines, "\n")+"\n" {
			t.Error("not oldest first, or not each once")
		}
		if s := u.Status(); s.LastSuccess.IsZero() || s.LastError != "" || s.State != "up" && s.State != "idle" {
			t.Errorf("status %+v", s)
		}
	}
}

// Trial D10, and what each API expects beside.
func TestRequestOfEachAPI(t *testing.T) {
	f := func(cfg Config, uri, auth string) {
		t.Helper()
		c := newCentral(t, nil)
		m := newMemory(t, windows("s", 0, 2)...)
		cfg.URL, cfg.UserAgent, cfg.RetryMin = c.URL+cfg.URL, "edgeagent/test", time.Millisecond
		_, stop := start(t, cfg, m)
		m.drained()
		stop()
		r := c.requests[0]
		if r.Method != "POST" || r.RequestURI != uri || r.Header.Get("Authorization") != auth || r.UserAgent() != "edgeagent/test" {
			t.Errorf("got  POST %s %q %q\nwant POST %s %q", r.RequestURI, r.Header.Get("Authorization"), r.UserAgent(), uri, auth)
		}
	}
	token := func() (string, error) { return "to-ken\n", nil }
	password := func() (string, error) { return "pa:ss", nil }
	f(Config{API: "v1", Database: "my db"}, "/write?db=my+db&precision=ns", "")
	f(Config{API: "v1", Database: "db", RetentionPolicy: "week", Username: "u", Password: password, Token: token, URL: "/influx/"},
		"/influx/write?db=db&precision=ns&rp=week", "Basic dTpwYTpzcw==")
	f(Config{API: "v1", Database: "db", Token: token}, "/write?db=db&precision=ns", "Token to-ken")
	f(Config{API: "v2", Org: "o", Bucket: "db/week", Token: token, URL: "/base"}, "/base/api/v2/write?bucket=db%2Fweek&org=o&precision=ns", "Token to-ken")
	f(Config{API: "v3", Database: "db", Token: token}, "/api/v3/write_lp?accept_partial=true&db=db&no_sync=false&precision=nanosecond", "Bearer to-ken")
}

func TestNewRefuses(t *testing.T) {
	f := func(cfg Config, part string) {
		t.Helper()
		_, err := New(cfg, newMemory(t))
		if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: got %v, want an error with %q", cfg, err, part)
		}
	}
	f(Config{URL: "http://user:secret@h", API: "v1", Database: "d"}, "credentials")
	f(Config{URL: "http://h?token=secret", API: "v1", Database: "d"}, "query")
	f(Config{URL: "http://user:secret@h:port", API: "v1", Database: "d"}, "cannot be read")
	f(Config{URL: "ftp://h", API: "v1", Database: "d"}, "http")
	f(Config{URL: "h:8086", API: "v1", Database: "d"}, "http")
	f(Config{URL: "http://h", API: "v4", Database: "d"}, `api: must be v1, v2 or v3 (got "v4")`)
	f(Config{URL: "http://h", API: "v1"}, "database: must be given")
	f(Config{URL: "http://h", API: "v2", Database: "d"}, "bucket: must be given")
	f(Config{URL: "http://h", API: "v1", Database: "d", BatchPoints: -1}, "batch")
	f(Config{URL: "http://h", API: "v1", Database: "d", RetryMin: time.Hour}, "retry")
}

// Trial D6: the body is stored, the answer is lost. What is sent again is the same, byte by byte.
func TestAnswerLost(t *testing.T) {
	c := newCentral(t, func(n int, _ []string) reply { return reply{status: 204, store: true, drop: n <= 5} })
	lines := windows("s", 0, 50)
	m := newMemory(t, lines...)
	_, stop := start(t, testConfig(c.URL), m)
	m.drained()
	stop()
	check(t, c, m, lines, nil)
	if len(c.bodies) != 6 {
		t.Errorf("%d requests, want 6", len(c.bodies))
	}
	for _, b := range c.bodies {
		if b != c.bodies[0] {
			t.Errorf("a resend differs:\n%s\n%s", b, c.bodies[0])
		}
	}
}

// Trial D8: nothing but InfluxDB's answer counts as stored.
func TestPortal(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer elsewhere.Close()
	f := func(r reply) {
		t.Helper()
		c := newCentral(t, func(n int, _ []string) reply {
			if n <= 5 {
				return r
			}
			return stored
		})
		lines := windows("s", 0, 5)
		m := newMemory(t, lines...)
		var log logBuffer
		cfg := testConfig(c.URL)
		cfg.Logger = log.logger()
		_, stop := start(t, cfg, m)
		m.drained()
		stop()
		check(t, c, m, lines, nil)
		if c.count() != 6 || strings.Count(log.String(), "a portal or proxy is suspected") != 1 {
			t.Errorf("%+v: %d requests, log:\n%s", r, c.count(), log.String())
		}
	}
	f(reply{status: 200, body: "<html>Welcome, please sign in</html>"})
	f(reply{status: 200})
	f(reply{status: 302, header: map[string]string{"Location": elsewhere.URL}})
	f(reply{status: 307, header: map[string]string{"Location": elsewhere.URL}})
	f(reply{status: 201, header: influxHeader})
	f(reply{status: 400, body: "<html>Bad Request</html>"})
	f(reply{status: 422, body: "no"})
}

// Trial C5: an operator can mend these, so nothing is lost and the log says what to do, without the token.
func TestDenied(t *testing.T) {
	c := newCentral(t, func(n int, _ []string) reply {
		if n <= 30 {
			return jsonReply([]int{401, 403, 404}[n%3], "token tok-1234 is not good enough")
		}
		return stored
	})
	lines := windows("s", 0, 5)
	m := newMemory(t, lines...)
	var log logBuffer
	cfg := testConfig(c.URL)
	cfg.API, cfg.Bucket, cfg.Logger = "v2", "cellar", log.logger()
	cfg.Token = func() (string, error) { return "tok-1234", nil }
	u, stop := start(t, cfg, m)
	for range 10 {
		<-c.got
	}
	if s := u.Status(); s.State != "blocked" || !strings.Contains(s.LastError, "check the token") || strings.Contains(s.LastError, "tok-1234") {
		t.Errorf("status %+v", s)
	}
	m.drained()
	stop()
	check(t, c, m, lines, nil)
	text := log.String()
	if strings.Contains(text, "tok-1234") || !strings.Contains(text, "403 Forbidden") || !strings.Contains(text, "cellar") {
		t.Errorf("log:\n%s", text)
	}
	if n := strings.Count(text, "\n"); n != 2 || !strings.Contains(text, "uplink up again") {
		t.Errorf("%d lines of log, want 2:\n%s", n, text)
	}
}

// What is on the way and cannot do gzip is told so, and nothing is lost.
func TestGzipRefused(t *testing.T) {
	for _, r := range []reply{{status: 415, body: "Unsupported Media Type"}, jsonReply(400, "gzip: invalid header")} {
		var plain atomic.Bool
		c := newCentral(t, func(int, []string) reply {
			if plain.Load() {
				return stored
			}
			return r
		})
		lines := windows("s", 0, 5)
		m := newMemory(t, lines...)
		var log logBuffer
		cfg := testConfig(c.URL)
		cfg.Gzip, cfg.Logger = true, log.logger()
		u, stop := start(t, cfg, m)
		for log.String() == "" {
			<-c.got
		}
		if s := u.Status(); s.State != "blocked" || !strings.Contains(s.LastError, "gzip") {
			t.Errorf("%d: status %+v", r.status, s)
		}
		plain.Store(true)
		m.drained()
		stop()
		check(t, c, m, lines, nil)
	}
}

// A token that changes is used for the next request, and ends the wait when the server refused the one before.
func TestTokenIsReadAgain(t *testing.T) {
	var mu sync.Mutex
	token, failure := "", fmt.Errorf("open token: no such file")
	var c *central
	c = newCentral(t, func(n int, _ []string) reply {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.requests[n-1].Header.Get("Authorization") == "Token good" {
			return stored
		}
		return jsonReply(401, "unauthorized")
	})
	m := newMemory(t, windows("s", 0, 5)...)
	cfg := testConfig(c.URL)
	cfg.RetryMax = time.Hour
	cfg.Token = func() (string, error) { mu.Lock(); defer mu.Unlock(); return token, failure }
	u, _ := start(t, cfg, m)
	set := func(text string, err error) {
		mu.Lock()
		token, failure = text, err
		mu.Unlock()
		u.Reload()
	}
	set("bad", nil)
	<-c.got
	set("good", nil)
	m.drained()
}
