package logs

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of text in a line, in bytes before escaping.
const (
	maxMessage = 600
	maxValue   = 600
)

// quiet are the keys of counts that say nothing when they are 0.
var quiet = map[string]bool{"held_back": true, "repeated": true}

// appendAttr appends " key=value", or nothing for an empty attribute and a quiet 0.
func appendAttr(b []byte, prefix string, a slog.Attr) []byte {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range v.Group() {
			b = appendAttr(b, prefix, inner)
		}
		return b
	}
	text := textOf(v)
	if a.Key == "" || quiet[a.Key] && text == "0" {
		return b
	}
	b = append(b, ' ')
	b = append(b, clean(prefix+a.Key, maxValue)...)
	b = append(b, '=')
	return append(b, quoted(text)...)
}

// textOf is a value as people read it: instants in whole seconds, UTC.
func textOf(v slog.Value) string {
	switch v.Kind() {
	case slog.KindString:
		return v.String()
	case slog.KindTime:
		return v.Time().UTC().Format(time.RFC3339)
	}
	switch x := v.Any().(type) {
	case time.Duration:
		if x.Abs() >= 10*time.Second {
			x = x.Round(time.Second)
		}
		return x.String()
	case error:
		return strings.ReplaceAll(x.Error(), "\n", "; ")
	case []byte:
		return string(x)
	case fmt.Stringer:
		return x.String()
	}
	return fmt.Sprint(v.Any())
}

// quoted is s, in quotes if it could be taken for more than one word.
func quoted(s string) string {
	s = cut(s, maxValue)
	if s == "" || strings.ContainsAny(s, " \"=") || clean(s, maxValue) != s {
		return strconv.Quote(s)
	}
	return s
}

// clean is s with everything escaped that could end a line or change a terminal, cut to n bytes.
func clean(s string, n int) string {
	s = cut(s, n)
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !strconv.IsPrint(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cut shortens s to at most n bytes, at a boundary of characters, and marks that.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Clean is foreign text made safe to show in one line: what could end a line or change a terminal is escaped, and what is longer than n
// bytes is cut.
func Clean(s string, n int) string { return clean(s, n) }
