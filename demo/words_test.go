package demo

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/sim"
	"edgeagent/status"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		speed float64
		long  time.Duration
		want  string
	}{
		{DefaultSpeed, DefaultFor, ""},
		{0, MinFor, ""},
		{-1, DefaultFor, "speed"},
		{math.NaN(), DefaultFor, "speed"},
		{math.Inf(1), DefaultFor, "speed"},
		{1, MinFor - 1, "for"},
		{1, 0, "for"},
	} {
		err := Options{Speed: c.speed, For: c.long}.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want+":") {
			t.Errorf("speed %v for %v: %v, want %q", c.speed, c.long, err, c.want)
		}
	}
}

// The turns come in order, with a window to become final between each two that need one.
func TestMarks(t *testing.T) {
	for _, long := range []time.Duration{MinFor, DefaultFor, 24 * time.Hour} {
		m := marksOf(long)
		turns := []int64{fleetStart, m.first, m.odd, m.down, m.restart, m.up, m.end}
		if !slices.IsSorted(turns) {
			t.Errorf("%v: not in order: %v", long, turns)
		}
		size := int64(windowSize)
		for _, pair := range [][2]int64{{m.first, m.down}, {m.down, m.up}, {m.up, m.end}} {
			if pair[0]/size == (pair[1]-1)/size {
				t.Errorf("%v: no window becomes final from %s to %s", long, fleetTime(pair[0]), fleetTime(pair[1]))
			}
		}
	}
}

// The demo's agent has the defaults that the story explains, and would run.
func TestConfig(t *testing.T) {
	w := &world{brokerURL: "tcp://127.0.0.1:1", serverURL: "http://127.0.0.1:2", dir: "/x"}
	cfg, err := w.config()
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.CheckRun(); err != nil {
		t.Error(err)
	}
	if cfg.Gateway.ID != gateway || cfg.Window.Size.Std() != windowSize || cfg.Watermark.Delay.Std() != delay || cfg.Buffer.Dir != "/x" {
		t.Errorf("configuration: %+v", cfg)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 90)
	for _, c := range []struct{ text, want string }{
		{"", "> \n"},
		{"a  b\nc", "> a b c\n"},
		{strings.Repeat("y", 78), "> " + strings.Repeat("y", 78) + "\n"},
		{strings.Repeat("y", 76) + " z", "> " + strings.Repeat("y", 76) + " z\n"},
		{strings.Repeat("y", 77) + " z", "> " + strings.Repeat("y", 77) + "\n  z\n"},
		{"a " + long + " b", "> a\n  " + long + "\n  b\n"},
	} {
		if got := wrap(c.text, "> ", "  "); got != c.want {
			t.Errorf("wrap(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestPrinter(t *testing.T) {
	var out bytes.Buffer
	p := newPrinter(&out)
	p.now = func() time.Time { return time.Date(2026, 6, 1, 9, 8, 7, 0, time.UTC) }
	p.title("One")
	p.title("Two")
	p.uploaded([]byte("m,sensor=a max=1,count=1i 1"))
	p.uploaded([]byte("late_drops,gateway=gw1,sensor=kitchen count=1i,total=2i,max_lateness_s=1080.074 1780304100000000000"))
	p.lines("x ", "")
	p.logger().With("a", 1).Warn("w", "held_back", 0, "cause", "b c", "retry_in", 1234567890*time.Nanosecond, slog.String("k", "v"))
	p.logger().Debug("not told")
	want := "\n[09:08:07] 1. One\n\n[09:08:07] 2. Two\n> m,sensor=a max=1,count=1i 1\n" +
		"> late_drops,gateway=gw1,sensor=kitchen\n      count=1i,total=2i,max_lateness_s=1080.074 1780304100000000000\n" +
		"      x\n\n  agent: w a=1 cause=\"b c\" retry_in=1.235s k=v\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	p.w = brokenWriter{errors.New("full")}
	p.text("x")
	if err := p.failure(); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("failure: %v", err)
	}
}

func TestBooks(t *testing.T) {
	l := status.Ledger{Received: 10, Windowed: 4, Late: 1, Duplicate: 2, Rejected: map[string]int64{"range": 1, "decode": 2, "time": 0}}
	b := readingsBook(l)
	if want := "10 = 4 + 1 + 2 + 0 + 3: the books balance."; b.verdict() != want || !b.balances() {
		t.Errorf("got %q, want %q", b.verdict(), want)
	}
	if got, want := rejectedInWords(l), "decode 2, range 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := columnsInWords(l), "10 received = 4 windowed + 1 late + 2 duplicate + 0 retained + 3 rejected."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p := pointsBook(status.Points{Finalized: 1, Updated: 2, LateReports: 3, LateReadings: 4, Health: 5, Carried: 6,
		Uploaded: 7, Queued: 8, Parked: 1, Evicted: 2, Superseded: 2})
	if want := "1 + 2 + 3 + 4 + 5 + 6 is not 7 + 8 + 1 + 2 + 2: THE BOOKS DO NOT BALANCE."; p.verdict() != want || p.balances() {
		t.Errorf("got %q, want %q", p.verdict(), want)
	}
	want := []string{"received           10  =  windowed         4  in a window", "                          late             1  after their window was final"}
	if got := b.table()[:2]; !slices.Equal(got, want) {
		t.Errorf("table:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLedgerDiffs(t *testing.T) {
	want := sim.Ledger{Received: 9, Windowed: 5, Late: 1, Duplicate: 1, Retained: 0, Rejected: map[string]int64{"decode": 2}}
	got := status.Ledger{Received: 9, Windowed: 5, Late: 1, Duplicate: 1, Rejected: map[string]int64{"decode": 2, "range": 0}}
	if diffs := ledgerDiffs(want, got); diffs != nil {
		t.Errorf("differences in equal ledgers: %q", diffs)
	}
	got.Late, got.Rejected["range"] = 2, 1
	if diffs := ledgerDiffs(want, got); !slices.Equal(diffs, []string{"ledger: late: want 1, got 2", "ledger: rejected range: want 0, got 1"}) {
		t.Errorf("differences: %q", diffs)
	}
}

func TestInWords(t *testing.T) {
	l := sim.Line{Measurement: "temperature", Tags: []reading.Tag{{Key: "gateway", Value: "g"}, {Key: "sensor", Value: "attic"}},
		Fields: map[string]any{"max": 19.69, "count": int64(15)}, Time: fleetStart}
	want := "In words: of the 15 readings of the attic from 08:00 to 08:05, the highest was 19.69 C."
	if got := inWords(l); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
