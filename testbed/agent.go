package testbed

import (
	"os"
	"path/filepath"
)

// StartAgent runs `BIN run -c CONFIG` with the test's environment and the NAME=VALUE pairs of env, and returns at once:
// wait for what the test needs, for instance a line of Log. It ends with the test.
func StartAgent(t TB, bin, config string, env ...string) *Process {
	t.Helper()
	cmd := Command(bin, "run", "-c", config)
	cmd.Env = append(os.Environ(), env...)
	return Start(t, cmd, filepath.Join(t.TempDir(), "edgeagent.log"))
}
