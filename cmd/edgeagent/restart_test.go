package main

import (
	"strings"
	"testing"

	"edgeagent/status"
)

// When the server last stored a line is known after a restart, with one server and with several.
func TestLastSuccessOutlastsARestart(t *testing.T) {
	server := newPicky(t)
	for _, several := range []bool{false, true} {
		b := newBox(t, server.URL)
		if several {
			b.mirror("http://127.0.0.1:1")
		}
		first := func(r status.Report) status.Uplink {
			if several {
				return r.Uplinks["central"].Uplink
			}
			return r.Uplink
		}
		var at string
		b.start()
		b.publish("good", 3600, "good", 1500)
		b.await("an upload", func(r status.Report) bool { at = first(r).LastSuccess; return at != "" })
		b.halt()
		b.start()
		b.await("the status after the restart", func(r status.Report) bool {
			if got := first(r).LastSuccess; got != at {
				t.Errorf("several %v: last success %q, want %q", several, got, at)
			}
			if several && r.Uplinks["mirror"].Uplink.LastSuccess != "" {
				t.Errorf("of a server that never answered: %+v", r.Uplinks["mirror"].Uplink)
			}
			return true
		})
		if _, out, _ := command(t, "status", "-c", b.config); !strings.Contains(out, "last success "+at) {
			t.Errorf("several %v: %s", several, out)
		}
		b.halt()
	}
}
