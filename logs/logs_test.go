package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"edgeagent/docs"
)

// at is the time of every line here; its zone must not show.
var at = time.Date(2026, 11, 29, 4, 12, 7, 5e8, time.FixedZone("", 3600))

// line is what a handler makes of one event.
func line(t *testing.T, style Style, level slog.Level, message string, args ...any) string {
	t.Helper()
	var b bytes.Buffer
	h := NewHandler(&b, style, slog.LevelDebug)
	r := slog.NewRecord(at, level, message, 0)
	r.Add(args...)
	if err := h.Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStyles(t *testing.T) {
	clock := at.Local().Format("15:04:05")
	for _, c := range []struct {
		style Style
		level slog.Level
		want  string
	}{
		{Plain, slog.LevelWarn, "2026-11-29T03:12:07Z WARN  uplink down  queued=3\n"},
		{Plain, slog.LevelDebug, "2026-11-29T03:12:07Z DEBUG uplink down  queued=3\n"},
		{Terminal, slog.LevelWarn, clock + " WARN  uplink down                           queued=3\n"},
		{Journal, slog.LevelError, "<3>ERROR uplink down  queued=3\n"},
		{Journal, slog.LevelWarn, "<4>WARN  uplink down  queued=3\n"},
		{Journal, slog.LevelInfo, "<6>INFO  uplink down  queued=3\n"},
		{Journal, slog.LevelDebug, "<7>DEBUG uplink down  queued=3\n"},
	} {
		if got := line(t, c.style, c.level, "uplink down", "queued", 3); got != c.want {
			t.Errorf("style %d: got %q, want %q", c.style, got, c.want)
		}
	}
}

// What belongs to a line stands below that of the line before, on a terminal, also when a message has characters of several bytes.
func TestAlignment(t *testing.T) {
	column := func(message string) int {
		text := line(t, Terminal, slog.LevelInfo, message, "key", 1)
		return len([]rune(text[:strings.Index(text, "key=")]))
	}
	if a, b := column("x"), column("Wärme °C: ü"); a != b {
		t.Errorf("columns %d and %d", a, b)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"plain", "k=plain"},
		{"", `k=""`},
		{"two words", `k="two words"`},
		{`a"b`, `k="a\"b"`},
		{"a=b", `k="a=b"`},
		{"new\nline", `k="new\nline"`},
		{"\x1b[31mred", `k="\x1b[31mred"`},
		{"to the \u202eleft", `k="to the \u202eleft"`},
		{"bad \xff", `k="bad \xff"`},
		{"Küche", "k=Küche"},
		{errors.Join(errors.New("one"), errors.New("two")), `k="one; two"`},
		{1500 * time.Millisecond, "k=1.5s"},
		{226246 * time.Millisecond, "k=3m46s"},
		{at, "k=2026-11-29T03:12:07Z"},
		{true, "k=true"},
		{[]string{"a", "b"}, `k="[a b]"`},
		{slog.GroupValue(slog.Int("a", 1), slog.Int("b", 2)), "k.a=1 k.b=2"},
	} {
		want := "2026-11-29T03:12:07Z INFO  m  " + c.want + "\n"
		if got := line(t, Plain, slog.LevelInfo, "m", "k", c.value); got != want {
			t.Errorf("%#v: got %q, want %q", c.value, got, want)
		}
	}
}

// A count of what was held back is not said when it is nothing; other zeros are.
func TestQuietZeros(t *testing.T) {
	if got := line(t, Plain, slog.LevelInfo, "m", "held_back", 0, "repeated", 0, "queued", 0); !strings.HasSuffix(got, " m  queued=0\n") {
		t.Errorf("got %q", got)
	}
	if got := line(t, Plain, slog.LevelInfo, "m", "held_back", 7); !strings.HasSuffix(got, " m  held_back=7\n") {
		t.Errorf("got %q", got)
	}
}

// Whatever a device sends, a line stays one line of bounded length without control characters.
func TestForeignText(t *testing.T) {
	bad := "id\r\n2026-11-29T03:12:07Z ERROR forged\x1b]0;title\x07\x00\u2028" + strings.Repeat("x", 100<<10)
	for _, got := range []string{line(t, Plain, slog.LevelInfo, "m", "topic", bad), line(t, Plain, slog.LevelInfo, bad), line(t, Terminal, slog.LevelInfo, "m", bad, "v")} {
		if strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\r\x1b\x07\x00\u2028") || len(got) > 1000 {
			t.Errorf("%d bytes, %d lines: %.200q", len(got), strings.Count(got, "\n"), got)
		}
	}
}

