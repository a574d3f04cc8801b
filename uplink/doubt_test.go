package uplink

import (
	"fmt"
	"slices"
	"testing"
)

// A server that refuses whatever it gets for its first answers, as a line or as too large, and then takes all: however many answers these
// are, nothing is parked, and what it said of sizes is forgotten.
func TestRefusalsOfAMoment(t *testing.T) {
	lines := windows("s", 0, 300)
	for _, status := range []int{400, 413} {
		for n := 1; n <= 24; n++ {
			c := newCentral(t, func(i int, _ []string) reply {
				if i > n {
					return stored
				}
				return jsonReply(status, "not at the moment")
			})
			m := newMemory(t, lines...)
			_, stop := start(t, testConfig(c.URL), m)
			m.drained()
			stop()
			check(t, c, m, lines, nil)
			if c.count() > n+300/2 || status == 400 && c.count() > n+12 {
				t.Errorf("%d for %d answers: %d requests", status, n, c.count())
			}
			c.Close()
		}
	}
}

// The same, after the server has taken much and while one line is bad all the time.
func TestRefusalsOfAMomentBesideABadLine(t *testing.T) {
	for first := 1; first <= 12; first++ {
		var c *central
		refuse := refusing(&c, false, 400, "no")
		c = newCentral(t, func(i int, lines []string) reply {
			if i >= first && i < first+5 {
				return jsonReply(400, "not at the moment")
			}
			return refuse(i, lines)
		})
		all, good, bad := mixed(200, 77)
		m := newMemory(t, all...)
		_, stop := start(t, testConfig(c.URL), m)
		m.drained()
		stop()
		check(t, c, m, good, bad)
		c.Close()
	}
}

// aged answers as a server that keeps no points older than edge; late if it refuses those that are newer instead.
func aged(c **central, edge int64, partial, late bool, status int, say string) func(int, []string) reply {
	return func(_ int, lines []string) reply {
		good := slices.DeleteFunc(slices.Clone(lines), func(l string) bool {
			at, _ := stampOf([]byte(l))
			return (at < edge) != late
		})
		if partial {
			(*c).keep(good...)
		}
		if len(good) == len(lines) {
			return stored
		}
		return jsonReply(status, fmt.Sprintf(say, len(lines)-len(good)))
	}
}

// After an outage that was longer than the server keeps points, what it still takes is there after some tens of requests, however many
// old points are before it, and whatever lies between them; and the old ones are parked, each with the server's words.
func TestOldPointsInAFewRequests(t *testing.T) {
	const old, young = 4000, 500
	lines := windows("s", 0, old+young)
	edge := int64(old) * 300e9
	for i := 10; i < len(lines); i += 200 { // what is counted late bears times of later intervals
		lines[i] = fmt.Sprintf("late_drops,gateway=gw,sensor=s%d count=1i %d", i, int64(i+4)*300e9)
	}
	var good, bad []string
	for _, l := range lines {
		if at, ok := stampOf([]byte(l)); !ok || at < edge {
			bad = append(bad, l)
		} else {
			good = append(good, l)
		}
	}
	for _, w := range []struct {
		status  int
		partial bool
		say     string
		most    int
	}{
		{400, true, "partial write: points beyond retention policy dropped=%d", 150},
		{400, false, "partial write: points beyond retention policy dropped=%d", 150},
		{500, true, "partial write: points beyond retention policy dropped=%d", 150},
		{422, true, "failure writing points to database: partial write: dropped %d points outside retention policy of duration 24h0m0s due to Retention Policy Lower Bound", 150},
	} {
		var c *central
		c = newCentral(t, aged(&c, edge, w.partial, false, w.status, w.say))
		m := newMemory(t, lines...)
		_, stop := start(t, testConfig(c.URL), m)
		m.drained()
		stop()
		check(t, c, m, good, bad)
		if c.count() > w.most {
			t.Errorf("%d %v: %d requests, want at most %d", w.status, w.partial, c.count(), w.most)
		}
		for l, reason := range m.parked {
			if want := fmt.Sprintf(w.say, 1); reason != want {
				t.Errorf("%s is parked for %q, want %q", l, reason, want)
				break
			}
		}
		c.Close()
	}
}

// What is refused for being too far ahead, in words that speak of retention too, says nothing of what is older.
func TestPointsTooFarAhead(t *testing.T) {
	lines := windows("s", 0, 100)
	edge := int64(60) * 300e9
	slices.Reverse(lines[40:80])
	var good, bad []string
	for _, l := range lines {
		if at, _ := stampOf([]byte(l)); at < edge {
			good = append(good, l)
		} else {
			bad = append(bad, l)
		}
	}
	var c *central
	c = newCentral(t, aged(&c, edge, true, true, 422, "partial write: dropped %d points outside retention policy of duration 24h0m0s due to Write Window Upper Bound"))
	m := newMemory(t, lines...)
	_, stop := start(t, testConfig(c.URL), m)
	m.drained()
	stop()
	check(t, c, m, good, bad)
}
