package logs

import (
	"context"
	"errors"
	"io"
	"log/slog"
)

// Options say what is logged and how.
type Options struct {
	Level  string // debug, info, warn or error, validated; "" is info
	JSON   bool   // as log/slog writes it, but durations as "1m30s"; false: text
	Style  Style  // of text
	Recent *Ring  // gets the lines from info on, as text, whatever Level and JSON say; nil: none
}

// New is a logger that writes to w, nothing else. Use StyleOf for o.Style.
func New(w io.Writer, o Options) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(o.Level))
	var out slog.Handler = NewHandler(w, o.Style, level)
	if o.JSON {
		out = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: withUnit})
	}
	if o.Recent != nil {
		out = both{out, NewHandler(o.Recent, Plain, slog.LevelInfo)}
	}
	return slog.New(out)
}

// withUnit writes a duration as the text does: slog's own JSON has a bare number of nanoseconds.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// both gives each line to two handlers.
type both [2]slog.Handler

func (b both) Enabled(ctx context.Context, l slog.Level) bool {
	return b[0].Enabled(ctx, l) || b[1].Enabled(ctx, l)
}

func (b both) Handle(ctx context.Context, r slog.Record) error {
	var errs [2]error
	for i, h := range b {
		if h.Enabled(ctx, r.Level) {
			errs[i] = h.Handle(ctx, r.Clone())
		}
	}
	return errors.Join(errs[:]...)
}

func (b both) WithAttrs(attrs []slog.Attr) slog.Handler {
	return both{b[0].WithAttrs(attrs), b[1].WithAttrs(attrs)}
}

func (b both) WithGroup(name string) slog.Handler {
	return both{b[0].WithGroup(name), b[1].WithGroup(name)}
}
