package status

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"
)

func text(t *testing.T, r Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGolden(t *testing.T) {
	fresh := Report{Gateway: "gw-07", Version: "1.4.0", UptimeS: 2, Clock: Clock{Now: "2026-03-01T14:03:00Z", Trusted: true},
		Ledger: Ledger{Balanced: true}, Points: Points{Balanced: true}, Buffer: Buffer{Bytes: 65536, MaxBytes: 256 << 20}}
	for name, r := range map[string]Report{"day.golden": dayReport(), "trouble.golden": troubleReport(), "fresh.golden": fresh} {
		golden(t, name, text(t, r))
	}
}

func TestTextFits(t *testing.T) {
	huge := dayReport()
	huge.UptimeS, huge.Windows.Open, huge.Windows.Finalized, huge.Sensors = math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64
	huge.Ledger.Received, huge.Ledger.Windowed = math.MaxInt64, math.MaxInt64
	huge.Points.LateReadings, huge.Points.Superseded = 1e15-1, math.MaxInt64
	huge.Lag.MaxS, huge.Watermark.BehindS = math.Inf(1), math.MaxFloat64
	for name, r := range map[string]Report{"day": dayReport(), "trouble": troubleReport(), "hostile": hostileReport(), "huge": huge, "empty": {}} {
		for line := range strings.Lines(text(t, r)) {
			line = strings.TrimSuffix(line, "\n")
			if n := columns(line); n > 80 {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
			if strings.TrimRight(line, " ") != line {
				t.Errorf("%s: blanks at the end: %q", name, line)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("%s: unprintable character: %q", name, line)
			}
		}
	}
}

// Where the broker refuses a subscription all is not well, although it is connected.
func TestTextRefusedFilters(t *testing.T) {
	r := dayReport()
	for _, c := range []struct {
		refused []string
		want    string
	}{
		{[]string{"s/+/t"}, "The broker refuses the subscription to s/+/t: nothing comes from there."},
		{[]string{"a", "b\x1b[2J", "c", "d", "e"}, `The broker refuses the subscription to a, b\x1b[2J, c and 2 other filters:`},
	} {
		r.MQTT.Refused = c.refused
		var b strings.Builder
		if err := (Overview{Report: r}).Text(&b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, "WRONG "+c.want) || strings.Contains(got, "All is well.") {
			t.Errorf("%q refused: %s", c.refused, got)
		}
		if got := text(t, r); !strings.Contains(got, "REFUSES the subscription to "+clean(c.refused[0], maxName)) {
			t.Errorf("%q refused, beside the broker: %s", c.refused, got)
		}
	}
}

func TestTextError(t *testing.T) {
	if err := dayReport().Text(brokenWriter{}); !errors.Is(err, errAway) {
		t.Errorf("Text = %v, want the writer's error", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errAway }

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"abcde", 5, []string{"abcde"}},
		{"ab cd ef", 5, []string{"ab cd", "ef"}},
		{"abcdefg hi", 5, []string{"abcde", "fg hi"}},
		{"ab cdefghi", 5, []string{"ab", "cdefg", "hi"}},
		{"温度温", 5, []string{"温度", "温"}},
		{"  a   b ", 5, []string{"a b"}},
	} {
		if got := wrap(tt.text, tt.width); strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("wrap(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}
