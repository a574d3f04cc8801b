package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// Whatever cannot be reached or found, the one error line says what to do next.
func TestErrorsSayTheNextStep(t *testing.T) {
	gone := fmt.Sprintf("tcp://127.0.0.1:%d", testbed.FreePort(t))
	config := writeConfig(t, fmt.Sprintf(`[gateway]
id = "gw"
[mqtt]
brokers = [%q, %q]
[[source]]
topic = "s/{sensor}"
format = "text"
[buffer]
dir = %q
[uplink]
url = "http://127.0.0.1:1"
database = "d"
`, gone, gone, filepath.Join(t.TempDir(), "data")))
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args string
		want string
	}{
		{"forget --yes", "edgeagent doctor looks closer"},
		{"try --listen 5s", "edgeagent doctor looks closer"},
		{"discover --listen 5s", "edgeagent doctor looks closer"},
		{"buffer stats", "is buffer.dir right?"},
		{"buffer check", "is buffer.dir right?"},
		{"buffer compact", "is buffer.dir right?"},
		{"buffer parked", "is buffer.dir right?"},
		{"buffer export", "is buffer.dir right?"},
		{"buffer requeue --all", "is buffer.dir right?"},
		{"buffer readmit", "is buffer.dir right?"},
		{"buffer rewind --to 2026-11-29T10:00:00Z", "is buffer.dir right?"},
		{"advise", "is buffer.dir right?"},
		{"buffer import " + none, "is the name right?"},
		{"buffer salvage " + none, "is the name right?"},
		{"replay " + none, "is the name right?"},
		{"try " + none, "is the name right?"},
		{"buffer export --all --out " + none + "/x", "is the name right?"},
		{"status", "is it started"},
	} {
		code, out, errs := command(t, append(strings.Fields(c.args), "-c", config)...)
		last := strings.TrimSuffix(errs[strings.Index(errs, "error: ")+1:], "\n")
		if code != exitFailed || strings.TrimSpace(strings.TrimSuffix(out, "0 messages\n")) != "" || !strings.Contains(last, c.want) || strings.Contains(last, "\n") {
			t.Errorf("%s: exit code %d, %q, %q", c.args, code, out, errs)
		}
	}
	if code, _, errs := command(t, "forget", "--yes", "-c", none); code != exitUsage || !strings.Contains(errs, "name the file with -c") {
		t.Errorf("no configuration: exit code %d, %q", code, errs)
	}
	if _, err := os.Stat(none); err == nil {
		t.Errorf("%s was made", none)
	}
}
