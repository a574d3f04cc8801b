package uplink

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Where the outbox is split: batches of 100.
func TestLanesSplit(t *testing.T) {
	const end = math.MaxUint64
	steps := []struct {
		what   string
		after  uint64 // of the live lane, before the split
		newest uint64
		want   []lane // the backlog, and the live lane
	}{
		{"less than a batch waits", 0, 60, []lane{{0, end}}},
		{"a start with a backlog", 0, 1000, []lane{{0, 900}, {900, end}}},
		{"it failed again at once", 900, 1010, []lane{{0, 910}, {910, end}}},
		{"another outage, with live points delivered meanwhile", 1500, 1600, []lane{{0, 910}, {1500, end}}},
		{"and a longer one", 1600, 2000, []lane{{0, 910}, {1600, 1900}, {1900, end}}},
	}
	l := newLanes("newest")
	for _, s := range steps {
		l.live.after = s.after
		l.splitAt(s.newest, 100)
		if got := append(append([]lane(nil), l.backlog...), l.live); !reflect.DeepEqual(got, s.want) {
			t.Errorf("%s: lanes %v, want %v", s.what, got, s.want)
		}
	}
	if l := newLanes("oldest"); l.split {
		t.Error(`in the order "oldest" nothing is ever split`)
	}
}

// Which lane has its turn: live points go first, but the backlog gets every fourth batch while they never end.
func TestLanesTakeTurns(t *testing.T) {
	l := newLanes("newest")
	l.splitAt(1000, 100)
	var got strings.Builder
	for i := range 16 {
		order := l.order()
		if i >= 12 { // nothing is live any more
			order = order[:1]
			for order[0] == &l.live {
				order = l.order()[1:]
			}
		}
		l.took(order[0])
		got.WriteString(map[bool]string{true: "L", false: "b"}[order[0] == &l.live])
	}
	if want := "LLLbLLLbLLLbbbbb"; got.String() != want {
		t.Errorf("turns %s, want %s", got.String(), want)
	}
	l.drained(&l.backlog[0])
	if order := l.order(); len(order) != 1 || order[0] != &l.live || l.drained(&l.live) {
		t.Errorf("when the backlog is drained: %v", order)
	}
}

// index is the number in the field max of a line made by windows.
func index(t *testing.T, line string) int {
	t.Helper()
	_, rest, _ := strings.Cut(line, "max=")
	text, _, _ := strings.Cut(rest, ",")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Errorf("line %q: %v", line, err)
	}
	return n
}

// A recorder notes the requests that a server took: the index of the first line, and how many there were.
type recorder struct{ firsts, sizes []int }

func (r *recorder) take(t *testing.T, lines []string) reply {
	r.firsts, r.sizes = append(r.firsts, index(t, lines[0])), append(r.sizes, len(lines))
	return stored
}

// After an outage the first request holds the newest windows, then the backlog goes out oldest first, and every line once.
func TestNewestFirstAfterAnOutage(t *testing.T) {
	lines := windows("s", 0, 1000)
	m := newMemory(t, lines[:100]...)
	var r recorder
	c := newCentral(t, func(n int, got []string) reply {
		if n < 2 || n > 4 {
			return r.take(t, got)
		}
		if n == 2 {
			m.add(lines[101:]...)
		}
		return reply{status: 500}
	})
	cfg := testConfig(c.URL)
	cfg.BatchPoints, cfg.Order = 100, "newest"
	_, stop := start(t, cfg, m)
	m.drained()
	m.add(lines[100])
	m.drained()
	stop()
	check(t, c, m, lines, nil)
	want := "[0 900 100 200 300 400 500 600 700 800] [100 100 100 100 100 100 100 100 100 100]"
	if got := fmt.Sprint(r.firsts, r.sizes); got != want {
		t.Errorf("first lines and sizes of the requests that were taken: %s\nwant %s", got, want)
	}
}

// A start with a backlog is the end of an outage too. While live points fill every batch the backlog has each fourth, and while
// they do not, they never wait behind more than one batch of it.
func TestNeitherLiveNorBacklogStarves(t *testing.T) {
	lines := windows("s", 0, 3000)
	m := newMemory(t, lines[:1000]...)
	var r recorder
	c := newCentral(t, func(n int, got []string) reply {
		if n < 20 { // more comes than goes
			m.add(lines[1000+(n-1)*100 : 1000+n*100]...)
		} else if n == 25 {
			m.add(lines[2900:]...)
		}
		return r.take(t, got)
	})
	cfg := testConfig(c.URL)
	cfg.BatchPoints, cfg.Order = 100, "newest"
	_, stop := start(t, cfg, m)
	m.drained()
	stop()
	check(t, c, m, lines, nil)
	var turns strings.Builder
	for _, first := range r.firsts {
		turns.WriteString(map[bool]string{true: "b", false: "L"}[first < 900])
	}
	if got := turns.String(); !strings.HasPrefix(got, "LLLbLLLbLLLbLLLbLLLb") || len(got) != 30 {
		t.Errorf("turns %s, want every fourth for the backlog", got)
	}
	if i := strings.Index(fmt.Sprint(r.firsts[24:27]), "2900"); i < 0 {
		t.Errorf("the points that came with request 25 are not in the next ones: %v", r.firsts[24:])
	}
}

// A bad line is found in the backlog as anywhere, and what is settled around it stays settled.
func TestNewestFirstWithBadLines(t *testing.T) {
	lines, bad := windows("s", 0, 600), windows("poison", 7000, 3)
	lines = slices.Concat(lines[:150], bad[:2], lines[150:590], bad[2:], lines[590:])
	m := newMemory(t, lines...)
	c := newCentral(t, func(_ int, got []string) reply {
		if hasSensor(got, "poison") {
			return jsonReply(400, "partial write: field type conflict dropped=1")
		}
		return stored
	})
	cfg := testConfig(c.URL)
	cfg.BatchPoints, cfg.Order = 100, "newest"
	_, stop := start(t, cfg, m)
	m.drained()
	stop()
	check(t, c, m, slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "poison") }), bad)
}
