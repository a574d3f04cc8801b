package main

import (
	"bytes"
	"log"
	"log/slog"
	"strings"
	"testing"
)

// What the standard library logs comes out as one line of ours, without what a peer sent.
func TestStandardLogIsRouted(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`Unsolicited response received on idle HTTP channel starting with "HTTP/1.1 408 tok-1"; err=<nil>`, `msg="network: Unsolicited response received on idle HTTP channel starting with …"`},
		{"http: proxy error\nsecond line", `msg="network: http: proxy error\nsecond line"`},
	} {
		var out, before bytes.Buffer
		log.SetOutput(&before)
		restore := routeStandardLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
		log.Print(tt.line)
		restore()
		if got := out.String(); !strings.HasPrefix(got, "time=") || !strings.Contains(got, " level=DEBUG "+tt.want) || strings.Count(got, "\n") != 1 || before.Len() > 0 {
			t.Errorf("%q became %q, and %q as before; want %s", tt.line, got, before.String(), tt.want)
		}
		log.Print("restored")
		if !strings.Contains(before.String(), "restored") || strings.Contains(out.String(), "restored") {
			t.Errorf("restored: %q, %q", before.String(), out.String())
		}
	}
}
