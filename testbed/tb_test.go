package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// child, as the value of childEnv, has the test binary play a program that a Process runs.
const childEnv = "EDGEAGENT_TESTBED_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		goleak.VerifyTestMain(m)
	case "exit 3":
		fmt.Println("args:", strings.Join(os.Args[1:], " "))
		os.Exit(3)
	default: // hang
		fmt.Println("up")
		<-time.After(time.Hour) // select {} would be a deadlock, and end it
	}
}

// A fakeTB notes how the helper under test ended it.
type fakeTB struct {
	*testing.T
	verdict  string
	logs     []string
	cleanups []func()
	failed   bool
}

func (f *fakeTB) Helper()                     {}
func (f *fakeTB) Failed() bool                { return f.failed }
func (f *fakeTB) Cleanup(fn func())           { f.cleanups = append(f.cleanups, fn) }
func (f *fakeTB) Logf(s string, args ...any)  { f.logs = append(f.logs, fmt.Sprintf(s, args...)) }
func (f *fakeTB) Skipf(s string, args ...any) { f.end("skip: "+s, args...) }
func (f *fakeTB) Fatalf(s string, args ...any) {
	f.failed = true
	f.end("fatal: "+s, args...)
}

func (f *fakeTB) end(s string, args ...any) {
	f.verdict = fmt.Sprintf(s, args...)
	panic(f)
}

// run calls fn, which may end f, and then its cleanups as testing does.
func (f *fakeTB) run(fn func(t TB)) {
	defer func() {
		if r := recover(); r != nil && r != any(f) {
			panic(r)
		}
		for i := len(f.cleanups) - 1; i >= 0; i-- {
			f.cleanups[i]()
		}
	}()
	fn(f)
}

func TestNeed(t *testing.T) {
	dir := t.TempDir()
	gobin := filepath.Join(dir, "gopath", "bin")
	for _, name := range []string{filepath.Join(dir, "on-path"), filepath.Join(gobin, "go-installed")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("GOPATH", filepath.Join(dir, "gopath"))
	tests := []struct {
		tool, ci      string
		path, verdict string
	}{
		{"on-path", "true", filepath.Join(dir, "on-path"), ""},
		{"go-installed", "true", filepath.Join(gobin, "go-installed"), ""},
		{"no-such-tool", "", "", "skip: no-such-tool is not installed"},
		{"no-such-tool", "true", "", "fatal: no-such-tool is not installed: scripts/test.sh installs what the tests need"},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" CI="+tt.ci, func(t *testing.T) {
			t.Setenv("CI", tt.ci)
			f, path := &fakeTB{T: t}, ""
			f.run(func(t TB) { path = Need(t, tt.tool) })
			if path != tt.path || f.verdict != tt.verdict {
				t.Errorf("Need = %q, %q; want %q, %q", path, f.verdict, tt.path, tt.verdict)
			}
		})
	}
}

func TestWaitFor(t *testing.T) {
	calls := 0
	WaitFor(t, time.Minute, "the third call", func() bool { calls++; return calls == 3 })
	f := &fakeTB{T: t}
	f.run(func(t TB) { WaitFor(t, time.Millisecond, "what never comes", func() bool { return false }) })
	if want := "fatal: waited 1ms for what never comes"; calls != 3 || f.verdict != want {
		t.Errorf("%d calls, %q; want 3, %q", calls, f.verdict, want)
	}
}

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 2, ""},
		{"a\n", 2, "a"},
		{"a\nb\nc\n", 2, "b\nc"},
		{"a\nb", 2, "a\nb"},
	} {
		if got := tail(tt.text, tt.n); got != tt.want {
			t.Errorf("tail(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
