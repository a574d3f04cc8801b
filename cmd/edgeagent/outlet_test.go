package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Output that goes nowhere is a failure of the command, with one error line that says what to do: never a wrong command line, never exit code 0.
func TestOutputThatGoesNowhere(t *testing.T) {
	dir := t.TempDir()
	config := aConfig(t, dir)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, append(text, "[mqtt]\nbrokers = [\"tcp://127.0.0.1:1\"]\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	fakeAgent(t, dir, wellReport)
	line := `{"topic":"s/a","payload":21.5,"time":"2026-11-29T10:00:00Z"}` + "\n"
	for _, c := range []struct {
		args []string
		in   string
	}{
		{args: []string{"--help"}},
		{args: []string{"buffer", "--help"}},
		{args: []string{"status", "--help"}},
		{args: []string{"version"}},
		{args: []string{"man"}},
		{args: []string{"completion", "bash"}},
		{args: []string{"check", "-c", config}},
		{args: []string{"status", "-c", config}},
		{args: []string{"status", "-c", config, "--json"}},
		{args: []string{"status", "-c", config, "--watch"}},
		{args: []string{"doctor", "-c", config, "--listen", "0s"}},
		{args: []string{"support", "-c", config, "--listen", "0s", "--out", "-"}},
		{args: []string{"try", "-c", config}, in: line},
		{args: []string{"try", "-c", config, "--json"}, in: line},
		{args: []string{"replay", "-c", config, "--close"}, in: line},
	} {
		var errs bytes.Buffer
		full := fmt.Errorf("write /dev/stdout: %w", syscall.ENOSPC)
		code := run(t.Context(), c.args, streams{strings.NewReader(c.in), writerFunc(func([]byte) (int, error) { return 0, full }), &errs})
		got := errs.String()
		if code != exitFailed || strings.Count(got, "error: ") != 1 || !strings.Contains(got, "no space left on device") || !strings.Contains(got, "run this again") {
			t.Errorf("%v: exit code %d, %s", c.args, code, got)
		}
	}
}

// writerFunc is a writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// What else went wrong is not hidden behind the output.
func TestOutletJudges(t *testing.T) {
	lost := errors.New("lost")
	other := errors.New("the store is locked")
	for _, c := range []struct {
		name string
		err  error
		want error // errors.Is
	}{
		{"nothing else", nil, lost},
		{"the same", fmt.Errorf("write status: %w", lost), lost},
		{"an exit code", exitCode(1), lost},
		{"help", usageError{other}, lost},
		{"another", other, other},
	} {
		o := &outlet{to: writerFunc(func([]byte) (int, error) { return 0, lost })}
		_, _ = o.Write([]byte("x"))
		if got := o.judge(c.err); !errors.Is(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	well := &outlet{to: new(bytes.Buffer)}
	_, _ = well.Write([]byte("x"))
	if got := well.judge(other); got != other {
		t.Errorf("an outlet that took all: %v", got)
	}
}
