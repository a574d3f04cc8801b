package uplink

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"edgeagent/testbed"
)

// An influx is a server that refuses lines as the versions of InfluxDB do.
type influx struct {
	*central
	bad func(line string) bool
	say func(bad []int, lines []string) reply // its words for the indexes of the lines it refused
	all bool                                  // one bad line refuses the whole body
}

func newInflux(t *testing.T, s *influx) *influx {
	s.central = newCentral(t, func(_ int, lines []string) reply {
		var bad []int
		var good []string
		for i, l := range lines {
			if s.bad(l) {
				bad = append(bad, i)
			} else {
				good = append(good, l)
			}
		}
		if len(bad) == 0 {
			return stored
		}
		if !s.all {
			s.keep(good...)
		}
		return s.say(bad, lines)
	})
	return s
}

func isBad(line string) bool { return hasSensor([]string{line}, "bad") }

// wordings are how servers speak of refused lines, and what each of them costs at most: requests for k of n lines.
var wordings = []struct {
	name string
	all  bool
	say  func(bad []int, lines []string) reply
}{
	{"v1 parse", false, func(bad []int, lines []string) reply {
		var text []string
		for _, i := range bad {
			text = append(text, fmt.Sprintf("unable to parse '%s': missing fields", lines[i]))
		}
		return jsonReply(400, "partial write: "+strings.Join(text, "\n")+" dropped=0")
	}},
	{"v1 conflict, one of them named, dropped wrong", false, func(bad []int, lines []string) reply {
		return jsonReply(400, fmt.Sprintf(`partial write: field type conflict: input field "max" on measurement "temperature" is type float, already exists as type integer dropped=%d`, len(lines)))
	}},
	{"v1 conflict, dropped=0", false, func([]int, []string) reply { return jsonReply(400, "partial write: field type conflict dropped=0") }},
	{"v1 retention in a 500", false, func([]int, []string) reply {
		return jsonReply(500, "partial write: points beyond retention policy dropped=-1")
	}},
	{"v2 parse", true, func(bad []int, lines []string) reply {
		return reply{status: 400, body: fmt.Sprintf(`{"code":"invalid","message":"unable to parse '%s': missing fields"}`, strings.ReplaceAll(lines[bad[0]], `"`, `\"`))}
	}},
	{"v2 conflict", false, func(bad []int, _ []string) reply {
		return reply{status: 422, body: fmt.Sprintf(`{"code":"unprocessable entity","message":"failure writing points to database: partial write: field type conflict dropped=%d"}`, len(bad))}
	}},
	{"v2 cluster", false, func(bad []int, _ []string) reply {
		text := "errors encountered on line(s):"
		for _, i := range bad[:min(len(bad), 100)] {
			text += fmt.Sprintf(`\nerror parsing line %d (1-based): no`, i+1)
		}
		return reply{status: 400, body: fmt.Sprintf(`{"code":"invalid","line":%d,"message":"%s"}`, bad[0]+1, text)}
	}},
	{"v2 older cluster", false, func(bad []int, _ []string) reply {
		return reply{status: 201, body: fmt.Sprintf(`{"code":"invalid","line":%d,"message":"errors encountered"}`, bad[0]+1)}
	}},
	{"v3 partial", false, func(bad []int, lines []string) reply {
		var data []string
		for _, i := range bad[:min(len(bad), 100)] {
			data = append(data, fmt.Sprintf(`{"original_line":%q,"line_number":%d,"error_message":"No fields were provided"}`, lines[i], i+1))
		}
		return reply{status: 400, body: `{"error":"partial write of line protocol occurred","data":[` + strings.Join(data, ",") + `]}`}
	}},
	{"v3 parse", true, func(bad []int, lines []string) reply {
		return reply{status: 400, body: fmt.Sprintf(`{"error":"line protocol parsing error","data":{"original_line":%q,"line_number":%d,"error_message":"No fields"}}`, lines[bad[0]], bad[0]+1)}
	}},
	{"numbers that are off by one", true, func(bad []int, _ []string) reply {
		return reply{status: 400, body: fmt.Sprintf(`{"code":"invalid","line":%d,"message":"m"}`, bad[0])}
	}},
	{"numbers from nowhere", false, func([]int, []string) reply {
		return reply{status: 400, body: `{"code":"invalid","line":99999,"message":"line 0, line 1, line 12345678"}`}
	}},
	{"no words but the header", true, func([]int, []string) reply { return reply{status: 400, header: influxHeader} }},
}

