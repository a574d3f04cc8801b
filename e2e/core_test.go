package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoCore ends the agent by signals that make other programs leave their memory behind, and with it the secrets in it.
func TestNoCore(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGABRT, syscall.SIGQUIT, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			leavesNoCore(t, sig)
		})
	}
}

func leavesNoCore(t *testing.T, sig syscall.Signal) {
	t.Helper()
	home := t.TempDir()
	token := filepath.Join(home, "token")
	writeFile(t, token, secretToken+"\n")
	g := newGateway(t, native(t), config{broker: "tcp://127.0.0.1:1", uplink: v2("http://127.0.0.1:1", "b") + "token_file = \"" + token + "\"\nhealth_interval = \"1s\"\n"})
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -c unlimited; exec "$@"`, "sh"}, g.prog.command("run", "-c", g.conf).Args...)...)
	var log logText
	cmd.Stderr, cmd.Dir = &log, home
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	waitFor(t, soon, "the uplink to have tried", log.String, func() bool {
		r, ok := g.status()
		return ok && r.Uplink.LastError != ""
	})
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.CoreDump() || !s.Exited() {
		t.Errorf("%v: ended as %v, want an exit without a core", sig, cmd.ProcessState)
	}
	if cores, _ := filepath.Glob(filepath.Join(home, "core*")); len(cores) > 0 || strings.Contains(log.String(), secretToken[:9]) {
		t.Errorf("%v: left %v, and said\n%s", sig, cores, log.String())
	}
}
