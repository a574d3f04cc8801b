package status

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	for _, tt := range []struct {
		listen string
		addr   net.Addr
		host   string
		want   int
	}{
		{"127.0.0.1:9273", loopback, "127.0.0.1:9273", 200},
		{"127.0.0.1:9273", loopback, "127.0.0.1", 200},
		{"127.0.0.1:9273", loopback, "127.9.9.9:80", 200},
		{"127.0.0.1:9273", loopback, "localhost:8080", 200}, // a forwarded port
		{"127.0.0.1:9273", loopback, "LocalHost.", 200},
		{"127.0.0.1:9273", loopback, "[::1]:9273", 200},
		{"127.0.0.1:9273", loopback, "[::1]", 200},
		{"127.0.0.1:9273", loopback, "evil.example:9273", 403},
		{"127.0.0.1:9273", loopback, "127.0.0.1.evil.example", 403},
		{"127.0.0.1:9273", loopback, "localhost.evil.example", 403},
		{"127.0.0.1:9273", loopback, "10.0.0.7:9273", 403},
		{"127.0.0.1:9273", loopback, "0.0.0.0:9273", 403},
		{"127.0.0.1:9273", loopback, "", 403},
		{"gw-07:9273", loopback, "gw-07:9273", 200}, // a name that /etc/hosts gives to 127.0.1.1
		{"gw-07:9273", loopback, "gw-08:9273", 403},
		{"[::1]:9273", &net.TCPAddr{IP: net.IPv6loopback}, "evil.example", 403},
		{":9273", lan, "gw-07.example:9273", 200}, // guarded by its token
	} {
		w := get(Options{Listen: tt.listen, Source: answers(dayReport())}, tt.addr, "GET", "/status", "Host", tt.host)
		if w.Code != tt.want {
			t.Errorf("listening on %s, host %q: %d, want %d", tt.addr, tt.host, w.Code, tt.want)
		}
	}
}

func TestToken(t *testing.T) {
	const good = "s3cret"
	for _, tt := range []struct {
		name, header, token string
		err                 error
		want                int
	}{
		{"right", "Bearer " + good, good, nil, 200},
		{"scheme in small letters", "bearer " + good, good, nil, 200},
		{"none", "", good, nil, 401},
		{"wrong", "Bearer s3creT", good, nil, 401},
		{"prefix", "Bearer s3cre", good, nil, 401},
		{"longer", "Bearer s3cret2", good, nil, 401},
		{"no scheme", good, good, nil, 401},
		{"other scheme", "Token " + good, good, nil, 401},
		{"unreadable", "Bearer ", "", errAway, 503},
		{"empty file", "Bearer ", "", nil, 503},
	} {
		token := func() (string, error) { return tt.token, tt.err }
		for _, path := range []string{"/", "/status", "/metrics", "/healthz", "/nothing"} {
			w := get(Options{Token: token, Source: answers(dayReport())}, lan, "GET", path, "Authorization", tt.header)
			want := tt.want
			if want == 200 && path == "/nothing" {
				want = 404
			}
			if w.Code != want {
				t.Errorf("%s: GET %s = %d, want %d", tt.name, path, w.Code, want)
			}
			if strings.Contains(w.Body.String(), good) || strings.Contains(w.Body.String(), errAway.Error()) {
				t.Errorf("%s: GET %s tells %q", tt.name, path, w.Body)
			}
			if challenge := w.Header().Get("WWW-Authenticate"); (challenge != "") != (w.Code == 401) {
				t.Errorf("%s: WWW-Authenticate = %q", tt.name, challenge)
			}
		}
	}
}

// A token file that is away for a while is logged when it goes and when it comes, however many ask meanwhile.
func TestTokenLogged(t *testing.T) {
	var log bytes.Buffer
	err := error(nil)
	o := Options{Token: func() (string, error) { return "x", err }, Source: answers(dayReport()), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	h := New(o).handler(lan)
	for _, err = range []error{nil, errAway, errAway, errAway, nil, nil} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/status", nil))
	}
	if n := strings.Count(log.String(), "\n"); n != 2 || strings.Count(log.String(), "the loop is away") != 1 {
		t.Errorf("log of %d lines:\n%s", n, log.String())
	}
}

func TestPanic(t *testing.T) {
	var log bytes.Buffer
	source := func(context.Context) (Report, error) { panic("oh\nno") }
	w := get(Options{Source: source, Logger: slog.New(slog.NewTextHandler(&log, nil))}, loopback, "GET", "/status")
	if w.Code != 500 || w.Body.String() != "BUG: oh\\nno\n" || !strings.Contains(log.String(), "BUG: panic while answering") {
		t.Errorf("answer %d %q, log %q", w.Code, w.Body, log.String())
	}
}
