package buffer

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// day is the clock of the tests.
var day = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

const minute = int64(time.Minute)

func options(dir string) Options {
	return Options{Dir: dir, MaxSize: 16 << 20, NoSync: true, Now: func() time.Time { return day }}
}

// open opens a store that is checked as a whole, and closed, when the test ends.
func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeChecked(t, s) })
	return s
}

func closeChecked(t testing.TB, s *Store) {
	t.Helper()
	if s.db.Path() == "" {
		return // closed by the test
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if _, err := s.Examine(context.Background()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// commit commits b and wants the points to balance.
func commit(t testing.TB, s *Store, b *Batch) uint64 {
	t.Helper()
	n, err := s.Commit(b)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Counts(); !c.Balanced() {
		t.Fatalf("points do not balance: %+v", c)
	}
	return n
}

func peek(t testing.TB, s *Store, after uint64) []Point {
	t.Helper()
	points, err := s.Peek(after, 1<<20, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return points
}

// upTo is that all points up to last are on their way to the first uplink; 0 is none.
func upTo(last uint64) []InFlight { return []InFlight{{Spans: []Span{{1, last}}}} }

// choosing is that the first uplink is choosing points.
func choosing() []InFlight { return []InFlight{{All: true}} }

func load(t testing.TB, s *Store) *Snapshot {
	t.Helper()
	snap, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func journal(t testing.TB, s *Store) map[uint64][]Entry {
	t.Helper()
	all := make(map[uint64][]Entry)
	last := uint64(0)
	err := s.Journal(func(n uint64, e []Entry) error {
		if n <= last {
			t.Errorf("record %d after %d", n, last)
		}
		last = n
		all[n] = slices.Clone(e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// logged gives a logger and the text it has got.
func logged() (*slog.Logger, *bytes.Buffer) {
	var buf bytes.Buffer
	return slog.New(slog.NewTextHandler(&buf, nil)), &buf
}

func line(i int) []byte {
	return fmt.Appendf(nil, "temperature,sensor=s%d max=21.5,count=3i %d", i%7, i)
}

func point(i int) Point { return Point{Line: line(i), End: int64(i) * minute} }

func seqs(points []Point) []uint64 {
	list := []uint64{}
	for _, p := range points {
		list = append(list, p.Seq)
	}
	return list
}

// again is the command that runs one test of this binary in a process of its own, under an emulator if the tests run in one.
func again(test string) []string {
	argv := strings.Fields(os.Getenv("EDGEAGENT_TEST_EXEC"))
	return append(argv, os.Args[0], "-test.run=^"+test+"$")
}

// long reports whether the long form of a test was asked for.
func long() bool { return os.Getenv("EDGEAGENT_LONG") == "1" }

// alone reports whether the test runs in a process of its own, and if not runs it in one: what it does to the process, such as to limit the
// size of files, must not hit what the testing package writes meanwhile.
func alone(t *testing.T) bool {
	t.Helper()
	const name = "EDGEAGENT_TEST_ALONE"
	if os.Getenv(name) == t.Name() {
		return true
	}
	argv := again(t.Name())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), name+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}
