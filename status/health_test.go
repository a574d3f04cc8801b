package status

import (
	"math"
	"strings"
	"testing"
)

func TestHealthy(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Report)
		want   string
	}{
		{"a good day", func(*Report) {}, "ok"},
		{"broker away", func(r *Report) { r.MQTT.Connected = false }, "ok"},
		{"uplink blocked", func(r *Report) { r.Uplink.State = "blocked" }, "ok"},
		{"clock not trusted", func(r *Report) { r.Clock.Trusted = false }, "ok"},
		{"store full", func(r *Report) { r.Buffer.Error = "no space\nleft" }, `the store cannot be written: no space\nleft`},
		{"a reading lost", func(r *Report) { r.Ledger.Received++ }, "the books do not balance: 1 reading missing"},
		{"readings twice", func(r *Report) { r.Ledger.Windowed += 2000 }, "the books do not balance: 2,000 readings too many"},
		{"a reason uncounted", func(r *Report) { r.Ledger.Rejected["too_big"] = 4 }, "the books do not balance: 4 readings too many"},
		{"points lost", func(r *Report) { r.Points.LateReadings = 2 }, "the books do not balance: 2 points missing"},
		{"a point twice", func(r *Report) { r.Points.Evicted = 1 }, "the books do not balance: 1 point too many"},
		{"the agent says so", func(r *Report) { r.Points.Balanced = false },
			"the books do not balance, says the agent, though the sums of the points agree"},
	} {
		r := dayReport()
		tt.change(&r)
		ok, got := r.Healthy()
		if got != tt.want || ok != (tt.want == "ok") {
			t.Errorf("%s: Healthy = %v, %q, want %q", tt.name, ok, got, tt.want)
		}
		if strings.Contains(got, "\n") {
			t.Errorf("%s: more than one line", tt.name)
		}
	}
}

func TestTidy(t *testing.T) {
	r := dayReport()
	r.Lag.P50S, r.Watermark.BehindS, r.Uplink.RetryInS = math.NaN(), math.Inf(1), math.Inf(-1)
	r.MQTT.LastError = strings.Repeat("x", 1000)
	got := r.tidy()
	if got.Lag.P50S != 0 || got.Watermark.BehindS != 0 || got.Uplink.RetryInS != 0 {
		t.Errorf("numbers = %v, %v, %v, want 0", got.Lag.P50S, got.Watermark.BehindS, got.Uplink.RetryInS)
	}
	if n := len([]rune(got.MQTT.LastError)); n != 240 {
		t.Errorf("error of %d characters, want 240", n)
	}
	for _, reason := range strings.Fields("decode no_value value range time future clock sensors overflow too_big") {
		if _, ok := got.Ledger.Rejected[reason]; !ok {
			t.Errorf("reason %s is not there", reason)
		}
	}
	got.Ledger.Rejected["decode"] = 0
	if r.Ledger.Rejected["decode"] != 38 {
		t.Error("tidy shares the agent's map")
	}
}
