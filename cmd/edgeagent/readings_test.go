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

// What became of every reading is exported beside the running agent and without it, of all and of one sensor or span.
func TestExportReadings(t *testing.T) {
	b := newBox(t, "http://127.0.0.1:1")
	b.replace("commit_interval = \"100ms\"\n", "commit_interval = \"100ms\"\nretain_readings = \"24h\"\n")
	began := time.Now().Truncate(time.Millisecond)
	b.start()
	b.publish("a", 1000, "a", 0, "b", 960, "b", -1000)
	b.await("four readings", func(r status.Report) bool {
		return r.Ledger.Windowed == 2 && r.Ledger.Late == 1 && r.Ledger.Rejected["future"] == 1 && r.MQTT.Unacked == 0
	})
	ended := time.Now().Add(time.Millisecond)
	for _, running := range []bool{true, false} {
		if !running {
			b.halt()
		}
		all := b.readings(4)
		for i, want := range []agent.TracedReading{
			{Sensor: "a", Time: ago(1000), Value: 0.5, Column: "windowed", Window: windowAt(1000)},
			{Sensor: "a", Time: ago(0), Value: 2.5, Column: "windowed", Window: windowAt(0)},
			{Sensor: "b", Time: ago(960), Value: 4.5, Column: "late", Window: windowAt(960)},
			{Sensor: "b", Time: ago(-1000), Value: 6.5, Column: "rejected", Reason: "future"},
		} {
			if at := parseTime(t, all[i].Arrival); at.Before(began) || at.After(ended) {
				t.Errorf("running %v: reading %d came at %s, not between %s and %s", running, i, at, began, ended)
			}
			window := all[i].Window
			all[i].Arrival, all[i].Source, all[i].Window = "", strings.TrimPrefix(all[i].Source, "s/{sensor}"), want.Window
			if got := all[i]; got.Sensor != want.Sensor || got.Time != want.Time || got.Value != want.Value || got.Column != want.Column || got.Reason != want.Reason || got.Tags != nil ||
				(window == nil) != (want.Window == nil) || window != nil && *window != *want.Window {
				t.Errorf("running %v: reading %d is %+v in %+v, want %+v in %+v", running, i, got, window, want, want.Window)
			}
		}
		if of := b.readings(2, "--sensor", "b"); of[0].Sensor != "b" || of[1].Sensor != "b" {
			t.Errorf("of b: %+v", of)
		}
		b.readings(4, "--since", began.UTC().Format(time.RFC3339Nano), "--until", ended.UTC().Format(time.RFC3339Nano))
		b.readings(0, "--since", ended.UTC().Format(time.RFC3339Nano))
		b.readings(0, "--until", began.UTC().Format(time.RFC3339Nano), "--sensor", "a")
		b.says(exitDone, []string{"readings    4 kept for tracing", "0 gone since"}, "stats")
	}
	b.says(exitDone, []string{"sound"}, "check")
	b.says(exitUsage, []string{"are for --readings"}, "export", "--sensor", "a", "x")
	b.says(exitUsage, []string{"are for --readings"}, "export", "--late", "--since", "2026-11-29T10:00:00Z", "x")
	b.says(exitUsage, []string{"--format is for --late"}, "export", "--readings", "--format", "json", "x")
}

// readings exports what is kept for tracing and wants n readings.
func (b *box) readings(n int, args ...string) (list []agent.TracedReading) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "readings.jsonl")
	b.says(exitDone, []string{"lines written"}, append([]string{"export", "--readings", "--out", file}, args...)...)
	text, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r agent.TracedReading
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			b.t.Fatal(err)
		}
		list = append(list, r)
	}
	if len(list) != n {
		b.t.Fatalf("%v: %d readings, want %d: %s", args, len(list), n, text)
	}
	return list
}

// replace changes a part of the configuration.
func (b *box) replace(old, with string) {
	b.t.Helper()
	text, err := os.ReadFile(b.config)
	if err == nil {
		err = os.WriteFile(b.config, []byte(strings.Replace(string(text), old, with, 1)), 0o600)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// ago is when a reading of publish was taken, to the second.
func ago(seconds int) string {
	return time.Unix(base.Add(-time.Duration(seconds)*time.Second).Unix(), 0).UTC().Format(time.RFC3339Nano)
}

// windowAt is the window of five minutes in which it lies.
func windowAt(seconds int) *agent.TracedWindow {
	start := base.Add(-time.Duration(seconds) * time.Second).UTC().Truncate(5 * time.Minute)
	return &agent.TracedWindow{Start: start.Format(time.RFC3339Nano), End: start.Add(5 * time.Minute).Format(time.RFC3339Nano)}
}
