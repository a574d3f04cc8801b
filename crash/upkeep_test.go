package crash

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/sim"
	"edgeagent/testbed"
)

// A said is how a command ended and what it printed, standard error included.
type said struct {
	code int
	text string
}

// buffer runs "edgeagent buffer" with the gateway's configuration.
func (g *gateway) buffer(args ...string) said { return <-g.begin(args...) }

// begin is buffer for a command that goes on while the test does something else.
func (g *gateway) begin(args ...string) <-chan said {
	cmd := testbed.Command(g.bin, append([]string{"buffer", args[0], "-c", g.conf}, args[1:]...)...)
	ended := make(chan said, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			out = append(out, err.Error()...)
		}
		ended <- said{cmd.ProcessState.ExitCode(), string(out)}
	}()
	return ended
}

// wants fails the test unless a command ended with code and said all of parts.
func (s said) wants(t *testing.T, code int, parts ...string) {
	t.Helper()
	missing := slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(s.text, part) })
	if s.code != code || missing {
		t.Errorf("exit code %d, %q; want %d and %q", s.code, s.text, code, parts)
	}
}

// temps are the files in the data folder that are not whole yet.
func (g *gateway) temps() []string {
	list, _ := filepath.Glob(filepath.Join(g.dir, "edgeagent.db.tmp-*")) // the pattern is right
	return list
}

// ballast puts about 16 MiB of rejected messages into a store, and as many free pages, so that it takes a while to compact it.
func ballast(t *testing.T, dir string) {
	t.Helper()
	s, err := buffer.Open(buffer.Options{Dir: dir, RejectedRing: 16 << 20, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		var b buffer.Batch
		for range 600 {
			b.Rejected = append(b.Rejected, buffer.Raw{Topic: "ballast", Payload: make([]byte, 1000)})
		}
		if _, err := s.Commit(&b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// compacting begins a compaction and returns when it is at work, or has ended.
func (w *world) compacting() <-chan said {
	w.t.Helper()
	w.awaitUp()
	ended := w.begin("compact")
	testbed.WaitFor(w.t, soon, "the compaction to begin", func() bool { return len(w.temps()) > 0 || len(ended) > 0 })
	return ended
}

// TestUpkeep checks and compacts the store of a running agent, while a fleet publishes and the server comes and goes: with other commands at the same time, with the
// agent stopped for longer than its keep-alive in the middle of it, and with the agent killed in the middle of it. In the end the books must be those
// of an agent that was left in peace.
func TestUpkeep(t *testing.T) {
	t.Parallel()
	kills := 4
	if long() {
		kills = 50
	}
	c := config{mqtt: "keep_alive = \"2s\"\n", buffer: "commit_interval = \"300ms\"\nrejected_ring = \"16MiB\"\n"}
	w := newWorldOn(t, testbed.MosquittoOptions{MaxInflight: 20, Persistence: true, Conf: []string{"max_keepalive 10"}}, c,
		func(dir string) { ballast(t, dir) })
	w.publishFleet(sim.FleetParams{Sensors: 12, Rate: 1, Start: fleetStart.UnixNano(), Seed: w.rng.Uint64(), Late: 0.06, Repeat: 0.04, Bad: 0.02}, 150)
	w.commandsAtOnce()
	w.compactFrozen()
	cut := 0
	for range kills {
		if w.compactKilled() {
			cut++
		}
	}
	if cut == 0 {
		t.Error("no kill met a compaction half-way")
	}
	if !w.server.Running() {
		w.toggleServer()
	}
	w.buffer("compact").wants(t, 0, "KiB before, ")
	w.finish()
	w.buffer("check").wants(t, 0, "sound")
	t.Logf("%d of %d kills met a compaction half-way", cut, kills)
}

// commandsAtOnce compacts beside all else that an operator may ask for, with the server away and with it there.
func (w *world) commandsAtOnce() {
	w.t.Helper()
	w.buffer("check").wants(w.t, 0, "sound, as of a commit of the running agent")
	for range 2 {
		w.toggleServer()
		first, second := w.compacting(), w.begin("compact")
		others := []<-chan said{w.begin("stats"), w.begin("export", "-"), w.begin("requeue", "--all"), w.begin("readmit", "--dry-run")}
		alone := []<-chan said{w.begin("rewind", "--to", "2026-01-01T00:00:00Z"), w.begin("export", "--all", "-"), w.begin("salvage", w.conf)}
		(<-first).wants(w.t, 0, "KiB before, ")
		if s := <-second; s.code != 0 && !strings.Contains(s.text, "being checked or compacted already") {
			w.t.Errorf("a second compaction: exit code %d, %q", s.code, s.text)
		}
		for _, ended := range others {
			(<-ended).wants(w.t, 0)
		}
		for _, ended := range alone {
			(<-ended).wants(w.t, 1, "needs the store to itself: stop the agent first (systemctl stop edgeagent)")
		}
	}
}

// compactFrozen stops the agent in the middle of a compaction for so long that the broker gives its connection up.
func (w *world) compactFrozen() {
	w.t.Helper()
	ended := w.compacting()
	w.tap.Refuse()
	w.signal(syscall.SIGSTOP)
	rest(4 * time.Second)
	w.signal(syscall.SIGCONT)
	(<-ended).wants(w.t, 0, "KiB before, ") // before that the agent does not judge what it has taken
	w.isolate("frozen while compacting", w.tap.Cut)
	w.tap.Accept()
}

// compactKilled kills the agent in the middle of a compaction, tries the commands on the store that it leaves, with its control socket, and starts it
// again. It reports whether the kill met the compaction half-way.
func (w *world) compactKilled() (half bool) {
	w.t.Helper()
	ended := w.compacting()
	pause(w.rng, 100*time.Millisecond)
	w.killNow(func() {
		half = len(w.temps()) > 0
		if w.rng.IntN(2) == 0 {
			w.buffer("stats").wants(w.t, 0, "queued")
			w.buffer("check").wants(w.t, 0, "sound\n")
		}
	})
	if s := <-ended; half == (s.code == 0) {
		w.t.Errorf("killed half-way %v: exit code %d, %q", half, s.code, s.text)
	}
	w.awaitUp()
	if left := w.temps(); len(left) > 0 {
		w.t.Errorf("the start left %v", left)
	}
	return half
}
