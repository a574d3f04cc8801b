package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
)

// more adds lines to the configuration.
func (b *box) more(text string) {
	b.t.Helper()
	old, err := os.ReadFile(b.config)
	if err == nil {
		err = os.WriteFile(b.config, append(old, text...), 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Late readings are exported beside the running agent and without it, as JSON and as line protocol.
func TestExportLate(t *testing.T) {
	b := newBox(t, "http://127.0.0.1:1")
	b.more("[watermark]\nlate_readings = \"uplink\"\n")
	began := time.Now()
	b.start()
	b.publish("a", 1000, "a", 0, "b", 960, "a", 990, "a", 990)
	b.await("two late readings", func(r status.Report) bool {
		return r.Ledger.Late == 3 && r.Points.LateReadings == 3 && r.Points.Balanced
	})
	lines := filepath.Join(t.TempDir(), "late.lp")
	for _, running := range []bool{true, false} {
		if !running {
			b.halt()
		}
		b.wantsLate(began)
		b.says(exitDone, []string{"3 lines written"}, "export", "--late", lines)
		text, err := os.ReadFile(lines)
		if want := "late_readings,gateway=gw,sensor=b value=4.5,lateness_s=960 "; err != nil || !strings.HasPrefix(string(text), want) || strings.Count(string(text), "\n") != 3 {
			t.Errorf("running %v: exported %q, %v; want three lines, the first %s…", running, text, err, want)
		}
		var st agent.StoreStats
		b.ask(&st, "stats")
		if st.SideKept != 3 || st.SideDropped != 0 || st.SideBytes == 0 {
			t.Errorf("running %v: stats %+v, want 3 late readings kept", running, st)
		}
	}
	b.says(exitUsage, []string{"--format is for --late"}, "export", "--format", "json", lines)
	b.says(exitUsage, []string{"give one of them"}, "export", "--late", "--out", lines, lines)
	b.says(exitDone, []string{"late        3 readings kept", "0 made room"}, "stats")
}

// wantsLate exports as JSON to standard output and to a file, and compares.
func (b *box) wantsLate(began time.Time) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "late.jsonl")
	b.says(exitDone, []string{"3 lines written"}, "export", "--late", "--out", file)
	text, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	code, out, _ := command(b.t, "buffer", "export", "-c", b.config, "--late")
	if code != 0 || out != string(text) {
		b.t.Errorf("to standard output %q, to a file %q", out, text)
	}
	want := []struct {
		sensor       string
		ago          int
		value, lates float64
	}{{"b", 960, 4.5, 960}, {"a", 990, 6.5, 990}, {"a", 990, 8.5, 990}}
	list := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(list) != len(want) {
		b.t.Fatalf("%d late readings, want %d: %s", len(list), len(want), text)
	}
	for i, w := range want {
		var l agent.LateReading
		if err := json.Unmarshal([]byte(list[i]), &l); err != nil {
			b.t.Fatal(err)
		}
		at, arrival := base.Add(-time.Duration(w.ago)*time.Second).UTC().Format(time.RFC3339Nano), parseTime(b.t, l.Arrival)
		if l.Sensor != w.sensor || l.Time != at || l.Value != w.value || l.LatenessS == nil || *l.LatenessS != w.lates || l.Tags != nil || arrival.Before(began) || arrival.After(time.Now()) {
			b.t.Errorf("late reading %d is %s, want %+v", i, list[i], w)
		}
	}
}

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
