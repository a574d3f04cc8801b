package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"edgeagent/sim"
)

// A replay is a series of runs of `edgeagent replay` on one store.
type replay struct {
	t      *testing.T
	prog   program
	conf   string
	state  string
	ledger string
	out    []byte // all that was printed
}

func newReplay(t *testing.T, prog program, conf string) *replay {
	t.Helper()
	home := t.TempDir()
	return &replay{t: t, prog: prog, conf: conf, state: filepath.Join(home, "state"), ledger: filepath.Join(home, "ledger.json")}
}

func (r *replay) command(files ...string) *exec.Cmd {
	return r.prog.command(append([]string{"replay", "-c", r.conf, "--state", r.state, "--ledger", r.ledger}, files...)...)
}

// run replays files to their end.
func (r *replay) run(files ...string) {
	r.t.Helper()
	cmd := r.command(files...)
	var errs logText
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("replay: %v\n%s", err, errs.String())
	}
	r.out = append(r.out, out...)
}

// A cut says when a run is killed: after some time, or when it has printed so many lines. With a feed it gets no more
// than the first so many lines of it until then.
type cut struct {
	after time.Duration
	lines int
	feed  [][]byte
}

// runCut starts a replay and kills it at the cut. It reports whether the run came to its end before that.
func (r *replay) runCut(c cut, files ...string) bool {
	r.t.Helper()
	cmd := r.command(files...)
	var errs logText
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if c.feed != nil {
		in, err := cmd.StdinPipe()
		if err != nil {
			r.t.Fatal(err)
		}
		defer in.Close()
		go in.Write(bytes.Join(c.feed, nil)) // ends with the process
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	kill := time.AfterFunc(c.after, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	r.take(out, c.lines, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != -1) {
		r.t.Fatalf("replay: %v\n%s", err, errs.String())
	}
	return err == nil
}

// take collects whole lines, and calls enough after n of them. What comes after a kill counts too: it was printed.
func (r *replay) take(out io.Reader, n int, enough func()) {
	lines := bufio.NewReader(out)
	for i := 1; ; i++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return // a torn line is as if not printed
		}
		r.out = append(r.out, line...)
		if i == n {
			enough()
		}
	}
}

// result is what was printed, and the ledger of the last run that came to its end.
func (r *replay) result() ([]sim.Line, sim.Ledger) {
	r.t.Helper()
	return decode(r.t, r.out), readLedger(r.t, r.ledger)
}

func readLedger(t *testing.T, name string) sim.Ledger {
	t.Helper()
	var l sim.Ledger
	if err := json.Unmarshal(readFile(t, name), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// maxCuts bounds how often one replay is killed.
const maxCuts = 8

// runKilled replays files in one run that is killed several times at random moments, whole being how long it takes.
func (r *replay) runKilled(rng *rand.Rand, whole time.Duration, lines int, files ...string) (kills int) {
	r.t.Helper()
	for range maxCuts {
		c := cut{after: time.Duration(rng.Int64N(int64(whole) + 1)), lines: -1}
		if lines > 0 && rng.IntN(2) == 0 {
			c = cut{after: soon, lines: 1 + rng.IntN(lines)}
		}
		if r.runCut(c, files...) {
			return kills
		}
		kills++
	}
	r.run(files...)
	return kills
}

// runFed replays standard input, of which a run that is killed has got no more than a random part.
func (r *replay) runFed(rng *rand.Rand, whole time.Duration, feed [][]byte) {
	r.t.Helper()
	for range maxCuts {
		part := feed[:1+rng.IntN(len(feed))]
		if r.runCut(cut{after: time.Duration(rng.Int64N(int64(whole) + 1)), lines: -1, feed: part}) {
			r.t.Fatal("replay came to its end while its input was open")
		}
	}
	cmd := r.command("-")
	cmd.Stdin = bytes.NewReader(bytes.Join(feed, nil))
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("replay: %v", err)
	}
	r.out = append(r.out, out...)
}

// replayed is what replay makes of a record.
func replayed(t *testing.T, conf string, record []byte) (points, sim.Ledger) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "record.ndjson")
	writeFile(t, file, string(record))
	r := newReplay(t, native(t), conf)
	r.run(file)
	lines, ledger := r.result()
	return last(lines), ledger
}
