package trials

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"edgeagent/status"
	"edgeagent/testbed"
)

// limitFiles has every write of a process behind size bytes of a file fail, as on a full disk; -1 lifts that.
func limitFiles(t *testing.T, pid int, size int64) {
	t.Helper()
	limit := [2]uint64{uint64(size), ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatal(os.NewSyscallError("prlimit", errno))
	}
}

// TestA5StoreRefuses has the store refuse writes while 25 messages come through a broker that has 20 in flight, over a
// connection that stays up, and then take them again: all are stored and acknowledged, and none was before it was stored.
func TestA5StoreRefuses(t *testing.T) {
	t.Parallel()
	l := newLine(t, testbed.MosquittoOptions{MaxInflight: 20})
	l.up()
	l.at("s1", -300, 1)
	l.await("a first commit", func(r status.Report) bool { return r.Ledger.Windowed == 1 && r.MQTT.Unacked == 0 })
	testbed.WaitFor(t, soon, "its acknowledgement", func() bool { return pubacks(l.tap) == 1 })
	limitFiles(t, l.Pid(), 2*4096) // the log is shorter; of the store nothing but its first pages can be written
	for i := range 25 {
		l.at("s1", float64(i), 20)
	}
	const word = "store: cannot write"
	testbed.WaitFor(t, soon, "the store to refuse", func() bool { return strings.Contains(l.Log(), word) })
	r := l.await("a full window in flight", func(r status.Report) bool { return r.MQTT.Unacked == 20 })
	<-time.After(2 * time.Second) // several attempts
	if n := pubacks(l.tap); n != 1 {
		t.Errorf("%d acknowledgements while nothing can be stored", n-1)
	}
	if n := strings.Count(l.Log(), word); n != 1 {
		t.Errorf("%d warnings within seconds, want 1", n)
	}
	limitFiles(t, l.Pid(), -1)
	r = l.await("all to be stored", func(r status.Report) bool { return r.Ledger.Windowed == 26 && r.MQTT.Unacked == 0 })
	testbed.WaitFor(t, soon, "the acknowledgements", func() bool { return pubacks(l.tap) >= 26 })
	if r.Ledger.Received != 26+r.Ledger.Duplicate {
		t.Errorf("ledger %+v, want 26 windowed and nothing else but what came again", r.Ledger)
	}
	balanced(t, r)
	l.again() // and it was the disk that has them
	l.at("s1", 1500, 21)
	l.await("the window", func(r status.Report) bool { return r.Points.Finalized == 2 && delivered(r) })
	l.server.holds("s1@-300 max=1,count=1i", "s1@0 max=20,count=25i")
	l.stop()
}

// TestC3ChangedConfiguration has a hundred points wait, changes one key, and starts again: all of them arrive where the new
// configuration says, as they were made.
func TestC3ChangedConfiguration(t *testing.T) {
	t.Parallel()
	former := newServer(t)
	l := newLine(t, testbed.MosquittoOptions{})
	token := l.gateway.dir + ".token"
	if err := os.WriteFile(token, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.config.uplink = v1(former.URL, "edge")
	former.refuse(true)
	l.up()
	l.windows(0, 10)
	l.await("a hundred points", func(r status.Report) bool { return r.Points.Queued == 100 && r.MQTT.Unacked == 0 })
	l.stop()
	v2 := func(s *server) string {
		return fmt.Sprintf("url = %q\napi = \"v2\"\norg = \"o\"\nbucket = \"b\"\ntoken_file = %q\n", s.URL, token)
	}
	for _, c := range []struct {
		name          string
		change        func(c *config, s *server)
		points        int    // all that waited, and the open window where it must be closed as it stands
		query, header string // of each request, part of
		batches       int
	}{
		{"url", func(c *config, s *server) { c.uplink = v1(s.URL, "edge") }, 100, "db=edge", "", 1},
		{"database", func(c *config, s *server) { c.uplink = v1(s.URL, "two") }, 100, "db=two", "", 1},
		{"api, bucket and token", func(c *config, s *server) { c.uplink = v2(s) }, 100, "bucket=b", "Token secret", 1},
		{"batch size", func(c *config, s *server) { c.uplink = v1(s.URL, "edge") + "batch_points = 7\n" }, 100, "db=edge", "", 15},
		{"tag", func(c *config, s *server) { c.uplink = v1(s.URL, "edge"); c.gateway += "tags = { site = \"x\" }\n" }, 101, "db=edge", "", 0},
		{"cap", func(c *config, s *server) { c.uplink = v1(s.URL, "edge"); c.buffer = "max_points = 1000\n" }, 100, "db=edge", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, s := newGateway(t), newServer(t)
			if err := os.CopyFS(g.dir, os.DirFS(l.dir)); err != nil {
				t.Fatal(err)
			}
			conf := l.config
			conf.broker = ""
			c.change(&conf, s)
			g.start(conf)
			r := g.await("all to be uploaded", func(r status.Report) bool { return r.Points.Uploaded >= 100 && r.Points.Queued == 0 })
			balanced(t, r)
			if got := s.points(); len(got) != c.points || len(s.lines()) != c.points {
				t.Errorf("%d lines arrive, %d different, want %d", len(s.lines()), len(got), c.points)
			}
			for _, line := range s.lines() {
				if !strings.HasPrefix(line, "temperature,gateway=gw,sensor=") {
					t.Errorf("%s is not as it was made", line)
				}
			}
			for _, r := range s.asked {
				if !strings.Contains(r.URL.RawQuery, c.query) || !strings.Contains(r.Header.Get("Authorization"), c.header) {
					t.Errorf("request %s with %q, want %s, %q", r.URL, r.Header.Get("Authorization"), c.query, c.header)
				}
			}
			if c.batches > 0 && len(s.taken()) != c.batches {
				t.Errorf("%d batches, want %d", len(s.taken()), c.batches)
			}
			g.stop()
		})
	}
	if n := len(former.lines()); n != 0 {
		t.Errorf("%d lines went to the former server", n)
	}
}
