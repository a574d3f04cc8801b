package demo

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"edgeagent/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fast is the shortest story, as fast as it goes.
func fast(t *testing.T, out io.Writer) Options {
	t.Helper()
	return Options{Speed: 0, For: MinFor, Out: out, Version: "test", BuildDate: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

// aside has temporary folders made in a folder of the test's own, and at its end none may be left there.
func aside(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left in the temporary folder: %v, %v", left, err)
		}
	})
}

// opened is a demo that is ready to play, and is closed when the test is over.
func opened(t *testing.T, o Options) *demo {
	t.Helper()
	d, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// The end of the story, in numbers that are added up here once more.
func TestStory(t *testing.T) {
	aside(t)
	var out bytes.Buffer
	d := opened(t, fast(t, &out))
	if err := d.play(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	l, p := d.end.report.Ledger, d.end.report.Points
	if sum := l.Windowed + l.Late + l.Duplicate + l.Retained + rejected(l); l.Received != sum || l.Received != int64(len(d.fleet.sent)) {
		t.Errorf("%d sent, %d received, %d in the columns", len(d.fleet.sent), l.Received, sum)
	}
	if l.Windowed == 0 || l.Late == 0 || l.Duplicate == 0 || rejected(l) == 0 {
		t.Errorf("the story lacks something: %+v", l)
	}
	// Windows are final up to 10 minutes before the last reading, which comes in the last minute of 45.
	if p.Finalized != int64(6*len(names)) || p.Uploaded != p.Finalized+p.LateReports || p.Queued+p.Parked+p.Evicted+p.Superseded != 0 {
		t.Errorf("points: %+v", p)
	}
	if int64(len(d.end.got)) != p.Uploaded || len(d.end.got) != len(d.end.want.Last()) || len(d.end.diffs) > 0 {
		t.Errorf("%d at the server, %d uploaded, %d expected, differences %q", len(d.end.got), p.Uploaded, len(d.end.want.Last()), d.end.diffs)
	}
	if c := d.world.receiver.Counts(); c.Refused == 0 || c.Lines != p.Uploaded {
		t.Errorf("the server saw %+v, of %d points", c, p.Uploaded)
	}
	checkText(t, out.String(), int(p.Uploaded))
	checkFrontPage(t, out.String())
}

// checkText checks what the story looks like.
func checkText(t *testing.T, text string, uploaded int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := len(strings.TrimSuffix(line, "\n")); n > columns {
			t.Errorf("%d columns: %s", n, line)
		}
		if strings.ContainsAny(line, "\x1b\t\r") {
			t.Errorf("not plain: %q", line)
		}
	}
	if n := strings.Count(text, "\n> "); n != uploaded {
		t.Errorf("%d lines shown, want %d", n, uploaded)
	}
	for _, want := range []string{" 1. ", " 10. ", "W = M - 10 min", "points wait, uplink down since", "all equal", "What next:"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, ": the books balance."); n != 2 {
		t.Errorf("%d identities, want 2", n)
	}
}

// The same options give the same points.
func TestSameTwice(t *testing.T) {
	aside(t)
	var points [2][]string
	for i := range points {
		d := opened(t, fast(t, io.Discard))
		if err := d.play(t.Context()); err != nil {
			t.Fatal(err)
		}
		points[i] = sim.Compare(d.end.want, nil, sim.Naming{}) // every point is missing, in words
	}
	if a, b := strings.Join(points[0], "\n"), strings.Join(points[1], "\n"); a != b || a == "" {
		t.Errorf("first:\n%s\nsecond:\n%s", a, b)
	}
}

// A loser is a server that says it has stored the first window of the cellar, and has not.
type loser struct {
	http.Handler
	mu   sync.Mutex // guards lost
	lost string
}

func (l *loser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(z)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Header.Del("Content-Encoding")
	r.Body = io.NopCloser(bytes.NewReader(l.cut(body)))
	l.Handler.ServeHTTP(w, r)
}

// cut takes the line out, once.
func (l *loser) cut(body []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(body) {
		if l.lost == "" && bytes.Contains(line, []byte("sensor=cellar")) {
			l.lost = string(line)
			return bytes.Replace(body, line, nil, 1)
		}
	}
	return body
}

func TestLostLine(t *testing.T) {
	aside(t)
	var out bytes.Buffer
	d := opened(t, fast(t, &out))
	l := &loser{Handler: d.world.receiver}
	d.world.server.Handler = l
	if err := d.play(t.Context()); !errors.Is(err, ErrBooks) {
		t.Fatalf("error %v, want %v\n%s", err, ErrBooks, out.String())
	}
	if l.lost == "" || len(d.end.diffs) != 1 {
		t.Fatalf("lost %q, differences %q", l.lost, d.end.diffs)
	}
	want := "  - missing: temperature,gateway=gw1,sensor=cellar at 2026-06-01T08:00:00Z: want"
	if text := out.String(); !strings.Contains(text, want) || !strings.Contains(text, "DIFFERENCES: 1") || strings.Contains(text, "What next") {
		t.Errorf("nothing says %q:\n%s", want, text)
	}
}

// A stopper cancels when the story comes to a word.
type stopper struct {
	told   bytes.Buffer
	word   string
	cancel context.CancelFunc
}

func (s *stopper) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(s.word)) {
		s.cancel()
	}
	return s.told.Write(b)
}

// Being told to stop, at any turn, is no error and leaves nothing behind.
func TestStop(t *testing.T) {
	for _, word := range []string{"edgeagent demo:", " 1. ", " 3. ", " 5. ", "started again", " 7. "} {
		t.Run(word, func(t *testing.T) {
			aside(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &stopper{word: word, cancel: cancel}
			if err := Run(ctx, fast(t, out)); err != nil {
				t.Errorf("error %v", err)
			}
			if text := out.told.String(); !strings.Contains(text, "Told to stop") || strings.Contains(text, "all equal") {
				t.Errorf("the story ends with\n%s", text)
			}
		})
	}
}

func TestRunSaysThatItCannotWrite(t *testing.T) {
	aside(t)
	gone := errors.New("nobody reads")
	if err := Run(t.Context(), fast(t, brokenWriter{gone})); !errors.Is(err, gone) {
		t.Errorf("error %v, want %v", err, gone)
	}
}

type brokenWriter struct{ err error }

func (b brokenWriter) Write([]byte) (int, error) { return 0, b.err }