// Trials D1, D2, D3 in every wording, with poison first, last, in pairs, in runs, and in a tenth of the lines: the bad
// lines are parked, all others arrive, and the requests stay bounded.
func TestRefusedInEveryWording(t *testing.T) {
	rng := testbed.Random(t)
	const n = 400
	tenth := rng.Perm(n)[:n/10]
	sets := [][]int{{0}, {n - 1}, {0, n - 1}, {200, 201}, {0, 1, 2, 3, n - 2, n - 1}, {7, 8, 90, 91, 92, 300}, tenth}
	for _, w := range wordings {
		for _, places := range sets {
			s := newInflux(t, &influx{bad: isBad, say: w.say, all: w.all})
			all, good, bad := mixed(n, places...)
			m := newMemory(t, all...)
			_, stop := start(t, testConfig(s.URL), m)
			m.drained()
			stop()
			check(t, s.central, m, good, bad)
			if most := 6 + len(places)*15; s.count() > most {
				t.Errorf("%s, %v: %d requests, want at most %d", w.name, places, s.count(), most)
			}
			s.Close()
		}
	}
}

// Lines that are refused only in company: two fields of one new measurement whose types differ. The first to come wins.
func TestConflictWithinABatch(t *testing.T) {
	for _, partial := range []bool{true, false} {
		kinds := map[string]string{} // measurement to kind, once a line of it is stored
		var c *central
		c = newCentral(t, func(_ int, lines []string) reply {
			fresh, conflict := map[string]string{}, false
			var good []string
			for _, l := range lines {
				name, _, _ := strings.Cut(l, " ")
				kind := "float"
				if strings.Contains(l, "v=1i") {
					kind = "integer"
				}
				was := kinds[name]
				if was == "" {
					was = fresh[name]
				}
				if was != "" && was != kind {
					conflict = true
					continue
				}
				fresh[name] = kind
				good = append(good, l)
			}
			if conflict && !partial {
				return jsonReply(400, "field type conflict")
			}
			for name, kind := range fresh {
				kinds[name] = kind
			}
			c.keep(good...)
			if conflict {
				return jsonReply(400, "partial write: field type conflict dropped=1")
			}
			return reply{status: 204}
		})
		lines := windows("s", 0, 50)
		first, second := "m v=1 1", "m v=1i 2"
		all := slices.Concat(lines[:10], []string{first}, lines[10:30], []string{second}, lines[30:])
		m := newMemory(t, all...)
		_, stop := start(t, testConfig(c.URL), m)
		m.drained()
		stop()
		check(t, c, m, slices.Concat(lines, []string{first}), []string{second})
	}
}

// The server changes its mind while it is being asked: the search ends all the same, and nothing is lost.
func TestRefusedSetChanges(t *testing.T) {
	rng := testbed.Random(t)
	for range 20 {
		var mu sync.Mutex
		c := newCentral(t, func(_ int, lines []string) reply {
			mu.Lock()
			defer mu.Unlock()
			if hasSensor(lines, "bad") && rng.IntN(2) == 0 || rng.IntN(20) == 0 {
				return jsonReply(400, "not now")
			}
			return stored
		})
		all, good, _ := mixed(200, 0, 50, 51, 52, 150, 199)
		m := newMemory(t, all...)
		_, stop := start(t, testConfig(c.URL), m)
		m.drained()
		stop()
		held := c.holds()
		for l := range m.parked {
			held = append(held, l)
		}
		slices.Sort(held)
		if held = slices.Compact(held); !slices.Equal(held, sorted(all)) {
			t.Errorf("%d lines stored or parked, want %d", len(held), len(all))
		}
		if c.count() > 300 {
			t.Errorf("%d requests for %d lines", c.count(), len(good))
		}
		c.Close()
	}
}

// A server that stores a line, says that it refused it, and hangs up: parked and stored at once is no loss.
func TestStoredButRefused(t *testing.T) {
	var c *central
	c = newCentral(t, func(n int, lines []string) reply {
		if !hasSensor(lines, "bad") {
			return reply{status: 204, store: true, drop: n%3 == 0}
		}
		c.keep(lines...)
		return reply{status: 400, body: `{"error":"partial write"}`, header: map[string]string{"Connection": "close"}, drop: n%4 == 0}
	})
	all, _, bad := mixed(200, 0, 100, 199)
	m := newMemory(t, all...)
	_, stop := start(t, testConfig(c.URL), m)
	m.drained()
	stop()
	check(t, c, m, all, bad)
}
