package demo

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hidden are attributes of the agent's log that a newcomer does without.
var hidden = []string{"version", "store", "uplink", "to", "held_back", "took"}

// logger is the agent's log as part of the story.
func (p *printer) logger() *slog.Logger { return slog.New(logs{p: p}) }

// logs writes what the agent logs, between the lines of the story. Groups are not told apart; the agent has none.
type logs struct {
	p     *printer
	attrs []slog.Attr
}

// Enabled leaves out what is for debugging.
func (l logs) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes one record.
func (l logs) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	add := func(a slog.Attr) bool {
		if !slices.Contains(hidden, a.Key) {
			text += " " + a.Key + "=" + show(a.Value.Resolve())
		}
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	l.p.write(wrap(text, "  agent: ", "         "))
	return nil
}

// WithAttrs keeps attributes for all records.
func (l logs) WithAttrs(attrs []slog.Attr) slog.Handler {
	l.attrs = append(slices.Clip(l.attrs), attrs...)
	return l
}

// WithGroup changes nothing.
func (l logs) WithGroup(string) slog.Handler { return l }

func show(v slog.Value) string {
	text := fmt.Sprint(v.Any())
	if v.Kind() == slog.KindDuration {
		text = v.Duration().Round(time.Millisecond).String()
	}
	if strings.ContainsAny(text, " \"=") {
		return strconv.Quote(text)
	}
	return text
}
