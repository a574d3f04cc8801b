package reading

import (
	"strings"

	"github.com/tidwall/gjson"
)

// members calls f for every member of an object, or every element of an array with an empty key, until f reports false.
// raw must be valid JSON. Values are handed out as text: most are passed over, and parsing their numbers would cost more
// than all the rest.
func members(raw string, f func(key, value string) bool) {
	object := raw[0] == '{'
	for i := 1; ; {
		i += blanks(raw[i:])
		if i >= len(raw) || raw[i] == '}' || raw[i] == ']' {
			return
		}
		key := ""
		if object {
			n := tokenLength(raw[i:])
			key = keyText(raw[i : i+n])
			i += n
			i += blanks(raw[i:])
		}
		n := valueLength(raw[i:])
		if n == 0 || !f(key, raw[i:i+n]) {
			return
		}
		i += n
	}
}

// blanks counts blanks, commas and colons at the start of s.
func blanks(s string) int {
	for i := range len(s) {
		if s[i] > ' ' && s[i] != ',' && s[i] != ':' {
			return i
		}
	}
	return len(s)
}

// keyText is the text of a quoted key.
func keyText(quoted string) string {
	if strings.IndexByte(quoted, '\\') >= 0 {
		return gjson.Parse(quoted).Str
	}
	return quoted[1 : len(quoted)-1]
}

// valueLength is the length of the JSON value at the start of s.
func valueLength(s string) int {
	switch s[0] {
	case '"':
		return tokenLength(s)
	case '{', '[':
		return nestLength(s)
	}
	i := 0
	for i < len(s) && s[i] > ' ' && s[i] != ',' && s[i] != '}' && s[i] != ']' {
		i++
	}
	return i
}

// nestLength is the length of the object or array at the start of s.
func nestLength(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i += tokenLength(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// parseValue makes a Result of one valid JSON value. Num of a number stays 0: see number.
func parseValue(raw string) gjson.Result {
	switch raw[0] {
	case '{', '[':
		return gjson.Result{Type: gjson.JSON, Raw: raw}
	case '"':
		return gjson.Parse(raw)
	case 't':
		return gjson.Result{Type: gjson.True, Raw: raw}
	case 'f':
		return gjson.Result{Type: gjson.False, Raw: raw}
	case 'n':
		return gjson.Result{Type: gjson.Null, Raw: raw}
	}
	return gjson.Result{Type: gjson.Number, Raw: raw}
}
