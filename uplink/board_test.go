package uplink

import (
	"bytes"
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
