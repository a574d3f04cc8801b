package status

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A stream reads server-sent events.
type stream struct {
	body io.ReadCloser
	in   *bufio.Reader
}

// next is the next event: its kind, "" if it has none, and its data.
func (s stream) next() (kind, data string, err error) {
	for {
		line, err := s.in.ReadString('\n')
		switch line = strings.TrimSuffix(line, "\n"); {
		case err != nil:
			return "", "", err
		case line == "":
			return kind, data, nil
		case strings.HasPrefix(line, "event: "):
			kind = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):]
		}
	}
}

// parts reads an event as the parts of the page that have changed.
func (s stream) parts(t *testing.T) map[string]string {
	t.Helper()
	_, data, err := s.next()
	if err != nil {
		t.Fatal(err)
	}
	parts := make(map[string]string)
	if err := json.Unmarshal([]byte(data), &parts); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	return parts
}

// A pipes is a listener whose connections never touch the network, so that its time can be a bubble's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return loopback }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p.conns <- there
	return here, nil
}

// live serves g in a bubble; stop ends the server.
func live(t *testing.T, g *gateway) (client *http.Client, stop func()) {
	t.Helper()
	p := pipes{make(chan net.Conn), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	o := Options{Source: g.Report, Details: g}
	go func() { done <- serve(ctx, p, New(o).handler(loopback), loggerOr(nil)) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}}, stop
}

func open(t *testing.T, client *http.Client) (stream, int) {
	t.Helper()
	res, err := client.Get("http://localhost/events")
	if err != nil {
		t.Fatal(err)
	}
	return stream{res.Body, bufio.NewReader(res.Body)}, res.StatusCode
}

// A reader gets everything first and then only what has changed, every two seconds, for far longer than an ordinary
// request may take; the server's end is the stream's.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := dayGateway(20)
		client, stop := live(t, g)
		s, _ := open(t, client)
		if first := s.parts(t); len(first) != 7 || !strings.Contains(first["states"], "connected") {
			t.Errorf("first event has %d parts, want all 7", len(first))
		}
		began := time.Now()
		for i := range 30 {
			g.change(func(r *Report) { r.Ledger.Late, r.Ledger.Windowed = int64(100+i), r.Ledger.Received-int64(100+i)-44 })
			parts := s.parts(t)
			if len(parts) != 2 || !strings.Contains(parts["books"], fmt.Sprint(100+i)) || parts["drops"] == "" {
				t.Fatalf("event %d: %d parts, want books and drops: %v", i, len(parts), parts)
			}
		}
		if took := time.Since(began); took != 60*time.Second {
			t.Errorf("30 events took %v, want 1 min", took)
		}
		stop()
		if _, _, err := s.next(); err == nil {
			t.Error("the stream outlives its server")
		}
		s.body.Close()
	})
}

// There is room for a few readers; who leaves makes room again.
func TestEventsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, stop := live(t, dayGateway(3))
		defer stop()
		var all []stream
		for range maxLive {
			s, code := open(t, client)
			if code != 200 {
				t.Fatalf("%d, want 200", code)
			}
			s.parts(t)
			all = append(all, s)
		}
		s, code := open(t, client)
		s.body.Close()
		if code != 503 {
			t.Errorf("one more than %d readers: %d, want 503", maxLive, code)
		}
		all[0].body.Close()
		time.Sleep(liveEvery) // of the bubble's clock: the server notices at its next write
		synctest.Wait()
		s, code = open(t, client)
		if code != 200 {
			t.Errorf("after one left: %d, want 200", code)
		}
		s.body.Close()
		for _, s := range all[1:] {
			s.body.Close()
		}
	})
}

// A reader that takes nothing is given up after ten seconds, and its place is free again.
func TestEventsStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := dayGateway(3)
		s := newSite(g.Report, g, loggerOr(nil))
		p := pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- serve(ctx, p, s.routes(), loggerOr(nil)) }()
		conn, _ := p.dial(ctx, "", "")
		if _, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(livePause - time.Second)
		if len(s.clients) != 1 {
			t.Errorf("%d readers while it may still read, want 1", len(s.clients))
		}
		time.Sleep(2 * time.Second)
		if len(s.clients) != 0 {
			t.Errorf("%d readers after the pause, want none", len(s.clients))
		}
		conn.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// An agent that does not answer is told to the reader, who stays.
func TestEventsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		var back atomic.Bool
		source := func(context.Context) (Report, error) {
			if !back.Load() {
				return Report{}, errAway
			}
			return dayReport(), nil
		}
		go func() { done <- serve(ctx, p, New(Options{Source: source}).handler(loopback), loggerOr(nil)) }()
		s, _ := open(t, &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}})
		kind, data, err := s.next()
		if kind != "trouble" || data != "the agent does not answer: the loop is away" || err != nil {
			t.Errorf("%q, %q, %v", kind, data, err)
		}
		back.Store(true)
		if parts := s.parts(t); len(parts) != 5 {
			t.Errorf("%d parts, want all 5 of a page without details", len(parts))
		}
		s.body.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A request for the headers alone ends at once, and takes no reader's place.
func TestEventsHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		rec := httptest.NewRecorder()
		newSite(dayGateway(1).Report, nil, loggerOr(nil)).events(rec, httptest.NewRequest(http.MethodHead, "/events", nil))
		if took := time.Since(began); took != 0 || rec.Code != http.StatusOK || rec.Body.Len() != 0 || rec.Header().Get("Content-Type") != "text/event-stream" {
			t.Errorf("%d, %v, %d bytes after %v", rec.Code, rec.Header(), rec.Body.Len(), took)
		}
	})
}
