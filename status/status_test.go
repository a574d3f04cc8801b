package status

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dayReport is a gateway on an ordinary day.
func dayReport() Report {
	return Report{
		Gateway: "gw-07", Version: "1.4.0", UptimeS: 3*86400 + 4*3600 + 59,
		Clock:     Clock{Now: "2026-03-01T14:03:00Z", Trusted: true},
		MQTT:      MQTT{Connected: true, Since: "2026-03-01T11:00:00Z", Broker: "ssl://broker.example:8883", Unacked: 12},
		Watermark: Watermark{Value: "2026-03-01T13:52:48Z", MaxEventTime: "2026-03-01T14:02:48Z", BehindS: 12},
		Windows:   Windows{Open: 80, Finalized: 3201},
		Ledger: Ledger{Received: 120056, Windowed: 120000, Late: 12, Duplicate: 3, Retained: 1,
			Rejected: map[string]int64{"decode": 38, "range": 2}, Balanced: true},
		ArrivalTimed: 1, Held: 0, Ignored: 7, Sensors: 40,
		Points: Points{Finalized: 3201, Updated: 4, LateReports: 9, Health: 912, Carried: 0,
			Uploaded: 4124, Queued: 0, Parked: 1, Evicted: 0, Superseded: 1, Balanced: true},
		Buffer: Buffer{Bytes: 1258291, MaxBytes: 256 << 20},
		Uplink: Uplink{State: "idle", Since: "2026-03-01T11:00:10Z", LastSuccess: "2026-03-01T14:02:50Z"},
		Lag:    Lag{P50S: 1.24, P95S: 3.4, P99S: 12, MaxS: 812.5},
		Work: Work{Commits: Histogram{[]float64{0.01, 0.1, 1}, []int64{3, 40, 5, 2}, 12.5}, Syncs: 100, Written: 7340032,
			Uploads: map[string]Histogram{"settled": {[]float64{0.1, 1}, []int64{9, 4, 1}, 3.25}, "down": {[]float64{0.1, 1}, []int64{0, 0, 0}, 0}}},
	}
}

// troubleReport is a gateway on which everything is wrong at once.
func troubleReport() Report {
	r := dayReport()
	r.Clock.Trusted = false
	r.MQTT = MQTT{Since: "2026-03-01T13:03:00Z", Broker: "tcp://10.0.0.5:1883", LastError: "connect to tcp://10.0.0.5:1883: connection refused"}
	r.Watermark.BehindS = -90
	r.Ledger.Received += 3
	r.Ledger.Balanced = false
	r.Points.Uploaded -= 124
	r.Points.Queued = 125
	r.Points.Balanced = false
	r.StoreResets = 1
	r.Buffer.Oldest = "2026-02-22T10:00:00Z"
	r.Buffer.Error = "commit: no space left on device"
	r.Uplink = Uplink{State: "blocked", Since: "2026-02-22T10:00:07Z", RetryInS: 42,
		LastError: `401 Unauthorized: unauthorized access; check the token, its permissions, and that what it writes into exists`}
	return r
}

// hostileReport is a report in which whatever can come from outside is made to harm.
func hostileReport() Report {
	r := troubleReport()
	evil := "\x1b[2J<script>alert(1)</script>\u202e\"'&\n\r\x00\xff}\\ #HELP"
	for range 40 {
		evil += " 温度 overlong"
	}
	for _, s := range []*string{&r.Gateway, &r.Version, &r.MQTT.Broker, &r.MQTT.LastError, &r.Uplink.State, &r.Uplink.LastError,
		&r.Buffer.Error, &r.Buffer.Oldest, &r.Watermark.Value, &r.Watermark.MaxEventTime, &r.MQTT.Since, &r.Uplink.Since,
		&r.Uplink.LastSuccess, &r.Clock.Now} {
		*s = evil
	}
	r.Ledger.Rejected = map[string]int64{evil: 1}
	return r
}

func answers(r Report) Source {
	return func(context.Context) (Report, error) { return r, nil }
}

func fails(err error) Source {
	return func(context.Context) (Report, error) { return Report{}, err }
}

var errAway = errors.New("the loop is away")

var update = flag.Bool("update", false, "write the expected files of testdata")

// golden compares got with a file of testdata, which it writes with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", path, got, want)
	}
}
