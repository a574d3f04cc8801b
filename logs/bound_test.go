package logs

import (
	"log/slog"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Any message, key and value make one printable line.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		foreign := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "bytes")) })
		got := line(t, Style(rapid.IntRange(0, 2).Draw(rt, "style")), slog.LevelInfo, foreign.Draw(rt, "message"), "k"+foreign.Draw(rt, "key"), foreign.Draw(rt, "value"))
		if !utf8.ValidString(got) {
			rt.Fatalf("no UTF-8: %q", got)
		}
		for i, r := range got {
			if !unicode.IsPrint(r) && (r != '\n' || i != len(got)-1) {
				rt.Fatalf("%q at %d in %q", r, i, got)
			}
		}
	})
}
