package logs

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// A Style is what a text line begins with.
type Style uint8

// The styles of text lines.
const (
	Plain    Style = iota // the time in full, UTC
	Terminal              // the time of day, local; messages padded so that what follows stands below each other
	Journal               // the priority as the journal reads it, no time
)

// messageWidth is what a message is padded to on a terminal, in characters.
const messageWidth = 36

// A Handler is an slog.Handler that writes text lines. It is made by NewHandler and safe for use by several goroutines; each line is
// one Write.
type Handler struct {
	out    *output
	style  Style
	level  slog.Level
	groups string // prefix of keys, with its dot
	fixed  []byte // what WithAttrs gave, as text
}

// output is the writer that a handler shares with those made from it.
type output struct {
	mu sync.Mutex // guards w and buf
	w  io.Writer
	b  []byte
}

// NewHandler writes lines of at least a level to w.
func NewHandler(w io.Writer, style Style, level slog.Level) *Handler {
	return &Handler{out: &output{w: w}, style: style, level: level}
}

// Enabled reports whether a level is written.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level }

// Handle writes one line.
func (h *Handler) Handle(_ context.Context, r slog.Record) error {
	h.out.mu.Lock()
	defer h.out.mu.Unlock()
	b := h.start(h.out.b[:0], r)
	b = append(b, h.fixed...)
	r.Attrs(func(a slog.Attr) bool {
		b = appendAttr(b, h.groups, a)
		return true
	})
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	b = append(b, '\n')
	_, err := h.out.w.Write(b)
	h.out.b = b
	return err
}

// start is what comes before the attributes.
func (h *Handler) start(b []byte, r slog.Record) []byte {
	switch h.style {
	case Journal:
		b = append(b, '<', priority(r.Level), '>')
	case Terminal:
		b = r.Time.Local().AppendFormat(b, time.TimeOnly+" ")
	default:
		b = r.Time.UTC().AppendFormat(b, time.RFC3339+" ")
	}
	b = pad(append(b, r.Level.String()...), len(r.Level.String()), len("ERROR"))
	b = append(b, ' ')
	message := clean(r.Message, maxMessage)
	b = append(b, message...)
	if h.style == Terminal {
		b = pad(b, len([]rune(message)), messageWidth)
	}
	return append(b, ' ')
}

func pad(b []byte, has, want int) []byte {
	for ; has < want; has++ {
		b = append(b, ' ')
	}
	return b
}

// priority is the syslog priority of a level, which the journal reads from the start of a line.
func priority(l slog.Level) byte {
	switch {
	case l >= slog.LevelError:
		return '3'
	case l >= slog.LevelWarn:
		return '4'
	case l >= slog.LevelInfo:
		return '6'
	}
	return '7'
}

// WithAttrs is h with attributes that every line gets.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.fixed = slices.Clip(slices.Clone(h.fixed))
	for _, a := range attrs {
		c.fixed = appendAttr(c.fixed, h.groups, a)
	}
	return &c
}

// WithGroup is h with a prefix for the keys that follow.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.groups += name + "."
	return &c
}
