package configs

import (
	"fmt"
	"strings"
)

// quote writes s as a basic string of TOML, which unlike Go has no \x, \a or \v.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quoteText writes s as a string of the file, in which ${ would begin a variable.
func quoteText(s string) string { return quote(strings.ReplaceAll(s, "${", "$${")) }

// quotedList is "a", "b" or "c".
func quotedList(words []string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case i == len(words)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(quote(w))
	}
	return b.String()
}
