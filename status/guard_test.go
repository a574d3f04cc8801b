package status

import (
	"bytes"
	"context"
	"encoding/base64"
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
		{"gw-07:9273", lan, "gw-07:9273", 200},
		{"gw-07:9273", lan, "gw-07.plant.example:9273", 200},
		{"10.0.0.7:9273", lan, "10.0.0.7:9273", 200},
		{":9273", lan, "10.0.0.7:9273", 200},
		{":9273", lan, "[fd00::7]:9273", 200},
		{":9273", lan, "gw-07:9273", 200}, // no dot: nobody outside can own it
		{":9273", lan, "gw-07.local.:9273", 200},
		{":9273", lan, "evil.example:9273", 403},
		{":9273", lan, "10.0.0.7.evil.example", 403},
		{":9273", lan, "local.evil.example", 403},
		{":9273", lan, "", 403},
	} {
		w := get(Options{Listen: tt.listen, Source: answers(dayReport())}, tt.addr, "GET", "/status", "Host", tt.host)
		if w.Code != tt.want {
			t.Errorf("listening on %s, host %q: %d, want %d", tt.addr, tt.host, w.Code, tt.want)
		}
	}
}

// Where there is a token no foreign page has it, and the names by which a proxy or a scraper comes are not ours to know.
func TestHostWithToken(t *testing.T) {
	o := Options{Listen: ":9273", Token: func() (string, error) { return "x", nil }, Source: answers(dayReport())}
	if w := get(o, lan, "GET", "/status", "Host", "status.plant.example", "Authorization", "Bearer x"); w.Code != 200 {
		t.Errorf("%d, want 200", w.Code)
	}
}

// A page of another site cannot have its reader's browser ask here; a link to the page may be followed.
func TestCrossSite(t *testing.T) {
	for _, tt := range []struct {
		name, site, mode, dest, origin string
		want                           int
	}{
		{"a program", "", "", "", "", 200},
		{"typed in", "none", "navigate", "document", "", 200},
		{"our own script", "same-origin", "cors", "empty", "", 200},
		{"our own script, saying so", "same-origin", "cors", "empty", "http://127.0.0.1:9273", 200},
		{"a link from a dashboard", "cross-site", "navigate", "document", "", 200},
		{"a link from another port of this machine", "same-site", "navigate", "document", "", 200},
		{"a fetch from elsewhere", "cross-site", "cors", "empty", "https://evil.example", 403},
		{"a fetch that hides where from", "cross-site", "no-cors", "empty", "", 403},
		{"a picture", "cross-site", "no-cors", "image", "", 403},
		{"a script of another port", "same-site", "no-cors", "script", "", 403},
		{"a frame", "cross-site", "navigate", "iframe", "", 403},
		{"an older browser", "", "", "", "https://evil.example", 403},
		{"a sandboxed frame", "", "", "", "null", 403},
		{"another port of this host", "", "", "", "http://127.0.0.1:80", 403},
	} {
		var headers []string
		for name, value := range map[string]string{"Sec-Fetch-Site": tt.site, "Sec-Fetch-Mode": tt.mode, "Sec-Fetch-Dest": tt.dest, "Origin": tt.origin} {
			if value != "" {
				headers = append(headers, name, value)
			}
		}
		for _, path := range []string{"/", "/status", "/metrics"} {
			w := get(Options{Source: answers(dayReport())}, loopback, "GET", path, append(headers, "Host", "127.0.0.1:9273")...)
			if w.Code != tt.want {
				t.Errorf("%s: GET %s = %d, want %d", tt.name, path, w.Code, tt.want)
			}
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
		{"a browser's password", basic("admin", good), good, nil, 200},
		{"a browser's password without a name", basic("", good), good, nil, 200},
		{"a wrong password", basic("admin", "x"), good, nil, 401},
		{"as the user name", basic(good, ""), good, nil, 401},
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

// basic is what a browser sends for a name and a password.
func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
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
