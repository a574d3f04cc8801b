package uplink

import (
	"fmt"
	"slices"
	"testing"
)

// fleetLines are windows of 20 sensors, one after the other.
func fleetLines(windows int) (lines []string) {
	for w := range windows {
		for s := range 20 {
			lines = append(lines, fmt.Sprintf(`temperature,gateway=gw,sensor=a%02d max=%d,count=2i %d`, s, w, int64(w)*300e9))
		}
	}
	return lines
}

// A server that refuses one sensor of twenty, or two that are neighbours: after the first two lines of it each costs two requests.
// One that refuses it only in the older half, as with a field type that conflicts in one shard, is not taken at its word for the rest.
func TestOneSensorIsRefused(t *testing.T) {
	const n = 40
	lines := fleetLines(n)
	for _, c := range []struct {
		name    string
		refused func(sensor, window int) bool
		most    int
	}{
		{"one sensor", func(s, _ int) bool { return s == 7 }, 2*n + 30},
		{"the first", func(s, _ int) bool { return s == 0 }, 2*n + 30},
		{"two neighbours", func(s, _ int) bool { return s == 7 || s == 8 }, 3*n + 50},
		{"half of them", func(s, _ int) bool { return s%2 == 1 }, 20*n + 250},
		{"the older half", func(s, w int) bool { return s == 7 && w < n/2 }, n + 50},
		{"every second", func(s, w int) bool { return s == 7 && w%2 == 0 }, 12*n/2 + 30},
	} {
		for _, partial := range []bool{true, false} {
			bad := map[string]bool{}
			var good, parked []string
			for i, l := range lines {
				if bad[l] = c.refused(i%20, i/20); bad[l] {
					parked = append(parked, l)
				} else {
					good = append(good, l)
				}
			}
			var server *central
			server = newCentral(t, func(_ int, lines []string) reply {
				fine := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return bad[l] })
				if len(fine) == len(lines) {
					return stored
				}
				if partial {
					server.keep(fine...)
				}
				return jsonReply(400, "partial write: field type conflict dropped=1")
			})
			m := newMemory(t, lines...)
			_, stop := start(t, testConfig(server.URL), m)
			m.drained()
			stop()
			check(t, server, m, good, parked)
			if server.count() > c.most {
				t.Errorf("%s, partial %v: %d requests, want at most %d", c.name, partial, server.count(), c.most)
			}
			server.Close()
		}
	}
}

func TestSeriesOf(t *testing.T) {
	for line, want := range map[string]string{
		"m v=1 2": "m", `m,a=b\ c v=1 2`: `m,a=b\ c`, `m\ n,a=b\ c\ d,e=f s="x y" 2`: `m\ n,a=b\ c\ d,e=f`, "odd": "odd", "": "", " v": "",
	} {
		if got := string(seriesOf([]byte(line))); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
