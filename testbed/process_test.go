package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startChild runs the test binary as a program that behaves as how says.
func startChild(t TB, how string, args ...string) *Process {
	cmd := Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childEnv+"="+how)
	return Start(t, cmd, filepath.Join(t.TempDir(), "child.log"))
}

// startHanging returns when the child has had its first word: before that a signal could find no Go runtime.
func startHanging(t TB) *Process {
	p := startChild(t, "hang")
	WaitFor(t, startTimeout, "the child", func() bool { return p.Log() == "up\n" })
	return p
}

func TestProcessEnds(t *testing.T) {
	tests := []struct {
		name  string
		start func(t TB) *Process
		end   func(p *Process) (int, bool)
		code  int
		ok    bool
	}{
		{"by itself", func(t TB) *Process { return startChild(t, "exit 3") }, func(p *Process) (int, bool) { return p.Wait(startTimeout) }, 3, true},
		{"by SIGTERM", startHanging, func(p *Process) (int, bool) { return p.Terminate(startTimeout) }, -1, true},
		{"by SIGKILL", startHanging, func(p *Process) (int, bool) { p.Kill(); return p.Wait(startTimeout) }, -1, true},
		{"not in time", startHanging, func(p *Process) (int, bool) { return p.Wait(time.Millisecond) }, -1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.start(t)
			code, ok := tt.end(p)
			if code != tt.code || ok != tt.ok {
				t.Errorf("ended with %d, %v; want %d, %v", code, ok, tt.code, tt.ok)
			}
			if p.Running() || p.State() == nil {
				t.Error("the process still runs")
			}
		})
	}
}

func TestProcessIsCleanedUp(t *testing.T) {
	f := &fakeTB{T: t, failed: true}
	var p *Process
	f.run(func(t TB) { p = startHanging(t) })
	if p.Running() {
		t.Error("the process outlived its test")
	}
	if len(f.logs) != 1 || !strings.HasSuffix(f.logs[0], "child.log:\nup") {
		t.Errorf("the failed test shows %q, want the log once", f.logs)
	}
}

func TestCommandPrefix(t *testing.T) {
	t.Setenv("EDGEAGENT_TEST_EXEC", os.Args[0]+" emulate")
	p := startChild(t, "exit 3", "run")
	if _, ok := p.Wait(startTimeout); !ok {
		t.Fatal("the child hangs")
	}
	if want := "args: emulate " + os.Args[0] + " run"; p.LogTail(1) != want {
		t.Errorf("log %q, want %q", p.LogTail(1), want)
	}
}

func TestStartAgent(t *testing.T) {
	p := StartAgent(t, os.Args[0], "edge.toml", childEnv+"=exit 3")
	if code, ok := p.Wait(startTimeout); code != 3 || !ok {
		t.Errorf("ended with %d, %v; want 3, true", code, ok)
	}
	if want := "args: run -c edge.toml"; p.LogTail(1) != want {
		t.Errorf("log %q, want %q", p.LogTail(1), want)
	}
}

func TestBuild(t *testing.T) {
	bin := Build(t)
	cmd := Command(bin, "version")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s version: %v\n%s", bin, err, out)
	}
	if again := Build(t); again != bin {
		t.Errorf("the second Build gave %s, want %s", again, bin)
	}
}
