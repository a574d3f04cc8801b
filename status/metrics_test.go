package status

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func exposition(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeMetrics(&b, r.tidy()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMetricsGolden(t *testing.T) { golden(t, "metrics.golden", exposition(t, dayReport())) }

func TestMetricsLint(t *testing.T) {
	for name, r := range map[string]Report{"day": dayReport(), "trouble": troubleReport(), "hostile": hostileReport(), "empty": {}} {
		problems, err := promlint.New(strings.NewReader(exposition(t, r))).Lint()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, p := range problems {
			t.Errorf("%s: %s: %s", name, p.Metric, p.Text)
		}
	}
}

// values reads an exposition: name with label to value.
func values(text string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(text) {
		if i := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			m[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return m
}

func TestMetricsValues(t *testing.T) {
	got := values(exposition(t, troubleReport()))
	for name, want := range map[string]string{
		`readings_received_total`:                   "120059",
		`readings_rejected_total{reason="decode"}`:  "38",
		`readings_rejected_total{reason="too_big"}`: "0",
		`books_balanced{book="readings"}`:           "0",
		`books_balanced{book="points"}`:             "0", // the sums agree, the agent's own word does not
		`points_queued`:                             "125",
		`mqtt_connected`:                            "0",
		`clock_trusted`:                             "0",
		`buffer_writable`:                           "0",
		`behind_seconds`:                            "-90",
		`watermark_timestamp_seconds`:               "1772373168",
		`oldest_queued_window_timestamp_seconds`:    "1771754400",
		`uplink_state{state="blocked"}`:             "1",
		`uplink_state{state="idle"}`:                "0",
		`uplink_last_success_timestamp_seconds`:     "NaN",
		`uplink_retry_seconds`:                      "42",
		`lag_max_seconds`:                           "812.5",
		`uptime_seconds`:                            "273659",
	} {
		if got["edgeagent_"+name] != want {
			t.Errorf("%s = %q, want %s", name, got["edgeagent_"+name], want)
		}
	}
}

// A dashboard must find every series before the first reading, too.
func TestMetricsNamesStay(t *testing.T) {
	name := func(s string) string { s, _, _ = strings.Cut(s, "{"); return s }
	names := func(r Report) []string {
		set := make(map[string]bool)
		for s := range values(exposition(t, r)) {
			set[name(s)] = true
		}
		return slices.Sorted(maps.Keys(set))
	}
	if a, b := names(Report{}), names(dayReport()); !slices.Equal(a, b) {
		t.Errorf("names of an empty report %v, of a full one %v", a, b)
	}
	empty := values(exposition(t, Report{}))
	if empty["edgeagent_behind_seconds"] != "NaN" || empty["edgeagent_watermark_timestamp_seconds"] != "NaN" {
		t.Error("unknown instants are not NaN")
	}
}

func TestMetricsUnknownState(t *testing.T) {
	r := dayReport()
	r.Uplink.State = `new"one`
	if got := values(exposition(t, r))[`edgeagent_uplink_state{state="new\"one"}`]; got != "1" {
		t.Errorf("unknown state = %q, want 1", got)
	}
}

// The clock of a report is told in whole seconds; the distances to it are not.
func TestMetricsDistances(t *testing.T) {
	r := dayReport() // told as of 14:03:00, and of 14:03:01 in truth
	r.Watermark = Watermark{Value: "2026-03-01T13:52:48.25Z", MaxEventTime: "2026-03-01T14:02:48.25Z", BehindS: 12.75}
	got := values(exposition(t, r))
	if behind, mark := got["edgeagent_behind_seconds"], got["edgeagent_watermark_behind_seconds"]; behind != "12.75" || mark != "612.75" {
		t.Errorf("event time is %s s behind the clock and the watermark %s s, want 12.75 and 612.75", behind, mark)
	}
}
