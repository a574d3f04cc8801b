package status

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// twoReport is a gateway with a central server and a mirror that is away.
func twoReport() Report {
	r := dayReport()
	away := r.Points
	away.Uploaded, away.Queued = 4000, 124
	r.Uplinks = map[string]UplinkPart{
		"central": {Points: r.Points, Uplink: r.Uplink},
		"mirror":  {Points: away, Uplink: Uplink{State: "down", Since: "2026-03-01T12:03:00Z", LastError: "connection refused", RetryInS: 42}},
	}
	return r
}

// With several uplinks each family has one sample of each, by name; what belongs to the store has one.
func TestMetricsOfSeveralUplinks(t *testing.T) {
	text := exposition(t, twoReport())
	got := values(text)
	for name, want := range map[string]string{
		`edgeagent_points_queued{uplink="central"}`:                        "0",
		`edgeagent_points_queued{uplink="mirror"}`:                         "124",
		`edgeagent_uplink_state{state="down",uplink="mirror"}`:             "1",
		`edgeagent_uplink_state{state="down",uplink="central"}`:            "0",
		`edgeagent_uplink_retry_seconds{uplink="mirror"}`:                  "42",
		`edgeagent_books_balanced{book="points of mirror"}`:                "1",
		`edgeagent_oldest_queued_window_timestamp_seconds`:                 "NaN",
		`edgeagent_readings_rejected_total{reason="decode"}`:               "38",
		`edgeagent_points_uploaded_total{uplink="mirror"}`:                 "4000",
		`edgeagent_uplink_last_success_timestamp_seconds{uplink="mirror"}`: "NaN",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %s", name, got[name], want)
		}
	}
	if _, bare := got["edgeagent_points_queued"]; bare {
		t.Error("a family has samples with and without the label uplink")
	}
	if problems, err := promlint.New(strings.NewReader(text)).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// The words tell of each uplink, and the agent is well only if the points balance for each.
func TestTextOfSeveralUplinks(t *testing.T) {
	var b bytes.Buffer
	r := twoReport()
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"uplink     central: idle", "uplink     mirror: DOWN", "queue      124 points to upload", "points     of central\n", "points     of mirror\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if ok, why := r.Healthy(); !ok {
		t.Error(why)
	}
	broken := r.Uplinks["mirror"]
	broken.Points.Queued--
	r.Uplinks["mirror"] = broken
	if ok, why := r.Healthy(); ok || why != "uplink mirror: the books do not balance: 1 point missing" {
		t.Errorf("healthy %t, %q", ok, why)
	}
}
