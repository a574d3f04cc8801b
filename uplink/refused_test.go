package uplink

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"edgeagent/testbed"
)

// refusing answers as a server that refuses bodies holding a line of a bad sensor. If partial, it stores the others.
func refusing(c **central, partial bool, status int, message string) func(int, []string) reply {
	return func(_ int, lines []string) reply {
		if !hasSensor(lines, "bad") {
			return stored
		}
		if partial {
			(*c).keep(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return hasSensor([]string{l}, "bad") })...)
		}
		return jsonReply(status, message)
	}
}

// mixed puts bad lines at the given places among n lines, and gives the good and the bad ones too.
func mixed(n int, places ...int) (all, good, bad []string) {
	good, bad = windows("ok", 0, n-len(places)), windows("bad", 10_000, len(places))
	all = slices.Clone(good)
	for i, p := range sorted(places) {
		all = slices.Insert(all, p, bad[i])
	}
	return all, good, bad
}

// Trials D1b, D2, D3: refused lines are parked with the server's reason, the rest arrives, in all the ways in which
// servers refuse.
func TestRefusedLines(t *testing.T) {
	f := func(status int, partial bool, message string, n, maxRequests int, places ...int) {
		t.Helper()
		var c *central
		c = newCentral(t, refusing(&c, partial, status, message))
		all, good, bad := mixed(n, places...)
		m := newMemory(t, all...)
		_, stop := start(t, testConfig(c.URL), m)
		m.drained()
		stop()
		check(t, c, m, good, bad)
		for line, reason := range m.parked {
			if reason != message {
				t.Errorf("%s is parked for %q, want %q", line, reason, message)
			}
		}
		if c.count() > maxRequests {
			t.Errorf("%d requests for %v of %d, want at most %d", c.count(), places, n, maxRequests)
		}
	}
	conflict := `partial write: field type conflict: input field "max" on measurement "temperature" is type float, already exists as type integer dropped=1`
	parse := "unable to parse 'x': missing fields"
	old := "partial write: points beyond retention policy dropped=10"
	f(400, true, conflict, 50, 12, 20)
	f(400, false, parse, 200, 40, 50, 100, 150)
	f(400, false, parse, 200, 40, 0, 1, 199)
	f(400, true, parse, 200, 40, 13, 77, 78)
	head := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	f(500, false, old, 110, 40, head...)
	f(500, true, old, 110, 40, head...)
	f(422, true, old, 110, 40, head...)
	f(400, false, old, 110, 40, head...)
	f(400, false, parse, 2, 5, 1)
	f(400, false, parse, 2, 5, 0)
	rng := testbed.Random(t)
	f(422, false, parse, 200, 40, rng.Perm(200)[:3]...)
	f(400, true, parse, 300, 600, rng.Perm(300)[:100]...)
}

// Trial D2 with a restart half-way: what is parked stays parked, nothing is lost.
func TestRefusedLinesAcrossRestart(t *testing.T) {
	var c *central
	half := make(chan struct{})
	once := sync.OnceFunc(func() { close(half) })
	refuse := refusing(&c, false, 400, "no")
	c = newCentral(t, func(n int, lines []string) reply {
		if n == 15 {
			once()
		}
		return refuse(n, lines)
	})
	all, good, bad := mixed(200, 40, 90, 160)
	m := newMemory(t, all...)
	_, stop := start(t, testConfig(c.URL), m)
	<-half
	stop()
	_, stop = start(t, testConfig(c.URL), m)
	m.drained()
	stop()
	check(t, c, m, good, bad)
	if c.count() > 40 {
		t.Errorf("%d requests, want at most 40", c.count())
	}
}

