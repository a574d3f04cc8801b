package trials

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"edgeagent/agent"
	"edgeagent/configs"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A clock is the machine's with its wall clock stepped by whole seconds, as by a person or NTP: elapsed time goes on.
type clock struct {
	offset   atomic.Int64 // s
	unsynced atomic.Bool  // the kernel does not call it disciplined
}

// set has the wall clock show s seconds after the Unix epoch now.
func (c *clock) set(s int64, synced bool) {
	c.unsynced.Store(!synced)
	c.offset.Store(s - time.Now().Unix())
}

// now steps the wall clock within a Time and leaves its monotonic part, which no function of package time does: the first
// word of a Time with both parts has the seconds since 1885 above 30 bits of nanoseconds.
func (c *clock) now() time.Time {
	t := time.Now()
	*(*uint64)(unsafe.Pointer(&t)) += uint64(c.offset.Load()) << 30
	return t
}

func TestSteppedClock(t *testing.T) {
	var c clock
	for _, s := range []int64{-7200, -1, 1, 7200} {
		c.offset.Store(s)
		before, now := time.Now(), c.now()
		if wall := now.Round(0).Sub(before.Round(0)).Round(time.Second); wall != time.Duration(s)*time.Second || now.Sub(before) > time.Second || now.Sub(before) < 0 {
			t.Errorf("step of %d s: the wall clock is %v ahead, elapsed time %v", s, wall, now.Sub(before))
		}
	}
}

// A safeLog takes the lines of an agent in this process.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// runInside runs the agent in this process, by a clock of the test's, until the end of the test or until stop is called.
func runInside(t *testing.T, c config, clk *clock) (a *agent.Agent, stop func()) {
	t.Helper()
	return runIn(t, t.TempDir(), c, clk)
}

// runIn is runInside with its store in a folder.
func runIn(t *testing.T, dir string, c config, clk *clock) (a *agent.Agent, stop func()) {
	t.Helper()
	cfg, err := configs.Parse("trial.toml", []byte(c.text(dir)), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	log := &safeLog{}
	a, err = agent.Open(agent.Options{Config: cfg, BuildDate: time.Unix(t0, 0).AddDate(0, 0, -1), Logger: slog.New(slog.NewTextHandler(log, nil)),
		Clock: agent.Clock{Now: clk.now, Synchronised: func() bool { return !clk.unsynced.Load() }}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("agent: %v", err)
		}
		if t.Failed() {
			t.Log(log.text.String())
		}
	})
	t.Cleanup(stop)
	return a, stop
}

// awaitInside asks an agent in this process until ok says true.
func awaitInside(t *testing.T, a *agent.Agent, what string, ok func(status.Report) bool) status.Report {
	t.Helper()
	var r status.Report
	testbed.WaitFor(t, soon, what, func() bool {
		var err error
		r, err = a.Status(t.Context())
		return err == nil && ok(r)
	})
	return r
}

// TestF2Steps steps the gateway's wall clock while readings of the true time come and a point waits for the server. No
// reading is late or of the future, no window is sent twice or never, and attempts go on at the pace of elapsed time.
func TestF2Steps(t *testing.T) {
	t.Parallel()
	b, s, clk := testbed.StartMosquitto(t, testbed.MosquittoOptions{}), newServer(t), &clock{}
	tap := testbed.StartTapProxy(t, b.Addr())
	c := config{broker: tap.URL(), uplink: v1(s.URL, "edge"), future: "2m"} // and clock = "auto"
	s.refuse(true)
	a, stop := runInside(t, c, clk)
	testbed.WaitFor(t, soon, "the subscription", func() bool { return subscribed(tap) > 0 })
	p := newPublisher(t, b.URL())
	start := float64(time.Now().Unix()/300*300 - t0) // of the window of now
	p.at("s1", start-1200, 19)
	p.at("s1", start-1, 20)
	p.at("s1", start, 21) // the first is final and waits for the server
	received := func(n int) func(status.Report) bool {
		return func(r status.Report) bool { return r.Ledger.Received >= int64(n) && r.MQTT.Unacked == 0 }
	}
	awaitInside(t, a, "the first readings", received(3))
	for i, step := range []int64{-7200, 7200, 7200, -7200, -1, 1} {
		clk.offset.Add(step)
		p.at("s1", start+float64(i+1), 20)
		awaitInside(t, a, fmt.Sprintf("a reading after a step of %d s", step), received(4+i))
		before := s.requests()
		<-time.After(time.Second) // the longest wait between attempts is 500 ms
		if tried := s.requests() - before; tried < 1 || tried > 10 {
			t.Errorf("%d attempts in a second after a step of %d s", tried, step)
		}
	}
	s.refuse(false)
	r := awaitInside(t, a, "the point", delivered)
	if l := r.Ledger; l.Windowed != 9 || l.Received != 9 {
		t.Errorf("ledger %+v, want 9 windowed and nothing else", l)
	}
	balanced(t, r)
	stop()
	if got, want := s.lines(), []string{fmt.Sprintf("s1@%.0f max=19,count=1i", start-1200)}; len(got) != 1 || short(got[0]) != want[0] {
		t.Errorf("sent %q, want %q", got, want)
	}
	if c := tap.Conns(); c != 1 {
		t.Errorf("%d connections to the broker, want the first to hold", c)
	}
}

// TestF2Suspended stops the real agent for longer than the broker bears, and lets it go on: readings made meanwhile arrive,
// and each window once.
func TestF2Suspended(t *testing.T) {
	t.Parallel()
	l := newLine(t, testbed.MosquittoOptions{})
	l.mqtt = "keep_alive = \"1s\"\n"
	l.server.refuse(true)
	l.up()
	l.windows(0, 1)
	l.at("s1", 900, 20)
	testbed.WaitFor(t, soon, "the upload to wait", func() bool { return l.server.requests() > 1 })
	l.Signal(syscall.SIGSTOP)
	l.server.refuse(false)
	l.at("s1", 901, 21)           // into an open window
	l.at("s2", 10, 99)            // late
	<-time.After(3 * time.Second) // the broker bears half of that
	l.Signal(syscall.SIGCONT)
	l.at("s1", 2400, 22)
	r := l.await("all readings", func(r status.Report) bool { return r.Ledger.Windowed >= 14 && delivered(r) })
	if r.Ledger.Windowed != 14 || r.Ledger.Late != 1 {
		t.Errorf("ledger %+v, want 14 windowed, 1 late", r.Ledger)
	}
	balanced(t, r)
	want := []string{"z@900 max=30,count=1i", "s1@900 max=21,count=2i", "late_drops s2@900 count=1i,total=1i,max_lateness_s=891"}
	for s := range 10 {
		want = append(want, fmt.Sprintf("s%d@0 max=%d,count=1i", s, 20+s))
	}
	l.server.holds(want...)
	if got := l.server.lines(); len(got) != len(want) {
		t.Errorf("%d lines were sent, want %d, each once", len(got), len(want))
	}
	l.stop()
}
