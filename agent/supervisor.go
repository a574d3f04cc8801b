package agent

import (
	"fmt"
	"log/slog"
	"time"

	"edgeagent/uplink"
)

// A Supervisor is the service manager that started the process, as the agent sees it. The zero Supervisor is none.
type Supervisor struct {
	// Notify hands one message of sd_notify(3) over, without waiting for an answer. nil: nobody listens.
	Notify func(state string) error
	// Watchdog is how long the manager waits for a sign of life before it ends the process. 0: it waits for none.
	Watchdog time.Duration
}

// supervised is what the run loop has told its Supervisor. Only the loop itself feeds the watchdog, so one that hangs
// starves it.
type supervised struct {
	Supervisor
	log    *slog.Logger
	told   string        // the last status line
	feedAt time.Duration // Up
	failed bool          // a message was not taken, which is logged once
}

// ready says that the store is open and the loop runs.
func (s *supervised) ready(line string) {
	s.told = line
	s.send("READY=1\nSTATUS=" + line)
}

// alive feeds the watchdog, four times in its period, and tells a status line that has changed.
func (s *supervised) alive(up time.Duration, line string) {
	state := ""
	if s.Watchdog > 0 && up >= s.feedAt {
		s.feedAt = up + s.Watchdog/4
		state = "WATCHDOG=1\n"
	}
	if line != s.told {
		s.told = line
		state += "STATUS=" + line
	}
	if state != "" {
		s.send(state)
	}
}

// stopping says that the end has begun.
func (s *supervised) stopping() { s.send("STOPPING=1\nSTATUS=stopping") }

func (s *supervised) send(state string) {
	if s.Notify == nil {
		return
	}
	err := s.Notify(state)
	if err != nil && !s.failed {
		s.log.Warn("service manager cannot be told how the agent is; it may end it", "error", err)
	}
	s.failed = err != nil
}

// statusLine is what `systemctl status` shows: broker, uplinks and queues, and what else is wrong.
func (a *Agent) statusLine() string {
	line := "broker " + word(a.client.State().Connected, "connected", "not connected")
	books := a.store.Books()
	for i, l := range a.links {
		up := l.uplink.Status()
		name := "uplink"
		if len(a.links) > 1 {
			name += " " + l.name
		}
		line += ", " + name + " " + up.State
		if up.State != uplink.StateUp && up.State != uplink.StateIdle {
			line += " since " + rfc3339(up.Since)
		}
		line += ", queued " + fmt.Sprint(books[i].Points.Queued)
	}
	if !a.trusted {
		line += ", clock not trusted"
	}
	if a.commits.failing() {
		line += ", STORE CANNOT BE WRITTEN"
	}
	return line
}
