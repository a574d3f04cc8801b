package testbed

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tailLines is how much of a log a failed test shows.
const tailLines = 40

// A Process is a program that runs for a test. Its standard output and error go to one log file.
type Process struct {
	log  string
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended and been waited for
}

// Command is exec.Command, but for a program of another architecture: $EDGEAGENT_TEST_EXEC, if set (for instance to
// qemu-arm-static), is put in front of it.
func Command(bin string, args ...string) *exec.Cmd {
	prefix := strings.Fields(os.Getenv("EDGEAGENT_TEST_EXEC"))
	argv := append(append(prefix, bin), args...)
	return exec.Command(argv[0], argv[1:]...)
}

// Start runs cmd for the test t, and kills it when the test ends if it still runs then. The log is appended to if the
// file is there already.
func Start(t TB, cmd *exec.Cmd, log string) *Process {
	t.Helper()
	showLog(t, log)
	p, err := start(t, cmd, log)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

func start(t TB, cmd *exec.Cmd, log string) (*Process, error) {
	name := filepath.Base(cmd.Path)
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	defer f.Close()
	cmd.Stdout, cmd.Stderr = f, f
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{log: log, cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait() // how it ended is in cmd.ProcessState
		close(p.done)
	}()
	t.Cleanup(p.Kill)
	return p, nil
}

// showLog has the last lines of a log in the output of a test that fails. It is called once per log, before the first
// process that writes it starts, and so runs when the last one is gone.
func showLog(t TB, log string) {
	t.Cleanup(func() {
		if text, err := os.ReadFile(log); err == nil && t.Failed() {
			t.Logf("last lines of %s:\n%s", filepath.Base(log), tail(string(text), tailLines))
		}
	})
}

// Pid is the process id. It is meaningless once Done is closed.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Kill ends the process with SIGKILL, as a power cut would, and waits until it is gone. It may be called again.
func (p *Process) Kill() {
	p.cmd.Process.Kill() // an error means that it has ended
	<-p.done
}

// Signal sends sig. It does nothing once the process has ended.
func (p *Process) Signal(sig os.Signal) { p.cmd.Process.Signal(sig) }

// Terminate asks the process to stop with SIGTERM and returns its exit code, or false after killing it when it has not
// ended within timeout.
func (p *Process) Terminate(timeout time.Duration) (code int, ok bool) {
	p.Signal(syscall.SIGTERM)
	return p.Wait(timeout)
}

// Wait waits for the end of the process and returns its exit code, -1 if a signal ended it. After timeout it kills the
// process and returns false.
func (p *Process) Wait(timeout time.Duration) (code int, ok bool) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode(), true
	case <-timer.C:
		p.Kill()
		return -1, false
	}
}

// State tells what an ended process used: CPU time and resources. It is nil while the process runs.
func (p *Process) State() *os.ProcessState {
	if p.Running() {
		return nil
	}
	return p.cmd.ProcessState
}

// Log is all that the process has written so far, "" if nothing can be read.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	return string(text)
}

// LogTail is the last n lines of the log.
func (p *Process) LogTail(n int) string { return tail(p.Log(), n) }
