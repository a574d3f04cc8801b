package support

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"time"

	"edgeagent/agent"
	"edgeagent/logs"
	"edgeagent/status"
)

// Bounds of the log in the file.
const (
	logLines   = 200
	longLine   = 1024
	journalFor = 10 * time.Second
)

var (
	errNoConfig = errors.New("the configuration cannot be used, so it is not known where to look")
	errNoLog    = errors.New("the journal has nothing of the unit edgeagent, and no agent runs here that could tell its last lines")
)

// writeLog writes the last lines of the journal, which go back over restarts, or else those that the running agent remembers.
func writeLog(ctx context.Context, w io.Writer, o Options) error {
	text := journal(ctx)
	if text == "" && o.Config != nil {
		var b bytes.Buffer
		if err := status.Do(ctx, agent.SocketPath(o.Config.Buffer.Dir), agent.Request{Action: agent.ActionLog}, &b); err != nil && !errors.Is(err, status.ErrNoAgent) {
			return err
		}
		text = b.String()
	}
	if text == "" {
		return errNoLog
	}
	for line := range strings.Lines(text) {
		fmt.Fprintln(w, logs.Clean(strings.TrimRight(line, "\n"), longLine))
	}
	return nil
}

// journal is what journalctl has of the unit, "" if that is nothing or there is no journal.
func journal(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, journalFor)
	defer cancel()
	out, err := exec.CommandContext(ctx, "journalctl", "-q", "-u", "edgeagent", "-n", fmt.Sprint(logLines), "--no-pager", "-o", "short-iso").Output()
	text := strings.TrimSpace(string(out))
	if err != nil || strings.HasPrefix(text, "-- No entries") {
		return ""
	}
	return text
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
