package uplink

import (
	"errors"
	"math"
	"testing"

	"edgeagent/reading"
)

func TestEncoderLateReading(t *testing.T) {
	site := Identity{Tags: []reading.Tag{{Key: "site", Value: "barn 2"}}, Timestamp: "end", Measurement: "room", Update: true}
	tests := []struct {
		id       Identity
		series   reading.Series
		at       int64
		value    float64
		lateness int64
		want     string
	}{
		{Identity{}, "kamar1", t0 + 1, 21.5, 812_500_000_000, "late_readings,gateway=gw-07,sensor=kamar1 value=21.5,lateness_s=812.5 1700000100000000001"},
		{Identity{}, "s", -1, 0, 0, "late_readings,gateway=gw-07,sensor=s value=0,lateness_s=0 -1"},
		{Identity{}, "s", t0, math.Copysign(0, -1), -1, "late_readings,gateway=gw-07,sensor=s value=0 1700000100000000000"},
		{site, "a,b\x00room\x001", t0, -20, 1, `late_readings,gateway=gw-07,room=1,sensor=a\,b,site=barn\ 2 value=-20,lateness_s=1e-09 1700000100000000000`},
	}
	for _, tt := range tests {
		got, err := newTestEncoder(t, tt.id).LateReading([]byte("before|"), tt.series, tt.at, tt.value, tt.lateness)
		if err != nil || string(got) != "before|"+tt.want {
			t.Errorf("got  %s, %v\nwant before|%s", got, err, tt.want)
		}
	}
}

// TestEncoderLateReadingRefused looks at what no line can be made of, and that the next is not hurt by it.
func TestEncoderLateReadingRefused(t *testing.T) {
	e := newTestEncoder(t, Identity{})
	if got, err := e.LateReading([]byte("x"), "s", reading.NoTime, 1, 0); !errors.Is(err, ErrTime) || string(got) != "x" {
		t.Errorf("no time: %q, %v; want %v", got, err, ErrTime)
	}
	for what, s := range map[string]reading.Series{"tag named gateway": "s\x00gateway\x00other", "trailing backslash": `s\`} {
		if got, err := e.LateReading(nil, s, t0, 1, 0); err == nil || len(got) > 0 {
			t.Errorf("%s: %q, want an error", what, got)
		}
	}
	if got, err := e.LateReading(nil, "s", t0, math.NaN(), 0); err == nil {
		t.Errorf("not a number: %q, want an error", got)
	}
	if got, err := e.LateReading(nil, "s", t0, 1, 0); err != nil || string(got) != "late_readings,gateway=gw-07,sensor=s value=1,lateness_s=0 1700000100000000000" {
		t.Errorf("after them: %q, %v", got, err)
	}
}
