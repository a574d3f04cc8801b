package testbed

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// TB is what the testbed asks of a test: *testing.T and *testing.B have it, and so can a program that is no test.
type TB interface {
	Helper()
	Cleanup(func())
	TempDir() string
	Failed() bool
	Logf(format string, args ...any)
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// startTimeout is how long a server may take until it answers, on a small board under load too.
const startTimeout = 60 * time.Second

// Need finds a program in $PATH or in the bin folder of $GOPATH and returns its path. Without it the test is skipped, or
// failed when CI=true, so that a machine that should have it cannot pass by lacking it.
func Need(t TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, dir := range append(goBins(), "/usr/sbin") { // Debian keeps mosquitto there, outside a user's $PATH
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed: scripts/test.sh installs what the tests need", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// goBins lists where `go install` puts programs.
func goBins() []string {
	var bins []string
	gopath := os.Getenv("GOPATH")
	if gopath == "" {
		if home, err := os.UserHomeDir(); err == nil {
			gopath = filepath.Join(home, "go")
		}
	}
	for _, dir := range filepath.SplitList(gopath) {
		bins = append(bins, filepath.Join(dir, "bin"))
	}
	return bins
}

// WaitFor asks ok every 20 ms until it says true, and fails the test after timeout; what completes the sentence
// "waited 5s for …". It is for processes, which have no channel to wait on.
func WaitFor(t TB, timeout time.Duration, what string, ok func() bool) {
	t.Helper()
	if err := poll(timeout, what, ok); err != nil {
		t.Fatalf("%v", err)
	}
}

func poll(timeout time.Duration, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waited %v for %s", timeout, what)
		}
	}
	return nil
}

// tail is the last n lines of text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
