package status

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var (
	loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9273}
	lan      = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 9273}
)

// get asks a server as one that listens on addr would be asked.
func get(o Options, addr net.Addr, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "localhost:9273"
	for i := 0; i+1 < len(header); i += 2 {
		if r.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	w := httptest.NewRecorder()
	New(o).handler(addr).ServeHTTP(w, r)
	return w
}

func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		method, target string
		source         Source
		code           int
		contentType    string
		body           string // contained
	}{
		{"GET", "/", answers(dayReport()), 200, "text/html; charset=utf-8", "the books balance"},
		{"GET", "/status", answers(dayReport()), 200, "application/json", `"received": 120056`},
		{"GET", "/metrics", answers(dayReport()), 200, "text/plain; version=0.0.4; charset=utf-8", "\nedgeagent_points_uploaded_total 4124\n"},
		{"GET", "/healthz", answers(dayReport()), 200, "text/plain; charset=utf-8", "ok\n"},
		{"HEAD", "/healthz", answers(dayReport()), 200, "text/plain; charset=utf-8", ""},
		{"GET", "/healthz", answers(troubleReport()), 503, "text/plain; charset=utf-8", "the store cannot be written: commit: no space left on device\n"},
		{"GET", "/healthz", fails(errAway), 503, "text/plain; charset=utf-8", "the agent does not answer: the loop is away\n"},
		{"GET", "/status", fails(errAway), 503, "text/plain; charset=utf-8", "the agent does not answer: the loop is away\n"},
		{"GET", "/metrics", fails(errAway), 503, "text/plain; charset=utf-8", "does not answer"},
		{"GET", "/", fails(errAway), 503, "text/plain; charset=utf-8", "does not answer"},
		{"GET", "/nothing", answers(dayReport()), 404, "text/plain; charset=utf-8", "not found"},
		{"GET", "/status/", answers(dayReport()), 404, "text/plain; charset=utf-8", "not found"},
		{"POST", "/status", answers(dayReport()), 405, "text/plain; charset=utf-8", "only reads"},
		{"DELETE", "/nothing", answers(dayReport()), 405, "text/plain; charset=utf-8", "only reads"},
		{"OPTIONS", "*", answers(dayReport()), 405, "text/plain; charset=utf-8", "only reads"},
	} {
		w := get(Options{Source: tt.source}, loopback, tt.method, tt.target)
		if w.Code != tt.code || w.Header().Get("Content-Type") != tt.contentType || !strings.Contains(w.Body.String(), tt.body) {
			t.Errorf("%s %s = %d, %s, %q, want %d, %s, %q", tt.method, tt.target, w.Code, w.Header().Get("Content-Type"), w.Body,
				tt.code, tt.contentType, tt.body)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s %s: headers = %v", tt.method, tt.target, w.Header())
		}
		if allow := w.Header().Get("Allow"); (allow == "GET, HEAD") != (tt.code == 405) {
			t.Errorf("%s %s: Allow = %q", tt.method, tt.target, allow)
		}
	}
}

// The keys are a contract with those who read /status.
func TestStatusKeys(t *testing.T) {
	var got map[string]json.RawMessage
	if err := json.Unmarshal(get(Options{Source: answers(dayReport())}, loopback, "GET", "/status").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, inner := range map[string]string{
		"gateway": "", "version": "", "uptime_s": "", "arrival_timed": "", "held": "", "ignored": "", "store_resets": "",
		"clock":     "now trusted",
		"mqtt":      "connected since broker unacked",
		"watermark": "value max_event_time behind_s",
		"windows":   "open finalized",
		"ledger":    "received windowed late duplicate retained rejected",
		"points":    "finalized updated late_reports late_readings health carried uploaded queued parked evicted superseded",
		"buffer":    "bytes max_bytes oldest",
		"uplink":    "state since last_success last_error retry_in_s",
		"lag":       "p50_s p95_s p99_s max_s",
	} {
		if _, ok := got[key]; !ok {
			t.Errorf("key %s is not there", key)
		}
		var object map[string]json.RawMessage
		if inner != "" && json.Unmarshal(got[key], &object) != nil {
			t.Errorf("%s is no object: %s", key, got[key])
		}
		for _, k := range strings.Fields(inner) {
			if _, ok := object[k]; !ok {
				t.Errorf("key %s.%s is not there", key, k)
			}
		}
	}
	var reasons struct {
		Ledger struct{ Rejected map[string]int64 }
	}
	if err := json.Unmarshal(get(Options{Source: answers(Report{})}, loopback, "GET", "/status").Body.Bytes(), &reasons); err != nil {
		t.Fatal(err)
	}
	if len(reasons.Ledger.Rejected) != 10 {
		t.Errorf("rejected = %v, want all ten reasons", reasons.Ledger.Rejected)
	}
}

func TestHostileText(t *testing.T) {
	for _, path := range []string{"/", "/status", "/metrics", "/healthz"} {
		body := get(Options{Source: answers(hostileReport())}, loopback, "GET", path).Body.String()
		if path == "/" && strings.Contains(body, "<script>alert") { // the others are plain text or JSON, and said to be
			t.Error("the page runs foreign text")
		}
		for _, bad := range []string{"\x1b", "\u202e", "\x00", "\r", "\xff"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s contains %q", path, bad)
			}
		}
		if len(body) > 40<<10 {
			t.Errorf("%s has %d bytes", path, len(body))
		}
	}
}

