package configs

import (
	"strings"
	"testing"
	"time"
)

func TestMemoryWarnings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		sensors int
		delay   time.Duration
		limit   int64
		want    string // part of it
	}{
		// 26 readings of each sensor in 25 minutes: 32 MiB + 10000 x (26 x 32 + 1024) bytes = 49.7 MiB.
		{"default fits a Zero", 10000, 10 * time.Minute, 200 << 20, ""},
		{"default just fits", 10000, 10 * time.Minute, 50 << 20, ""},
		{"default does not fit", 10000, 10 * time.Minute, 49 << 20, "buffer.max_sensors: sensors need 50 MiB of memory with this delay, at a reading a minute each, and there are 49 MiB"},
		// 2886 readings: 32 MiB + 10000 x (2886 x 32 + 1024) bytes = 922.5 MiB.
		{"a day's delay", 10000, 24 * time.Hour, 200 << 20, "sensors need 923 MiB"},
		{"no limit", 1000000, 24 * time.Hour, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Default()
			c.Buffer.MaxSensors, c.Watermark.Delay = tt.sensors, Duration(tt.delay)
			got := strings.Join(c.MemoryWarnings(tt.limit), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("MemoryWarnings(%d) = %q, want %q", tt.limit, got, tt.want)
			}
		})
	}
}
