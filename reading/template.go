package reading

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxText bounds a sensor id and a tag value, in bytes.
const maxText = 256

// A ref is one alternative inside braces: a capture, or a path.
type ref struct {
	capture int // index in the source's captures, -1 for a path
	path    path
}

// A part of a template is plain text, or alternatives of which the first present one is taken; text is then as written,
// with its braces.
type part struct {
	text string
	refs []ref
}

// A template makes a sensor id or a tag value.
type template []part

// parseTemplate reads text with {a|b}. An alternative that is the name of a capture is that capture, else it is a path.
func parseTemplate(s string, captures []string) (template, error) {
	var t template
	for s != "" {
		text, rest, open := strings.Cut(s, "{")
		if strings.Contains(text, "}") {
			return nil, fmt.Errorf("%q: a } without its {", s)
		}
		if text != "" {
			t = append(t, part{text: text})
		}
		if !open {
			return t, nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("%q: a { without its }", s)
		}
		refs, err := parseRefs(inner, captures)
		if err != nil {
			return nil, err
		}
		t, s = append(t, part{text: "{" + inner + "}", refs: refs}), after
	}
	return t, nil
}

func parseRefs(s string, captures []string) ([]ref, error) {
	var refs []ref
	for _, alt := range splitOutside(s, '|') {
		if i := slices.Index(captures, alt); i >= 0 {
			refs = append(refs, ref{capture: i})
			continue
		}
		p, err := parsePath(alt, new([]string))
		switch {
		case err != nil:
			return nil, fmt.Errorf("{%s}: %w", s, err)
		case alt == "":
			return nil, fmt.Errorf("{%s}: name a capture or a path", s)
		}
		refs = append(refs, ref{capture: -1, path: p})
	}
	return refs, nil
}

// paths calls f for every path in t.
func (t template) paths(f func(*path)) {
	for i := range t {
		for j := range t[i].refs {
			if r := &t[i].refs[j]; r.capture < 0 {
				f(&r.path)
			}
		}
	}
}

// static reports whether t needs no more than the first n captures, those of the topic.
func (t template) static(n int) bool {
	for _, p := range t {
		for _, r := range p.refs {
			if r.capture < 0 || r.capture >= n {
				return false
			}
		}
	}
	return true
}

// plain appends the text of a string or a number; a number gets no exponent. It reports false for anything else.
func plain(dst []byte, v gjson.Result) ([]byte, bool) {
	switch v.Type {
	case gjson.String:
		return append(dst, v.Str...), true
	case gjson.Number:
		if strings.ContainsAny(v.Raw, "eE") {
			return strconv.AppendFloat(dst, parseFloat(v.Raw), 'f', -1, 64), true
		}
		return append(dst, v.Raw...), true
	}
	return dst, false
}

// checkText says why s cannot be a sensor id or a tag value, "" if it can. Such a text is refused, never cleaned: cleaning
// could make two sensors one.
func checkText(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > maxText:
		return "is longer than 256 bytes"
	case s[len(s)-1] == '\\':
		return "ends in a backslash"
	case !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError):
		return "is not valid UTF-8"
	case hasControl(s):
		return "has control characters"
	}
	return ""
}

func hasControl(s string) bool {
	return strings.IndexFunc(s, unicode.IsControl) >= 0
}
