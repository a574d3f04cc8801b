package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"edgeagent/buffer"
)

// TestMain lets this binary be the process that checks a store.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == checkCommand {
		os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
	}
	goleak.VerifyTestMain(m)
}

// A gateway is a data folder with its configuration.
type gateway struct {
	t           *testing.T
	dir, config string
}

func newGateway(t *testing.T) gateway {
	t.Helper()
	text, err := os.ReadFile("../../configs/minimal.toml")
	if err != nil {
		t.Fatal(err)
	}
	g := gateway{t, filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "edgeagent.toml")}
	text = fmt.Appendf(text, "\n[buffer]\ndir = %q\n", g.dir)
	if err := os.WriteFile(g.config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return g
}

// store opens the store as the agent does.
func (g gateway) store() *buffer.Store {
	g.t.Helper()
	s, err := buffer.Open(buffer.Options{Dir: g.dir, NoSync: true})
	if err != nil {
		g.t.Fatal(err)
	}
	return s
}

// fill stores n points, one in a commit.
func (g gateway) fill(n int) {
	g.t.Helper()
	s := g.store()
	for i := range n {
		b := &buffer.Batch{State: []byte("{}"), Journal: []buffer.Entry{{Series: "a", Time: int64(i)}}, Points: []buffer.Point{{Line: fmt.Appendf(nil, "m v=1 %d", i)}}}
		if _, err := s.Commit(b); err != nil {
			g.t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		g.t.Fatal(err)
	}
}

// wants runs a buffer command and compares the exit code and parts of what it prints.
func (g gateway) wants(code int, parts []string, args ...string) {
	g.t.Helper()
	var out bytes.Buffer
	args = append([]string{"buffer", args[0], "-c", g.config}, args[1:]...)
	if got := run(g.t.Context(), args, streams{strings.NewReader(""), &out, &out}); got != code {
		g.t.Errorf("%v: exit code %d, want %d", args, got, code)
	}
	for _, part := range parts {
		if !strings.Contains(out.String(), part) {
			g.t.Errorf("%v prints\n%s, want %q in it", args, out.String(), part)
		}
	}
}

func TestBufferCommands(t *testing.T) {
	g := newGateway(t)
	for _, command := range []string{"check", "stats", "compact", "parked", "export"} {
		g.wants(exitFailed, []string{"error: ", buffer.Path(g.dir), "no such file", "is buffer.dir right?"}, command)
	}
	g.fill(50)
	g.wants(exitDone, []string{buffer.Path(g.dir) + ": sound\n"}, "check")
	g.wants(exitDone, []string{"queued      50 points", "50 records", "50 points made: 0 uploaded"}, "stats")
	g.wants(exitDone, []string{`"journal_records": 50`, `"queued": 50`}, "stats", "--json")
	g.wants(exitFailed, []string{"error: ", g.dir + " is a folder; name a file in it"}, "export", g.dir)
	g.wants(exitDone, []string{"KiB before, ", "KiB now"}, "compact")
	s := g.store()
	for _, command := range []string{"check", "stats", "compact"} {
		g.wants(exitFailed, []string{"in use", "stop the agent first"}, command)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A damaged file is found, kept, and read out by hand on another gateway.
func TestBufferSalvage(t *testing.T) {
	g, other := newGateway(t), newGateway(t)
	g.fill(50)
	f, err := os.OpenFile(buffer.Path(g.dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 8192), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g.wants(exitFailed, []string{"damaged: neither meta page is valid"}, "check")
	g.wants(exitFailed, []string{"damaged"}, "stats")
	file := buffer.Path(g.dir)
	other.wants(exitDone, []string{"carried over: 50 points, 0 refused points, 50 readings", "state: yes"}, "salvage", file)
	other.wants(exitDone, []string{"carried over: 50 points, 0 refused points, 0 readings", "state: no"}, "salvage", file)
	other.wants(exitDone, []string{"queued      100 points", "50 records"}, "stats")
	other.wants(exitFailed, []string{"it is the store itself"}, "salvage", buffer.Path(other.dir))
	other.wants(exitFailed, []string{"no such file"}, "salvage", filepath.Join(t.TempDir(), "absent"))
	other.wants(exitFailed, []string{"nothing of a store"}, "salvage", other.config)
}
