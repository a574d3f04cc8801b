package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
	"edgeagent/testbed"
)

// aConfig writes a configuration whose data folder is dir.
func aConfig(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "edgeagent.toml")
	text := fmt.Sprintf("[gateway]\nid = \"gw\"\n[[source]]\ntopic = \"s/{sensor}\"\n[buffer]\ndir = %q\n[uplink]\nurl = \"http://127.0.0.1:1\"\napi = \"v1\"\ndatabase = \"edge\"\n", dir)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fakeAgent answers on the control socket of dir with what report gives.
func fakeAgent(t *testing.T, dir string, report func() status.Report) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- status.ServeSocket(ctx, agent.SocketPath(dir), func(context.Context) (status.Report, error) { return report(), nil })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	testbed.WaitFor(t, 10*time.Second, "the socket", func() bool {
		_, err := status.Ask(ctx, agent.SocketPath(dir))
		return err == nil
	})
}

func wellReport() status.Report {
	return status.Report{Gateway: "gw", Version: "1.0.0", Clock: status.Clock{Now: "2026-03-01T14:03:00Z", Trusted: true},
		MQTT:   status.MQTT{Connected: true, Broker: "tcp://127.0.0.1:1883"},
		Ledger: status.Ledger{Received: 5, Windowed: 5, Balanced: true}, Points: status.Points{Balanced: true}, Uplink: status.Uplink{State: "idle"}}
}

// The exit code says whether the agent is healthy.
func TestStatusExitCodes(t *testing.T) {
	dir := t.TempDir()
	config := aConfig(t, dir)
	if code, out, errs := command(t, "status", "-c", config); code != exitFailed || out != "" || !strings.HasPrefix(errs, "error: no agent is running here") {
		t.Errorf("no agent: %d, %q, %q", code, out, errs)
	}
	var ill atomic.Bool
	fakeAgent(t, dir, func() status.Report {
		r := wellReport()
		if ill.Load() {
			r.Buffer.Error = "no space left on device"
		}
		return r
	})
	if code, out, errs := command(t, "status", "-c", config); code != exitDone || errs != "" || !strings.Contains(out, "All is well.") {
		t.Errorf("well: %d, %q, %q", code, out, errs)
	}
	code, out, errs := command(t, "status", "-c", config, "--json")
	var r status.Report
	if err := json.Unmarshal([]byte(out), &r); code != exitDone || errs != "" || err != nil || r.Ledger.Received != 5 {
		t.Errorf("as JSON: %d, %v, %+v, %q", code, err, r, errs)
	}
	ill.Store(true)
	if code, out, errs := command(t, "status", "-c", config); code != exitFailed || errs != "" || !strings.Contains(out, "WRONG") || !strings.Contains(out, "no space left") {
		t.Errorf("ill: %d, %q, %q", code, out, errs)
	}
	for _, args := range [][]string{{"status", "--nonsense"}, {"status", "-c", "/nonexistent"}, {"status", "-c", config, "--sort", "x"},
		{"status", "-c", config, "--sort", "late"}, {"status", "-c", config, "--find", "a"}, {"status", "-c", config, "--reverse"}} {
		if code, _, errs := command(t, args...); code != exitUsage {
			t.Errorf("%v: exit code %d (%s), want %d", args, code, errs, exitUsage)
		}
	}
}

// --watch ends, when it is interrupted, with the code of its last look.
func TestStatusWatch(t *testing.T) {
	for name, ill := range map[string]bool{"well": false, "ill": true} {
		dir := t.TempDir()
		fakeAgent(t, dir, func() status.Report {
			r := wellReport()
			r.Ledger.Balanced = !ill
			return r
		})
		var out, errs bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		code := run(ctx, []string{"status", "-c", aConfig(t, dir), "--watch"}, streams{strings.NewReader(""), &cutter{&out, cancel}, &errs})
		want := map[bool]int{false: exitDone, true: exitFailed}[ill]
		if code != want || errs.Len() > 0 || !strings.HasPrefix(out.String(), "edgeagent gw, version 1.0.0") {
			t.Errorf("%s: exit code %d, want %d; %q, %q", name, code, want, out.String(), errs.String())
		}
	}
	var out, errs bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	code := run(ctx, []string{"status", "-c", aConfig(t, t.TempDir()), "--watch"}, streams{strings.NewReader(""), &cutter{&out, cancel}, &errs})
	if code != exitFailed || errs.Len() > 0 || !strings.Contains(out.String(), "no agent is running here") {
		t.Errorf("no agent: exit code %d, %q, %q", code, out.String(), errs.String())
	}
}

// With --json standard output carries nothing but JSON values, one a look, though nobody answers: what is wrong is in it, and once in words on
// standard error.
func TestStatusWatchJSON(t *testing.T) {
	for _, flags := range [][]string{{"--json"}, {"--json", "--sensors"}} {
		var out, errs bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		args := append([]string{"status", "-c", aConfig(t, t.TempDir()), "--watch"}, flags...)
		code := run(ctx, args, streams{strings.NewReader(""), &cutter{&out, cancel}, &errs})
		var got struct{ Time, Error string }
		d := json.NewDecoder(&out)
		d.DisallowUnknownFields()
		err := d.Decode(&got)
		if code != exitFailed || err != nil || !strings.HasPrefix(got.Error, "no agent is running here") || d.More() {
			t.Errorf("%v: exit code %d, %+v, %v", flags, code, got, err)
		}
		if at, err := time.Parse(time.RFC3339, got.Time); err != nil || time.Since(at) > time.Hour {
			t.Errorf("%v: time %q", flags, got.Time)
		}
		if got := errs.String(); !strings.HasPrefix(got, "error: no agent is running here") || strings.Count(got, "\n") != 1 {
			t.Errorf("%v: on standard error %q", flags, got)
		}
	}
}

// A cutter interrupts after the first write.
type cutter struct {
	out    *bytes.Buffer
	cancel func()
}

func (c *cutter) Write(b []byte) (int, error) {
	defer c.cancel()
	return c.out.Write(b)
}

func TestFrame(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		rows       int
		want       string
	}{
		{"fits", "a\nb\n", 24, "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J"},
		{"fits just", "a\nb\n", 2, "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J"},
		{"too long", "a\nb\nc\n", 2, "\x1b[Ha\x1b[K\r\n… 2 more lines: make the window larger\x1b[K\x1b[J"},
		{"unknown size", "a\nb\nc\n", 0, "\x1b[Ha\x1b[K\r\nb\x1b[K\r\nc\x1b[K\x1b[J"},
		{"nothing", "", 24, "\x1b[H\x1b[K\x1b[J"},
	} {
		if got := string(frame([]byte(tt.text), tt.rows)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
