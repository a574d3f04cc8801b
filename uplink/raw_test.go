package uplink

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A raw server reads one request from each connection and lets a function answer with bytes of any kind. It ends with
// the test; a connection ends when its function returns.
func rawServer(t *testing.T, respond func(net.Conn)) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				respond(c)
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return "http://" + l.Addr().String()
}

// ask posts one line to url and gives the answer.
func ask(t *testing.T, url string, timeout time.Duration) answer {
	t.Helper()
	cfg := testConfig(url)
	cfg.Timeout = timeout
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPoster(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.hangUp()
	return p.post(t.Context(), entriesFrom(1, 1))
}

// Trial D8 on the wire: whatever stands between, only the answer of an InfluxDB counts, whole and without contradiction.
func TestRawAnswers(t *testing.T) {
	const influx = "X-Influxdb-Version: 1.8.10\r\n"
	for _, c := range []struct {
		raw  string
		want outcome
	}{
		{"HTTP/1.1 204 No Content\r\n\r\n", settled},
		{"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", settled},
		{"HTTP/1.1 204 No Content\r\nContent-Type: application/json\r\n" + influx + "\r\n", settled},
		{"HTTP/1.0 204 No Content\r\n\r\n", settled},
		{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", settled},
		{"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", settled},
		{"HTTP/1.1 204 Stored\r\nTransfer-Encoding: chunked\r\n\r\n", settled},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + influx + "\r\n{}", settled},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Influxdb-Build: OSS\r\n\r\n", settled},

		// A 204 that carries a page is no InfluxDB's.
		{"HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n\r\n<html>sign in</html>", portal},
		{"HTTP/1.1 204 No Content\r\nContent-Length: 20\r\n\r\n<html>sign in</html>", portal},
		{"HTTP/1.1 204 No Content\r\nLocation: http://portal/\r\n\r\n", portal},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", portal},
		{"HTTP/1.0 200 OK\r\n\r\n", portal},
		{"HTTP/1.0 200 OK\r\n\r\n<html>", portal},
		{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"error\":\"x\"}", portal},
		{"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n" + influx + "\r\n{\"error\":\"x\"}", portal},
		{"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n" + influx + "\r\n{\"code\":\"invalid\",\"message\":\"unable to\"}", portal},
		{"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n" + influx + "\r\n{\"results\":[{\"error\":\"not found: none\"}]}", portal},
		{"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n" + influx + "\r\n<html>", portal},
		{"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n" + influx + "\r\n{\"ok\":", portal},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + influx + "\r\n5\r\n{\"a\":", portal},
		{"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n" + influx + "\r\n", portal},
		{"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n" + influx + "\r\n", portal},
		{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello", portal},
		{"HTTP/1.1 304 Not Modified\r\n\r\n", portal},
		{"HTTP/1.1 308 Permanent Redirect\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", portal},
		{"HTTP/1.1 302 Found\r\nLocation: %zz://\r\nContent-Length: 0\r\n\r\n", portal},
		{"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", portal},

		// Refusals, whole or cut.
		{"HTTP/1.1 400 Bad Request\r\nContent-Length: 500\r\n\r\n{\"error\":\"partial write: x", refused},
		{"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\n{\"error\":\"partial write: x\r\n", refused},
		{"HTTP/1.1 400 Bad Request\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nxxxx", portal},
		{"HTTP/1.1 400 Bad Request\r\n\r\n", portal},
		{"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\nContent-Length: 24\r\n\r\n<html>{\"error\":\"x\"}</html>", portal},
		{"HTTP/1.1 422 Unprocessable Entity\r\nContent-Length: 6\r\n\r\n<html>", portal},

		// What only an operator can mend.
		{"HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\n\r\n", blocked},
		{"HTTP/1.1 415 Unsupported Media Type\r\nContent-Length: 0\r\n\r\n", blocked},
		{"HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n", blocked},
		{"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n\r\n", blocked},
		{"HTTP/1.1 451 Unavailable\r\nContent-Length: 0\r\n\r\n", blocked},
		{"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>", denied},

		// An ill server, or something ill before it.
		{"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/html\r\n\r\n<html>our data retention policy</html>", down},
		{"HTTP/1.1 500 Internal Server Error\r\n\r\n<!DOCTYPE html><p>retention of visitors", down},
		{"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n\r\n<html>points beyond retention policy</html>", down},
		{"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n\r\n<html>", busy},
		{"HTTP/1.1 599 Odd\r\n\r\n", down},
		{"", down},
		{"HTTP/1.1 204", down},
		{"HTTP/1.1 204 No Content\r\nX-Influx", down},
		{"HTTP/2.0 204 No Content\r\n\r\n", settled},
		{"204 No Content\r\n\r\n", down},
		{"SSH-2.0-OpenSSH_9.6\r\n", down},
		{"\x15\x03\x01\x00\x02\x02\x16", down},
		{"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", down},
		{"HTTP/1.1 100 Continue\r\n\r\n", down},
		{"HTTP/1.1 204 No Content\r\n" + strings.Repeat("X-Pad: "+strings.Repeat("p", 1000)+"\r\n", 400), down},
	} {
		url := rawServer(t, func(w net.Conn) { _, _ = io.WriteString(w, c.raw) })
		if a := ask(t, url, 5*time.Second); a.outcome != c.want {
			t.Errorf("%.120q\ngot %v (%s), want %v", c.raw, a.outcome, a.reason, c.want)
		}
	}
}

// An answer that does not end is given up after the timeout, whatever of it has come, and so is one that drips.
func TestAnswersThatDoNotEnd(t *testing.T) {
	for _, c := range []struct {
		raw  string // sent at once
		drip string // sent again and again after it
		want outcome
	}{
		{"", "", down},
		{"HTTP/1.1 204 No Content\r\n", "X-Pad: p\r\n", down},
		{"", "HTTP/1.1 100 Continue\r\n\r\n", down},
		{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "x", portal},
		{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "", portal},
		{"HTTP/1.1 200 OK\r\nX-Influxdb-Version: 1\r\nContent-Length: 1000000\r\n\r\n{", " ", portal},
		{"HTTP/1.1 200 OK\r\n\r\n", "<p>", portal},
		{"HTTP/1.1 400 Bad Request\r\nContent-Length: 1000\r\n\r\n{\"error\":\"x\"", " ", refused},
		{"HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", portal},
		{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 1000\r\n\r\n", "", busy},
	} {
		stop := make(chan struct{})
		url := rawServer(t, func(w net.Conn) {
			_, _ = io.WriteString(w, c.raw)
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				if _, err := io.WriteString(w, c.drip); err != nil {
					return
				}
			}
		})
		began := time.Now()
		a := ask(t, url, 200*time.Millisecond)
		if took := time.Since(began); a.outcome != c.want || took > 3*time.Second {
			t.Errorf("%.60q, %q: got %v (%s) after %v, want %v", c.raw, c.drip, a.outcome, a.reason, took, c.want)
		}
		close(stop)
	}
}

// A 204 that comes before the lines have been sent is of somebody who cannot have stored them.
func TestAnswerBeforeTheLines(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	seen := make(chan struct{})
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 1))
		_, _ = io.WriteString(c, "HTTP/1.1 204 No Content\r\nX-Influxdb-Version: 1.8.10\r\n\r\n")
		<-seen
	}()
	defer close(seen)
	cfg := testConfig("http://" + l.Addr().String())
	cfg, err = cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPoster(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.hangUp()
	line := Entry{Seq: 1, Line: []byte("m v=\"" + strings.Repeat("x", 32<<20) + "\" 1")} // more than any socket holds
	if a := p.post(t.Context(), []Entry{line}); a.outcome != portal || a.reason != "it answered before it had read the lines" {
		t.Errorf("got %v (%s), want %v", a.outcome, a.reason, portal)
	}
}
