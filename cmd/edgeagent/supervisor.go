package main

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"

	"edgeagent/agent"
)

// supervisor is systemd, or whatever else set $NOTIFY_SOCKET, and $WATCHDOG_USEC if it wants signs of life.
func supervisor(log *slog.Logger) agent.Supervisor {
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("$WATCHDOG_USEC or $WATCHDOG_PID cannot be read; no signs of life are sent", "error", err)
		every = 0
	}
	return agent.Supervisor{Watchdog: every, Notify: func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}}
}
