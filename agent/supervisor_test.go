package agent

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"edgeagent/configs"
)

// TestFeeding follows a loop by the second: fed four times in the watchdog's period, and told of changes only.
func TestFeeding(t *testing.T) {
	var told []string
	s := supervised{Supervisor: Supervisor{Watchdog: 20 * time.Second, Notify: func(state string) error {
		told = append(told, strings.ReplaceAll(state, "\n", " "))
		return nil
	}}}
	s.ready("calm")
	for _, step := range []struct {
		up   time.Duration
		line string
	}{{1, "calm"}, {2, "calm"}, {5, "calm"}, {6, "rough"}, {7, "rough"}, {11, "calm"}, {12, "calm"}} {
		s.alive(step.up*time.Second, step.line)
	}
	s.stopping()
	want := "READY=1 STATUS=calm|WATCHDOG=1 |WATCHDOG=1 STATUS=rough|WATCHDOG=1 STATUS=calm|STOPPING=1 STATUS=stopping"
	if got := strings.Join(told, "|"); got != want {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestUnheard: a manager that cannot be told is logged once, and again after it was heard.
func TestUnheard(t *testing.T) {
	var log strings.Builder
	fails := true
	s := supervised{log: slog.New(slog.NewTextHandler(&log, nil)), Supervisor: Supervisor{Watchdog: time.Second, Notify: func(string) error {
		if fails {
			return errors.New("gone")
		}
		return nil
	}}}
	s.ready("x")
	s.alive(time.Second, "x")
	if n := strings.Count(log.String(), "error=gone"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	fails = false
	s.alive(2*time.Second, "x")
	fails = true
	s.alive(3*time.Second, "x")
	if n := strings.Count(log.String(), "error=gone"); n != 2 {
		t.Errorf("logged %d times in all:\n%s", n, log.String())
	}
}

const idleConfig = `[gateway]
id = "gw"
[mqtt]
brokers = ["tcp://127.0.0.1:1"]
[[source]]
topic = "a/{sensor}"
[uplink]
url = "http://127.0.0.1:1"
database = "d"
[http]
listen = ""
`

// TestHungLoopIsNotFed: when the run loop hangs, while the rest of the process is well, nothing feeds the watchdog.
func TestHungLoopIsNotFed(t *testing.T) {
	t.Parallel()
	cfg, err := configs.Parse("t.toml", []byte(idleConfig), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Buffer.Dir = t.TempDir()
	told := make(chan string, 100)
	a, err := Open(Options{Config: cfg, Logger: slog.New(slog.DiscardHandler), Supervisor: Supervisor{Watchdog: time.Second,
		Notify: func(state string) error { told <- state; return nil }}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	fed := func(within time.Duration) bool {
		limit := time.After(within)
		for {
			select {
			case state := <-told:
				if strings.Contains(state, "WATCHDOG=1") {
					return true
				}
			case <-limit:
				return false
			}
		}
	}
	if !fed(time.Minute) {
		t.Error("a loop that runs does not feed the watchdog")
	}
	hangs, goOn := make(chan struct{}), make(chan struct{})
	go func() { _ = a.do(ctx, func() error { close(hangs); <-goOn; return nil }) }()
	<-hangs
	for len(told) > 0 {
		<-told
	}
	if fed(3 * tick) {
		t.Error("a loop that hangs feeds the watchdog")
	}
	close(goOn)
	if !fed(time.Minute) {
		t.Error("the loop goes on and does not feed the watchdog")
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("stop: %v", err)
	}
}
