package status

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// serveAt does what ServeSocket does, in the background once the socket is there; stop ends it and gives what it returned.
func serveAt(t *testing.T, path string, source Source) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s, err := openSocket(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, source) }()
	stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() { _ = stop() })
	return stop
}

func TestAsk(t *testing.T) {
	folder := t.TempDir()
	for name, path := range map[string]string{
		"short": filepath.Join(folder, "edgeagent.sock"),
		"long":  filepath.Join(folder, strings.Repeat("deep", 30), "edgeagent.sock"),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		stop := serveAt(t, path, answers(dayReport()))
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("%s: socket %v, %v, want mode 0600", name, info.Mode(), err)
		}
		got, err := Ask(t.Context(), path)
		if want := dayReport().tidy(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Ask = %+v, %v, want %+v", name, got, err, want)
		}
		if err := stop(); err != nil {
			t.Errorf("%s: stopped with %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 && name == "long" {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}

func TestAskErrors(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	stale(t, path("stale"))
	if err := os.WriteFile(path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serveAt(t, path("failing"), fails(errors.New("the \x1b loop is away")))
	for _, tt := range []struct {
		path string
		is   error
		want string
	}{
		{path("nothing"), ErrNoAgent, "no agent is running here: there is no socket " + path("nothing")},
		{path("no/folder"), ErrNoAgent, "no agent is running here: there is no socket"},
		{path(strings.Repeat("x", 110)) + "/s", ErrNoAgent, "no agent is running here: there is no socket"},
		{path("stale"), ErrNoAgent, "no agent is running here: nobody answers on " + path("stale")},
		{path("file"), ErrNoAgent, "no agent is running here: nobody answers on"},
		{path("failing"), nil, `ask the agent: 503 Service Unavailable: the agent does not answer: the \x1b loop is away`},
	} {
		_, err := Ask(t.Context(), tt.path)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("Ask(%s) = %v, want %s …", tt.path, err, tt.want)
		}
	}
}

// Tests may run as root, whom nothing is forbidden; so the cause is made up.
func TestAskForbidden(t *testing.T) {
	cause := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	err := explain("/data/edgeagent.sock", cause)
	if !errors.Is(err, ErrNotAllowed) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("explain = %v, want ErrNotAllowed", err)
	}
	err = explain("/data/edgeagent.sock", context.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 10s") {
		t.Errorf("explain = %v", err)
	}
}

// What answers on the socket may be no agent at all.
func TestAskNonsense(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc":             "decode the agent's answer: ",
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc":             "read the agent's answer: ",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno\x07\n": `ask the agent: 404 Not Found: no\a`,
		"SSH-2.0-nonsense\r\n":                                        "ask the agent: ",
		"":                                                            "ask the agent: ",
	} {
		path := filepath.Join(t.TempDir(), "s")
		ln, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4096))
			conn.Write([]byte(answer))
			conn.Close()
		}()
		if _, err := Ask(t.Context(), path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("answer %q: Ask = %v, want %s …", answer, err, want)
		}
		ln.Close()
		<-done
	}
}

// stale leaves a socket as a killed agent does.
func stale(t *testing.T, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSocketReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale(t, path)
	stop := serveAt(t, path, answers(dayReport()))
	if got, err := Ask(t.Context(), path); err != nil || got.Gateway != "gw-07" {
		t.Errorf("Ask = %v, %v", got.Gateway, err)
	}
	if err := ServeSocket(t.Context(), path, answers(troubleReport())); !errors.Is(err, ErrSocketTaken) {
		t.Errorf("second ServeSocket = %v, want ErrSocketTaken", err)
	}
	if _, err := Ask(t.Context(), path); err != nil {
		t.Errorf("the first one no longer answers: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("socket after the stop: %v", err)
	}
}

// ServeSocket returns nil at the end of its context, and leaves nothing.
func TestServeSocketEnds(t *testing.T) {
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ServeSocket(ctx, filepath.Join(folder, "s"), answers(dayReport())); err != nil {
		t.Errorf("ServeSocket = %v, want nil", err)
	}
	if left, err := os.ReadDir(folder); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A successor's socket is not removed by an agent that stops late.
func TestSocketOfSuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first := serveAt(t, path, answers(dayReport()))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	serveAt(t, path, answers(dayReport()))
	if err := first(); err != nil {
		t.Error(err)
	}
	if _, err := Ask(t.Context(), path); err != nil {
		t.Errorf("successor: %v", err)
	}
}

func TestSocketErrors(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ServeSocket(t.Context(), file, answers(dayReport())); !errors.Is(err, ErrSocketTaken) {
		t.Errorf("on a file: %v, want ErrSocketTaken", err)
	}
	if text, err := os.ReadFile(file); string(text) != "mine" {
		t.Errorf("the file is now %q, %v", text, err)
	}
	if err := ServeSocket(t.Context(), filepath.Join(folder, "no", "s"), answers(dayReport())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
	name := strings.Repeat("n", 120)
	err := ServeSocket(t.Context(), filepath.Join(folder, name), answers(dayReport()))
	if !errors.Is(err, syscall.ENAMETOOLONG) || !strings.Contains(err.Error(), "buffer.dir") {
		t.Errorf("with a long name: %v", err)
	}
}
