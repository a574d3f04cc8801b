package reading

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type stepKind uint8

const (
	keyStep    stepKind = iota // name
	anyStep                    // {name}: any key
	affixStep                  // pre{name}post: letters and digits between
	indexStep                  // [n]
	allStep                    // [*]
	filterStep                 // [key=value]
)

// A step goes from one JSON value to those below it.
type step struct {
	kind stepKind
	key  string // key; text before the capture; key of the filter
	post string // text after the capture; value of the filter
	n    int    // index
	slot int    // capture: its place in node.caps
}

// A path is one alternative of a|b. Without steps it is the record, or the payload, itself.
type path struct {
	rooted bool // begins with $.: from the payload's root instead of the record
	steps  []step
	memo   int // rooted paths: place of the answer in Decoder.memo, so that it is found once a message; else -1
}

// many reports whether a path may find more than one value.
func (p path) many() bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.kind != keyStep && s.kind != indexStep })
}

// maxCaptures bounds the captures of one path.
const maxCaptures = 4

// parsePaths reads alternatives a|b. names are the captures known so far in this key; those found are added.
func parsePaths(s string, names *[]string) ([]path, error) {
	var paths []path
	for _, alt := range splitOutside(s, '|') {
		p, err := parsePath(alt, names)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", alt, err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// splitOutside splits s at sep, but not inside [ ] or after a backslash.
func splitOutside(s string, sep byte) []string {
	var parts []string
	start, inside := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[':
			inside = true
		case s[i] == ']':
			inside = false
		case s[i] == sep && !inside:
			parts = append(parts, s[start:i])
			start = i + 1
		}
	}
	return append(parts, s[start:])
}

// parsePath reads one alternative. "" is the value itself.
func parsePath(s string, names *[]string) (path, error) {
	p := path{memo: -1}
	if s == "$" {
		p.rooted = true
		return p, nil
	}
	s, p.rooted = strings.CutPrefix(s, "$.")
	if s == "" && !p.rooted {
		return p, nil
	}
	for i, part := range splitOutside(s, '.') {
		steps, err := parsePart(part, i == 0, names)
		if err != nil {
			return p, err
		}
		p.steps = append(p.steps, steps...)
	}
	return p, nil
}

// parsePart reads what stands between two dots: a key and any number of [ ].
func parsePart(s string, first bool, names *[]string) ([]step, error) {
	key, brackets := cutBracket(s)
	if key == "" && (brackets == "" || !first) {
		return nil, fmt.Errorf("a step is empty")
	}
	var steps []step
	if key != "" {
		st, err := parseKey(key, names)
		if err != nil {
			return nil, err
		}
		steps = append(steps, st)
	}
	for brackets != "" {
		inside, rest, ok := strings.Cut(brackets[1:], "]")
		if !ok || rest != "" && rest[0] != '[' {
			return nil, fmt.Errorf("[ ] does not close, or a dot is missing after it")
		}
		st, err := parseBracket(inside)
		if err != nil {
			return nil, err
		}
		steps, brackets = append(steps, st), rest
	}
	return steps, nil
}

// cutBracket splits s before the first [ that no backslash precedes.
func cutBracket(s string) (key, brackets string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			return s[:i], s[i:]
		}
	}
	return s, ""
}

func parseKey(s string, names *[]string) (step, error) {
	if strings.Contains(s, `\`) {
		return step{kind: keyStep, key: unescapeKey(s)}, nil
	}
	pre, name, post, err := cutCapture(s)
	if err != nil {
		return step{}, err
	}
	if name == "" {
		return step{kind: keyStep, key: s}, nil
	}
	if err := checkName(name); err != nil {
		return step{}, err
	}
	slot := slices.Index(*names, name)
	if slot < 0 {
		if len(*names) == maxCaptures {
			return step{}, fmt.Errorf("more than %d captures", maxCaptures)
		}
		slot = len(*names)
		*names = append(*names, name)
	}
	if pre+post == "" {
		return step{kind: anyStep, slot: slot}, nil
	}
	return step{kind: affixStep, key: pre, post: post, slot: slot}, nil
}

// unescapeKey drops the backslash before a character that is meant as it stands.
func unescapeKey(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func parseBracket(s string) (step, error) {
	if s == "*" {
		return step{kind: allStep}, nil
	}
	if key, value, ok := strings.Cut(s, "="); ok && key != "" {
		return step{kind: filterStep, key: key, post: value}, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return step{}, fmt.Errorf("[%s]: [n] from 0, [*] or [key=value] is allowed", s)
	}
	return step{kind: indexStep, n: n}, nil
}
