package main

import (
	"io"
	"log/slog"

	"edgeagent/configs"
	"edgeagent/logs"
)

// newLogger writes to w as the configuration asks; its level and format have been validated. recent, if not nil, keeps the last lines.
func newLogger(c configs.Log, w io.Writer, recent *logs.Ring) *slog.Logger {
	return logs.New(w, logs.Options{Level: c.Level, JSON: c.Format == "json", Style: logs.StyleOf(w), Recent: recent})
}

// quietLogger is for parts whose errors say all there is to say.
func quietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }
