package e2e

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeagent/testbed"
)

// A manager is a service manager as far as sd_notify(3) goes: the messages that come to its socket, as they come.
type manager struct {
	t        *testing.T
	path     string
	messages chan string
}

func startManager(t *testing.T) *manager {
	t.Helper()
	// The path of a socket is short; a test's own folder may be too deep for it.
	dir, err := os.MkdirTemp("", "notify")
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{t, filepath.Join(dir, "s"), make(chan string, 1000)}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		os.RemoveAll(dir)
	})
	go func() {
		defer close(m.messages)
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			m.messages <- string(buf[:n])
		}
	}()
	return m
}

// waits waits for a message that holds text.
func (m *manager) waits(text string) string {
	m.t.Helper()
	limit := time.NewTimer(soon)
	defer limit.Stop()
	for {
		select {
		case got := <-m.messages:
			if strings.Contains(got, text) {
				return got
			}
		case <-limit.C:
			m.t.Fatalf("waited %v for %s", soon, text)
		}
	}
}

// silent reports whether nothing that holds text comes for d, apart from what is here already.
func (m *manager) silent(text string, d time.Duration) bool {
	for len(m.messages) > 0 {
		<-m.messages
	}
	limit := time.NewTimer(d)
	defer limit.Stop()
	for {
		select {
		case got := <-m.messages:
			if strings.Contains(got, text) {
				return false
			}
		case <-limit.C:
			return true
		}
	}
}

// TestServiceManager: the real program tells it when it is ready, that it lives, how it is, and when it stops; while it
// hangs it says nothing, so that the watchdog bites.
func TestServiceManager(t *testing.T) {
	m := startManager(t)
	c := config{broker: "tcp://127.0.0.1:1", dir: t.TempDir(), uplink: "url = \"http://127.0.0.1:1\"\ndatabase = \"d\"\nhealth_interval = \"1s\"\n"}
	path := filepath.Join(t.TempDir(), "edgeagent.toml")
	writeFile(t, path, c.text())
	p := testbed.StartAgent(t, testbed.Build(t), path, "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=4000000")
	ready := m.waits("READY=1")
	if want := "READY=1\nSTATUS=broker not connected, uplink idle, queued "; !strings.HasPrefix(ready, want) {
		t.Errorf("ready: %q, want %q", ready, want)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "edgeagent.db")); err != nil {
		t.Errorf("ready before the store is there: %v", err)
	}
	if got := m.waits("uplink down"); !strings.Contains(got, "STATUS=broker not connected, uplink down since ") || !strings.Contains(got, ", queued ") {
		t.Errorf("status: %q", got)
	}
	m.waits("WATCHDOG=1")
	m.waits("WATCHDOG=1")
	p.Signal(syscall.SIGSTOP)
	if !m.silent("WATCHDOG=1", 3*time.Second) {
		t.Error("a process that stands still feeds the watchdog")
	}
	p.Signal(syscall.SIGCONT)
	m.waits("WATCHDOG=1")
	p.Signal(syscall.SIGTERM)
	m.waits("STOPPING=1")
	if code, ok := p.Wait(soon); !ok || code != 0 {
		t.Errorf("exit code %d, in time %v", code, ok)
	}
}

// TestNoServiceManager: without one nothing is missed, and one that cannot be reached is told of once.
func TestNoServiceManager(t *testing.T) {
	c := config{broker: "tcp://127.0.0.1:1", dir: t.TempDir(), uplink: "url = \"http://127.0.0.1:1\"\ndatabase = \"d\"\nhealth_interval = \"1s\"\n"}
	path := filepath.Join(t.TempDir(), "edgeagent.toml")
	writeFile(t, path, c.text())
	for socket, want := range map[string]int{"": 0, filepath.Join(t.TempDir(), "gone"): 1} {
		p := testbed.StartAgent(t, testbed.Build(t), path, "NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=400000")
		waitFor(t, soon, "uplink down", p.Log, func() bool { return strings.Contains(p.Log(), "uplink down") })
		if _, ok := p.Terminate(soon); !ok {
			t.Error("the agent did not stop")
		}
		if got := strings.Count(p.Log(), "service manager"); got != want {
			t.Errorf("with the socket %q the service manager is named %d times, want %d", socket, got, want)
		}
	}
}
