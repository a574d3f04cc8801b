package uplink

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A reply is what the fake server answers.
type reply struct {
	status int
	header map[string]string
	body   string
	store  bool // all lines, whatever the status
	drop   bool // store, if so told, and hang up without an answer
}

// central is a fake InfluxDB: it keeps what it stores by series and time, as the real one does.
type central struct {
	*httptest.Server
	answer func(n int, lines []string) reply // n counts requests from 1; nil answers 204

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	points   map[string]string // measurement, tags and time to fields
	got      chan struct{}     // one for each request, while there is room
}

var stored = reply{status: 204, store: true}

// jsonReply is an error of InfluxDB v1 or v3.
func jsonReply(status int, message string) reply {
	return reply{status: status, body: fmt.Sprintf("{\"error\":%q}\n", message)}
}

func newCentral(t testing.TB, answer func(n int, lines []string) reply) *central {
	c := &central{answer: answer, points: map[string]string{}, got: make(chan struct{}, 1000)}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *central) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	text, _ := io.ReadAll(body)
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	c.mu.Lock()
	c.requests, c.bodies = append(c.requests, r), append(c.bodies, string(text))
	n := len(c.requests)
	c.mu.Unlock()
	a := stored
	if c.answer != nil {
		a = c.answer(n, lines)
	}
	if a.store {
		c.keep(lines...)
	}
	select {
	case c.got <- struct{}{}:
	default:
	}
	if a.drop {
		panic(http.ErrAbortHandler)
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// keep stores lines.
func (c *central) keep(lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range lines {
		p := strings.Split(l, " ")
		c.points[p[0]+" "+p[2]] = p[1]
	}
}

// holds copies what is stored, as sorted lines.
func (c *central) holds() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for k, fields := range c.points {
		series, at, _ := strings.Cut(k, " ")
		lines = append(lines, series+" "+fields+" "+at)
	}
	slices.Sort(lines)
	return lines
}

func (c *central) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}
