package testbed

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Build compiles ./cmd/edgeagent once per test process and returns the path of the program, with the race detector if
// the test itself has it, and for the machine that the test itself is for: an ARMv6 unless $GOARM says otherwise.
// $EDGEAGENT_BINARY, if set, is returned in its place. The program stays in the checkout's ignored dist folder, where the
// next run replaces it.
func Build(t TB) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatalf("build edgeagent: %v", err)
	}
	return bin
}

var build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("EDGEAGENT_BINARY"); bin != "" {
		return filepath.Abs(bin)
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "dist", "testbed", runtime.GOARCH)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make folder: %w", err)
	}
	bin, args := filepath.Join(dir, "edgeagent"), []string{"build", "-buildvcs=false"}
	if raceEnabled {
		bin, args = bin+"-race", append(args, "-race")
	}
	// Another test process may do the same now: a file of our own takes the name when it is whole.
	temp := fmt.Sprintf("%s.%d", bin, os.Getpid())
	defer os.Remove(temp)
	cmd := exec.Command("go", append(args, "-o", temp, "./cmd/edgeagent")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOARCH="+runtime.GOARCH, "GOARM="+cmp.Or(os.Getenv("GOARM"), "6"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, os.Rename(temp, bin)
})

// moduleRoot is the folder of the go.mod above the working folder.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find go.mod: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
