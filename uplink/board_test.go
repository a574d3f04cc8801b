package uplink

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// aBoard is one whose clock the test sets, and its log.
func aBoard(now *time.Time) (*board, *bytes.Buffer) {
	var log bytes.Buffer
	b := newBoard(slog.New(slog.NewTextHandler(&log, nil)), "there", func() time.Time { return *now })
	return &b, &log
}

var noRoute = answer{outcome: down, reason: "no route to host"}

// A day without the server is told in some ten lines, first often and then seldom, and its end in one.
func TestBoardLongTrouble(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b, log := aBoard(&now)
	var told []int
	for minute := range 24 * 60 {
		before := log.Len()
		b.trouble(noRoute, time.Minute)
		if log.Len() > before {
			told = append(told, minute)
		}
		now = now.Add(time.Minute)
	}
	want := []int{0, 5, 15, 35, 75, 155, 315, 635, 995, 1355}
	if len(told) != len(want) {
		t.Fatalf("told after %v minutes, want %v", told, want)
	}
	for i := range want {
		if told[i] != want[i] {
			t.Errorf("told after %v minutes, want %v", told, want)
			break
		}
	}
	b.up()
	if got := log.String(); !strings.Contains(got, `msg="uplink up again" to=there after=24h0m0s attempts=1440`) || !strings.Contains(got, "held_back=359") {
		t.Errorf("log:\n%s", got)
	}
}

// A server that comes and goes every minute for a day is told less and less; one that was well for long and fails is told at once.
func TestBoardFlapping(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b, log := aBoard(&now)
	for range 24 * 60 {
		b.trouble(noRoute, time.Second)
		now = now.Add(time.Second)
		b.up()
		now = now.Add(59 * time.Second)
	}
	if n := strings.Count(log.String(), "\n"); n < 48 || n > 80 {
		t.Errorf("%d lines in a day", n)
	}
	now = now.Add(5 * time.Hour)
	log.Reset()
	b.trouble(noRoute, time.Second)
	now = now.Add(time.Minute)
	b.up()
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("after a quiet time: %s", log)
	}
}

// A sensor that has a point parked with every window for a day is told of one by one first, then in sums, and again after a quiet hour; all
// points are in what is told but those that wait for the next sum.
func TestBoardParked(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b, log := aBoard(&now)
	park := func(n int) (lines []string) {
		log.Reset()
		points := make([]Refused, n)
		for i := range points {
			points[i] = Refused{Seq: uint64(i + 1), Reason: "conflict"}
		}
		b.parked(points)
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
	var single, sums, summed int
	for range 24 * 12 {
		for _, l := range park(1) {
			switch {
			case strings.Contains(l, `msg="point parked" seq=1 reason=conflict to=there`):
				single++
			case strings.Contains(l, `msg="more points parked"`):
				var n int
				if _, err := fmt.Sscanf(l[strings.Index(l, "points="):], "points=%d reason=conflict", &n); err != nil {
					t.Errorf("%s: %v", l, err)
				}
				sums++
				summed += n
			case l != "":
				t.Errorf("odd line %s", l)
			}
		}
		now = now.Add(5 * time.Minute)
	}
	// summed up after 50 min, then 5, 10, 20, 40, 80, 160, 320 and 360 min later each: at 50, 55, 65, 85, 125, 205, 365, 685, 1045, 1405
	if single != 10 || sums != 10 || summed != 1405/5+1-10 {
		t.Errorf("%d told one by one, %d in %d sums; want 10, 272 in 10", single, summed, sums)
	}
	now = now.Add(2 * time.Hour)
	if lines := park(5000); len(lines) != 11 || !strings.Contains(lines[10], `msg="more points parked" points=4996 reason=conflict`) {
		t.Errorf("after a quiet time:\n%s", strings.Join(lines, "\n")) // 6 were not told before
	}
	if lines := park(5000); lines[0] != "" {
		t.Errorf("at once after it:\n%s", strings.Join(lines, "\n"))
	}
}
