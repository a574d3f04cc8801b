package trials

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A server is an InfluxDB that answers by a script and keeps every line that it has taken.
type server struct {
	patience string // Retry-After of a refusal; "" for none
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	script func(n int, lines []string) int // answers request n, from 1, with a code; nil: 204
	after  func(lines int)                 // called when the answer to a request is out, with how many lines are stored
	n      int
	bodies [][]string // of requests answered 204
	asked  []*http.Request
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// advise tells a client that is refused how long to wait.
func (s *server) advise(w http.ResponseWriter) {
	if s.patience != "" {
		w.Header().Set("Retry-After", s.patience)
	}
}

// refuse makes the server answer 503 to everything, or no more.
func (s *server) refuse(on bool) {
	var script func(int, []string) int
	if on {
		script = func(int, []string) int { return http.StatusServiceUnavailable }
	}
	s.answer(script)
}

func (s *server) answer(script func(n int, lines []string) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = script
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent is gone
	}
	w.Header().Set("X-Influxdb-Version", "trial")
	code, after, stored := s.take(r, strings.Split(strings.TrimSpace(string(body)), "\n"))
	if code == http.StatusServiceUnavailable {
		s.advise(w)
	}
	w.WriteHeader(code)
	_ = http.NewResponseController(w).Flush() // the agent may be gone
	if after != nil {
		after(stored)
	}
}

// take stores the lines of a request if the script has it so.
func (s *server) take(r *http.Request, lines []string) (code int, after func(int), stored int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	code = http.StatusNoContent
	if s.script != nil {
		code = s.script(s.n, lines)
	}
	if code == http.StatusNoContent {
		s.bodies, s.asked = append(s.bodies, lines), append(s.asked, r)
	}
	for _, b := range s.bodies {
		stored += len(b)
	}
	return code, s.after, stored
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// taken is a copy of the bodies taken so far.
func (s *server) taken() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// lines are all lines taken, in order, those sent again too.
func (s *server) lines() []string { return slices.Concat(s.taken()...) }

// short is a line as the trials write it down: sensor@seconds after t0, then its fields; another measurement goes before.
func short(line string) string {
	f := strings.Split(line, " ")
	if len(f) != 3 {
		return "bad line " + line
	}
	ns, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return "bad time in " + line
	}
	name := strings.TrimPrefix(strings.ReplaceAll(f[0], ",gateway=gw,sensor=", " "), "temperature ")
	return fmt.Sprintf("%s@%d %s", name, (ns-t0*1e9)/1e9, f[1])
}

// points are the shortened lines without those sent again, sorted; measurements named in but are left out.
func (s *server) points(but ...string) []string {
	var all []string
	for _, line := range s.lines() {
		measurement, _, _ := strings.Cut(line, ",")
		if !slices.Contains(but, measurement) {
			all = append(all, short(line))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// holds fails the test unless the server has taken exactly these points, whatever it was sent again.
func (s *server) holds(want ...string) {
	s.t.Helper()
	slices.Sort(want)
	if got := s.points(); !slices.Equal(got, want) {
		s.t.Errorf("the server holds\n\t%s, want\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}