// Where v3 and v2 name lines, these are tried; where they lie, it costs little and loses nothing.
func TestHints(t *testing.T) {
	f := func(answer func(bad []int) string, maxRequests int) {
		t.Helper()
		c := newCentral(t, func(_ int, lines []string) reply {
			var bad []int
			for i, l := range lines {
				if hasSensor([]string{l}, "bad") {
					bad = append(bad, i+1)
				}
			}
			if len(bad) == 0 {
				return stored
			}
			return reply{status: 400, body: answer(bad)}
		})
		all, good, bad := mixed(1000, 100, 101, 500, 999)
		m := newMemory(t, all...)
		_, stop := start(t, testConfig(c.URL), m)
		m.drained()
		stop()
		check(t, c, m, good, bad)
		if c.count() > maxRequests {
			t.Errorf("%d requests, want at most %d", c.count(), maxRequests)
		}
	}
	v3 := func(numbers ...int) string {
		var data []string
		for _, n := range numbers {
			data = append(data, fmt.Sprintf(`{"original_line":"x","line_number":%d,"error_message":"m"}`, n))
		}
		return `{"error":"partial write of line protocol occurred","data":[` + strings.Join(data, ",") + `]}`
	}
	f(func(bad []int) string { return v3(bad...) }, 14) // each run of refused lines is asked about once more: its first, and its last
	f(func(bad []int) string { return v3(bad[0]) }, 24)
	f(func(bad []int) string { return fmt.Sprintf(`{"code":"invalid","message":"m","line":%d}`, bad[0]) }, 24)
	f(func(bad []int) string { return v3(1) }, 70)
	f(func(bad []int) string { return v3(-1, 0, 1<<30, 7, 7) }, 70)
	f(func(bad []int) string { return v3(bad[len(bad)-1]) }, 70)
}

// A server that refuses every line makes nothing be parked, however long it does; when it is mended all arrives.
func TestEveryLineRefused(t *testing.T) {
	var mended sync.Map
	c := newCentral(t, func(int, []string) reply {
		if _, ok := mended.Load("yes"); ok {
			return stored
		}
		return jsonReply(400, "partial write: field type conflict dropped=0")
	})
	lines := windows("s", 0, 300)
	m := newMemory(t, lines...)
	u, _ := start(t, testConfig(c.URL), m)
	for range 60 {
		<-c.got
	}
	if s := u.Status(); s.State != "blocked" || !strings.Contains(s.LastError, "every line is refused: partial write: field type conflict") {
		t.Errorf("status %+v", s)
	}
	if queued, _, parked := m.counts(); queued != 300 || parked != 0 {
		t.Errorf("%d queued, %d parked; want 300, 0", queued, parked)
	}
	mended.Store("yes", true)
	m.drained()
	check(t, c, m, lines, nil)
}

// A bad line that is alone proves nothing; it is parked when the server takes another line.
func TestLonePoisonLine(t *testing.T) {
	var c *central
	c = newCentral(t, refusing(&c, false, 400, "no"))
	bad, good := windows("bad", 0, 1), windows("ok", 0, 1)
	m := newMemory(t, bad...)
	start(t, testConfig(c.URL), m)
	for range 10 {
		<-c.got
	}
	if queued, _, parked := m.counts(); queued != 1 || parked != 0 {
		t.Errorf("%d queued, %d parked; want 1, 0", queued, parked)
	}
	m.add(good...)
	m.drained()
	check(t, c, m, good, bad)
}

// The newest line is bad, and so are many: some other line of the batch proves that the server takes lines.
func TestNewestIsBadToo(t *testing.T) {
	var c *central
	c = newCentral(t, refusing(&c, false, 400, "no"))
	places := make([]int, 60)
	for i := range places {
		places[i] = i
	}
	all, good, bad := mixed(200, append(places, 199)...)
	m := newMemory(t, all...)
	start(t, testConfig(c.URL), m)
	m.drained()
	check(t, c, m, good, bad)
}

// Trial D4: halves until it fits, remembers the size, parks the one line that never fits.
func TestBodyTooLarge(t *testing.T) {
	var c *central
	var tooLong int
	c = newCentral(t, func(_ int, lines []string) reply {
		if len(strings.Join(lines, "\n"))+1 > 4096 {
			tooLong++
			return jsonReply(413, "Request Entity Too Large")
		}
		return stored
	})
	lines := windows("s", 0, 1000)
	huge := fmt.Sprintf("temperature,sensor=s,tag=%s max=1 7", strings.Repeat("x", 5000))
	m := newMemory(t, slices.Insert(slices.Clone(lines), 500, huge)...)
	_, stop := start(t, testConfig(c.URL), m)
	m.drained()
	stop()
	check(t, c, m, lines, []string{huge})
	if !strings.Contains(m.parked[huge], "line of 5033 bytes is too long for the server: Request Entity Too Large") {
		t.Errorf("parked for %q", m.parked[huge])
	}
	if tooLong > 12 || c.count() > 60 {
		t.Errorf("%d of %d requests were too long", tooLong, c.count())
	}
}
