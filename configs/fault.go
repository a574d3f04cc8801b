package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Fault is one thing that is wrong in a file.
type Fault struct {
	Line, Col int    // of the key, or of the section that lacks it; both from 1; 0 if the file could not be read
	Key       string // section and key, "window.size"; "" if the text is no TOML
	Problem   string // what is wrong (got x); what to do
}

// An Error is every fault of one file, by line. It is never empty.
type Error struct {
	File   string
	Faults []Fault

	cause error // why the file could not be read
}

// Error gives one fault a line: file:line:col: key: problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.text(e.File)
	}
	return strings.Join(lines, "\n")
}

// Unwrap is why the file could not be read, for instance fs.ErrNotExist; nil for faults in its text.
func (e *Error) Unwrap() error { return e.cause }

func (f Fault) text(file string) string {
	var b strings.Builder
	b.WriteString(file)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Col)
	}
	b.WriteString(": ")
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	b.WriteString(f.Problem)
	return b.String()
}

// faultsOf makes an Error of faults, sorted by place; nil if there are none.
func faultsOf(file string, faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Key, b.Key))
	})
	return &Error{File: file, Faults: faults}
}

// got shows a value of the file in a fault, cut to a readable length.
func got(v any) string {
	const longest = 60
	var s string
	switch v := v.(type) {
	case string:
		s = strconv.Quote(v)
	case map[string]any:
		s = "a table"
	case []any:
		s = "a list"
	default:
		s = fmt.Sprint(v)
	}
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return "(got " + s + ")"
}
