package main

import (
	"log"
	"log/slog"
	"strings"
)

// routeStandardLog has what the standard library logs by itself (net/http does, of a connection that goes wrong) come out by l, at level debug,
// until restore is called. What a peer has sent, which such lines quote, is left out: it may be anything, a secret sent back included.
func routeStandardLog(l *slog.Logger) (restore func()) {
	std := log.Default()
	out, flags := std.Writer(), std.Flags()
	std.SetFlags(0)
	std.SetOutput(stdLines{l})
	return func() {
		std.SetOutput(out)
		std.SetFlags(flags)
	}
}

// stdLines takes the lines of the standard logger, one a call.
type stdLines struct{ log *slog.Logger }

func (s stdLines) Write(line []byte) (int, error) {
	text, _, cut := strings.Cut(strings.TrimSpace(string(line)), `"`)
	if cut {
		text = strings.TrimSpace(text) + " …"
	}
	s.log.Debug("network: " + text)
	return len(line), nil
}