// A source that hangs costs five seconds, not a goroutine.
func TestSourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := func(ctx context.Context) (Report, error) {
			<-ctx.Done()
			return Report{}, ctx.Err()
		}
		start := time.Now()
		w := get(Options{Source: source}, loopback, "GET", "/healthz")
		if w.Code != 503 || time.Since(start) != 5*time.Second {
			t.Errorf("answer %d after %s, want 503 after 5 s", w.Code, time.Since(start))
		}
	})
}

// run starts a server on a free port and gives its URL; stop ends it and gives what Run returned.
func run(t *testing.T, o Options) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	urls := make(chan string, 1)
	o.Listen, o.Logger = "127.0.0.1:0", slog.New(urlHandler{slog.DiscardHandler, urls})
	done := make(chan error, 1)
	go func() { done <- New(o).Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	select {
	case url = <-urls:
	case err := <-done:
		t.Fatal(err)
	}
	return url, stop
}

// urlHandler picks the address from the line that tells it.
type urlHandler struct {
	slog.Handler
	urls chan<- string
}

func (h urlHandler) Enabled(context.Context, slog.Level) bool { return true }
func (h urlHandler) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "url" {
			h.urls <- a.Value.String()
		}
		return true
	})
	return nil
}

func TestRun(t *testing.T) {
	entered := make(chan struct{})
	var first sync.Once
	source := func(ctx context.Context) (Report, error) {
		first.Do(func() { // hangs until the agent stops
			close(entered)
			<-ctx.Done()
		})
		return dayReport(), ctx.Err()
	}
	url, stop := run(t, Options{Source: source})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	hung := make(chan int, 1)
	go func() { hung <- statusOf(client, url+"status") }()
	<-entered
	if code := statusOf(client, url+"nothing"); code != 404 {
		t.Errorf("while another request hangs: %d, want 404", code)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if code := <-hung; code != 503 {
		t.Errorf("request in flight at the stop got %d, want 503", code)
	}
	if _, err := client.Get(url); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the stop: %v", err)
	}
}

// statusOf is the code of an answer, 0 if there is none.
func statusOf(client *http.Client, url string) int {
	res, err := client.Get(url)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

func TestRunErrors(t *testing.T) {
	if err := New(Options{Source: answers(dayReport())}).Run(t.Context()); err != nil {
		t.Errorf("without an address Run = %v, want nil", err)
	}
	url, _ := run(t, Options{Source: answers(dayReport())})
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	for _, tt := range []struct {
		listen string
		is     error
		want   string
	}{
		{taken, syscall.EADDRINUSE, "http.listen: " + taken + " is in use by another program"},
		{"192.0.2.1:80", syscall.EADDRNOTAVAIL, "http.listen: 192.0.2.1:80 is no address of this machine now"},
		{"127.0.0.1", nil, "http.listen: listen on 127.0.0.1: "},
	} {
		err := New(Options{Listen: tt.listen, Source: answers(dayReport())}).Run(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("Run on %s = %v, want %s …", tt.listen, err, tt.want)
		}
	}
}
