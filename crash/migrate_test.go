package crash

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/buffer"
	"edgeagent/testbed"
)

// schema1 is a store as the program made it when there was only schema 1, with its floor.
func schema1(t *testing.T) map[string][]byte {
	t.Helper()
	of := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("..", "buffer", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(of("schema1.db.gz")))
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"edgeagent.db": file, "floor": of("schema1.floor")}
}

func fill(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		writeFile(t, filepath.Join(dir, name), string(data))
	}
}

// brought opens the store in dir, which brings it up if it is of an older schema, and tells all that is in it.
func brought(dir string) (text string, err error) {
	var log bytes.Buffer
	s, err := buffer.Open(buffer.Options{Dir: dir, NoSync: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	snap, err := s.Load()
	if err != nil {
		return "", err
	}
	text = fmt.Sprintf("%+v\n", *snap)
	err = s.Journal(func(n uint64, e []buffer.Entry) error { text += fmt.Sprintln(n, e); return nil })
	points, err1 := s.Peek(0, 1<<20, 1<<30)
	for _, p := range points {
		text += fmt.Sprintf("%d %s\n", p.Seq, p.Line)
	}
	parked, err2 := s.ParkedPoints(1 << 20)
	text += fmt.Sprintln(parked)
	if strings.Count(log.String(), "\n") > 1 || strings.Contains(log.String(), "damaged") {
		err = errors.Join(err, fmt.Errorf("start says %q", log.String()))
	}
	return text, errors.Join(err, err1, err2, s.Check())
}

// TestMigrationCut cuts the power at every write while a store of schema 1 is brought up, and compacted after it: each time the next start has all that
// was in it.
func TestMigrationCut(t *testing.T) {
	t.Parallel()
	files := schema1(t)
	dir := t.TempDir()
	fill(t, dir, files)
	want, err := brought(dir)
	if err != nil {
		t.Fatal(err)
	}
	g := newGateway(t, config{broker: "tcp://127.0.0.1:1", uplink: v1("http://127.0.0.1:1", "edge")})
	fill(t, g.dir, files)
	trace := filepath.Join(t.TempDir(), "trace")
	argv := append(strace(t, trace), testbed.Command(g.bin, "buffer", "compact", "-c", g.conf).Args...)
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	u := cutter{recording: &recording{t: t, dir: g.dir, calls: readTrace(t, trace)}, rng: testbed.Random(t), between: 1, harmful: true}
	u.after = func(dir string) error {
		got, err := brought(dir)
		if err == nil && got != want {
			err = fmt.Errorf("the store holds\n%s\nwant\n%s", got, want)
		}
		return err
	}
	rounds := 3
	if long() {
		rounds = 30
	}
	links := 0
	for _, c := range u.calls {
		if strings.HasPrefix(c.name, "link") && c.result == 0 {
			links++
		}
	}
	for range rounds {
		d := newDisk(g.dir)
		for name, content := range files {
			d.hold(name, bytes.Clone(content))
		}
		u.runOn(d)
	}
	for _, err := range u.faults[:min(3, len(u.faults))] {
		t.Error(err)
	}
	if u.opened < 30*rounds || links != 1 || len(u.faults) > 3 {
		t.Errorf("%d faults in %d cuts; the former file was linked %d times", len(u.faults), u.opened, links)
	}
	t.Logf("%d cuts opened", u.opened)
}
