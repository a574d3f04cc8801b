package status

import (
	"math"
	"strings"
	"testing"

	"edgeagent/testbed"
)

func TestSpan(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0.0 s", 0.26: "0.3 s", 9.94: "9.9 s", 9.96: "10 s", 59.4: "59 s", 59.6: "1 min 0 s", 60: "1 min 0 s",
		3599: "59 min 59 s", 3600: "1 h 0 min", 86399: "23 h 59 min", 86400: "1 d 0 h", 40*86400 + 3*3600: "40 d 3 h",
		-12: "-12 s", 5e9: "57870 d 8 h",
	} {
		if got := span(s); got != want {
			t.Errorf("span(%v) = %q, want %q", s, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", -1: "-1", -999: "-999", -1000: "-1,000", 1 << 32: "4,294,967,296",
		999_999_999_999_999: "999,999,999,999,999", math.MaxInt64: "9223372036854775807",
	} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 256 << 20: "256 MiB", 5 << 40: "5 TiB", math.MaxInt64: "8 EiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSince(t *testing.T) {
	const now = "2026-03-01T14:03:00Z"
	for at, want := range map[string]string{
		"":                           "",
		"2026-03-01T14:00:00Z":       " since 2026-03-01T14:00:00Z, for 3 min 0 s",
		"2026-03-01T14:02:59.5Z":     " since 2026-03-01T14:02:59.5Z, for 0.5 s",
		"2026-03-01T14:03:01Z":       " since 2026-03-01T14:03:01Z", // the clock was set back
		"noon":                       " since noon",
		"0001-01-01T00:00:00Z":       " since 0001-01-01T00:00:00Z, for 739675 d 14 h",
		"2026-03-01T15:03:00+01:00":  " since 2026-03-01T15:03:00+01:00, for 0.0 s",
		"2026-03-01T14:03:00.00001Z": " since 2026-03-01T14:03:00.00001Z",
	} {
		if got := since(at, now); got != want {
			t.Errorf("since(%q) = %q, want %q", at, got, want)
		}
	}
	if got := since(now, "never"); got != " since "+now {
		t.Errorf("since without a clock = %q", got)
	}
}

func TestClean(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 5, ""},
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "abcd…"},
		{"温度温度温度", 5, "温度温度…"},
		{"a\nb", 9, `a\nb`},
		{"\x1b[2J", 9, `\x1b[2J`},
		{"\xff", 9, `\xff`},
		{"\u202eab", 20, `\u202eab`},
		{"a\u00a0b", 20, `a\u00a0b`},
		{`back\slash "quote" 'x'`, 40, `back\slash "quote" 'x'`},
		{"abc\x1b", 5, "abc…"}, // an escape is never cut in two
		{"\ufffd", 5, "\ufffd"},
	} {
		if got := clean(tt.text, tt.limit); got != tt.want {
			t.Errorf("clean(%q, %d) = %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
}

// Text passes several hands (agent, socket, command), and each cleans it.
func TestCleanTwice(t *testing.T) {
	rnd := testbed.Random(t)
	alphabet := []string{"a", "\\", "\x00", "\xff", "'", "\"", "温", "\u202e", "…", "\n", "\U0010ffff"}
	for range 2000 {
		var b strings.Builder
		for range rnd.IntN(20) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		once := clean(b.String(), 12)
		if n := len([]rune(once)); n > 12 {
			t.Fatalf("clean(%q) = %q has %d characters", b.String(), once, n)
		}
		if twice := clean(once, 12); twice != once {
			t.Fatalf("clean(%q) = %q, cleaned again %q", b.String(), once, twice)
		}
	}
}
