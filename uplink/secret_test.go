package uplink

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Whatever a server or a proxy echoes, and whatever fails: no secret is in the log, the status or the reason of a parked
// point, not even a piece of one that was cut.
func TestSecretsAreNowhere(t *testing.T) {
	const token, password, proxyPassword = "tok-0123456789abcdef==", "pa ss:word&123", "proxy-secret-77"
	basic := base64.StdEncoding.EncodeToString([]byte("me:" + password))
	echoes := [][]string{
		{token, "Token " + token, url.QueryEscape(token), strings.Repeat("x", maxReason-7) + token},
		{password, basic, "Basic " + basic, "http://me:" + password + "@central", strings.Repeat("x", maxReason-4) + password},
	}
	pieces := []string{token[:7], password[:5], "word&123", basic[:8], "proxy-sec"}
	told := func(name, text string) {
		t.Helper()
		for _, piece := range pieces {
			if i := strings.Index(text, piece); i >= 0 {
				t.Errorf("%s: %q is told: …%s", name, piece, text[max(0, i-100):min(len(text), i+60)])
			}
		}
	}
	configs := []Config{
		{API: "v2", Bucket: "b", Token: func() (string, error) { return token, nil }},
		{API: "v1", Database: "d", Username: "me", Password: func() (string, error) { return password, nil }},
	}
	for k, cfg := range configs {
		for _, status := range []int{200, 302, 400, 401, 407, 413, 418, 422, 429, 500, 503} {
			for i, echo := range echoes[k] {
				body := fmt.Sprintf(`{"error":%q}`, echo)
				if i%2 == 1 {
					body = "you sent " + echo
				}
				c := newCentral(t, func(_ int, lines []string) reply {
					if status == 400 && !hasSensor(lines, "bad") {
						return stored
					}
					header := map[string]string{"Location": "http://x/" + echo}
					if status == 400 {
						header = influxHeader
					}
					return reply{status: status, body: body, header: header}
				})
				m := newMemory(t, mixedLines()...)
				var log logBuffer
				cfg.URL, cfg.Logger, cfg.RetryMin, cfg.RetryMax = c.URL, log.logger(), time.Millisecond, time.Millisecond
				u, stop := start(t, cfg, m)
				for log.String() == "" {
					<-c.got
				}
				if status == 400 {
					m.drained()
				}
				state := fmt.Sprintf("%+v", u.Status())
				stop()
				c.Close()
				told(fmt.Sprint(status, " ", echo), log.String()+state+fmt.Sprint(m.parked))
			}
		}
	}
}

func mixedLines() []string {
	all, _, _ := mixed(40, 3, 20, 39)
	return all
}

// The credentials of a proxy are not shown when it cannot be reached or refuses.
func TestProxySecrets(t *testing.T) {
	var status atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, r.Header.Get("Proxy-Authorization"))
	}))
	defer proxy.Close()
	hidden := base64.StdEncoding.EncodeToString([]byte("me:proxy-secret-77"))
	for _, host := range []string{strings.TrimPrefix(proxy.URL, "http://"), freeAddr(t), "proxy.invalid:3128"} {
		for _, target := range []string{"http://central.invalid", "https://central.invalid"} {
			for _, s := range []int64{200, 403, 407, 502} {
				status.Store(s)
				p, err := newPoster(testConfig(target))
				if err != nil {
					t.Fatal(err)
				}
				u, _ := url.Parse("http://me:proxy-secret-77@" + host)
				p.transport.(*http.Transport).Proxy = http.ProxyURL(u)
				a := p.post(t.Context(), entriesFrom(1, 1))
				p.hangUp()
				if _, cause := describe(a); strings.Contains(cause, "proxy-secret") || strings.Contains(cause, hidden) || cause == "" || a.outcome == settled {
					t.Errorf("%s by %s: %v %s", target, host, a.outcome, cause)
				}
			}
		}
	}
}

// A token that cannot stand in a header is not shown either.
func TestTokenThatIsNoToken(t *testing.T) {
	cfg := testConfig("http://central.invalid")
	cfg.Token = func() (string, error) { return "first-line\nsecond-line", nil }
	p, err := newPoster(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := p.post(t.Context(), entriesFrom(1, 1))
	if a.outcome != denied || strings.Contains(a.reason, "-line") || !strings.Contains(a.reason, "token") {
		t.Errorf("got %v, %s", a.outcome, a.reason)
	}
}

// Who skips the check of certificates is told so at every start.
func TestInsecureIsTold(t *testing.T) {
	c, _ := newSecureCentral(t)
	for range 2 {
		m := newMemory(t, windows("s", 0, 1)...)
		var log logBuffer
		cfg := testConfig(c.URL)
		cfg.TLS, cfg.Logger = &tls.Config{InsecureSkipVerify: true}, log.logger()
		_, stop := start(t, cfg, m)
		m.drained()
		stop()
		if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "insecure_skip_verify") {
			t.Errorf("log:\n%s", log.String())
		}
	}
}

// A secret is taken out in every form in which a server may send it back.
func TestHiddenForms(t *testing.T) {
	for _, secret := range []string{"S3cr3t-tok/en+x=ABCDEFG==", `p@ss w0rd/é+"z`, "1234"} {
		p := &poster{secret: secret}
		sum := base64.StdEncoding.EncodeToString([]byte(secret))
		for _, form := range []string{
			secret, strings.ToUpper(secret), strings.ToLower(secret), url.QueryEscape(secret), url.PathEscape(secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret),
			strings.ReplaceAll(secret, `"`, `\"`), sum, base64.URLEncoding.EncodeToString([]byte("Token " + secret)), base64.RawStdEncoding.EncodeToString([]byte("user:" + secret)),
		} {
			if got, want := p.clean("you sent <"+form+"> here"), "you sent <***> here"; got != want {
				t.Errorf("%s: got %q, want %q", secret, got, want)
			}
		}
		const plain = "database not found: edge, dropped=1446, partial write: 0123456789abcdef"
		if got := p.clean(plain); secret != "1234" && got != plain {
			t.Errorf("%s: got %q, want it as it was", secret, got)
		}
	}
	if got := (&poster{secret: "abc"}).clean("abcdef"); got != "abcdef" {
		t.Errorf("a secret of three letters: got %q", got)
	}
}