func TestCutAtCharacters(t *testing.T) {
	got := line(t, Plain, slog.LevelInfo, "m", "k", "x"+strings.Repeat("é", maxValue))
	if !strings.HasSuffix(got, "é…\n") || strings.Contains(got, `\x`) {
		t.Errorf("ends in %q", got[len(got)-12:])
	}
}

func TestWithAttrsAndGroups(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(NewHandler(&b, Journal, slog.LevelInfo))
	a, z := log.With("uplink", "a"), log.With("uplink", "z")
	a.WithGroup("tls").With("v", 3).Info("m", "k", 1)
	z.Info("m")
	log.Debug("not asked for")
	if want := "<6>INFO  m  uplink=a tls.v=3 tls.k=1\n<6>INFO  m  uplink=z\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		o            Options
		lines, first string
	}{
		{Options{Level: "warn", Style: Journal}, "<4>WARN  w\n", "i"},
		{Options{Level: "debug", Style: Journal}, "<7>DEBUG d\n<6>INFO  i\n<4>WARN  w\n", "i"},
		{Options{Style: Journal}, "<6>INFO  i\n<4>WARN  w\n", "i"},
	} {
		var b bytes.Buffer
		c.o.Recent = new(Ring)
		log := New(&b, c.o)
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		if b.String() != c.lines {
			t.Errorf("%+v: got %q, want %q", c.o, b.String(), c.lines)
		}
		if kept := c.o.Recent.Lines(); len(kept) != 2 || !strings.HasSuffix(kept[0], "Z INFO  i") || !strings.HasSuffix(kept[1], "Z WARN  w") {
			t.Errorf("%+v: kept %q", c.o, kept)
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	ring := new(Ring)
	New(&b, Options{JSON: true, Recent: ring}).With("uplink", "a").Warn("down", "topic", "x\n\x1b", "held_back", 0, "next", 90*time.Second)
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["level"] != "WARN" || got["msg"] != "down" || got["topic"] != "x\n\x1b" || got["uplink"] != "a" || got["held_back"] != 0.0 || got["next"] != "1m30s" {
		t.Errorf("got %v", got)
	}
	if kept := ring.Lines(); len(kept) != 1 || !strings.HasSuffix(kept[0], `WARN  down  uplink=a topic="x\n\x1b" next=1m30s`) {
		t.Errorf("kept %q", kept)
	}
}

func TestRing(t *testing.T) {
	r := new(Ring)
	if got := r.Lines(); len(got) != 0 {
		t.Errorf("an empty ring has %q", got)
	}
	for i := range 2*ringLines + 3 {
		fmt.Fprintf(r, "line %d %s\n", i, strings.Repeat("x", 2000))
	}
	got := r.Lines()
	if len(got) != ringLines || !strings.HasPrefix(got[0], "line 203 ") || !strings.HasPrefix(got[ringLines-1], "line 402 ") {
		t.Fatalf("%d lines from %.12q to %.12q", len(got), got[0], got[len(got)-1])
	}
	for _, l := range got {
		if len(l) > ringBytes+len("…") {
			t.Errorf("a line of %d bytes", len(l))
		}
	}
}

// The lines that docs/operations.md shows are those of one event on a terminal and in a file, as far as it shows them.
func TestLinesOfOperations(t *testing.T) {
	d, err := docs.Read("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	attrs := []any{"cause", "no route to host", "to", `https://central/write (database "edge")`, "since", "2026-11-29T02:12:07Z", "attempts", 3}
	zone := at.Local().Format("15:04:05") // what is shown is the log of a gateway on UTC
	want := []string{strings.Replace(line(t, Terminal, slog.LevelWarn, "uplink down", attrs...), zone, "03:12:07", 1), line(t, Plain, slog.LevelWarn, "uplink down", attrs...)}
	for _, b := range d.Blocks {
		if !strings.HasPrefix(b.Text, "03:12:07") {
			continue
		}
		shown := strings.Split(strings.TrimSpace(b.Text), "\n")
		for i, w := range want {
			if part, cut := strings.CutSuffix(shown[i], "…"); len(shown) != len(want) || !cut || !strings.HasPrefix(w, part) {
				t.Errorf("docs/operations.md shows\n%s\nthe log says\n%s", strings.Join(shown, "\n"), w)
			}
		}
		return
	}
	t.Error("docs/operations.md shows no lines of the log")
}
