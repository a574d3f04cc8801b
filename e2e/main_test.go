package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"edgeagent/testbed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Deadlines. They are generous: the machine may be a loaded two-core one.
const (
	soon     = 30 * time.Second  // for what takes moments
	inTheEnd = 120 * time.Second // for all readings to arrive at the server
	askEvery = 100 * time.Millisecond
)

// pause waits for a random moment within most: the time of a kill. It tests nothing that has to be over by then.
func pause(rng *rand.Rand, most time.Duration) {
	<-time.After(time.Duration(rng.Int64N(int64(most))))
}

// waitFor asks ok until it says true, and fails the test after limit; what completes "waited for …", and last, if not
// nil, tells what was seen last.
func waitFor(t *testing.T, limit time.Duration, what string, last func() string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			seen := ""
			if last != nil {
				seen = "; last seen: " + last()
			}
			t.Fatalf("waited %v for %s%s", limit, what, seen)
		}
	}
}

// A program is how edgeagent is started: its path, with an emulator in front if it needs one.
type program []string

// native is the program for this machine.
func native(t *testing.T) program {
	t.Helper()
	return program{testbed.Build(t)}
}

func (p program) command(args ...string) *exec.Cmd {
	all := append(append([]string(nil), p[1:]...), args...)
	return exec.Command(p[0], all...)
}

// output runs a command to its end and returns what it printed and its exit code.
func (p program) output(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := p.command(args...)
	out, errs := new(logText), new(logText)
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
