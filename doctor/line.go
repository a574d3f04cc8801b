package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"edgeagent/logs"
)

// A Verdict is how well one thing stands. A larger one is worse.
type Verdict uint8

// The verdicts.
const (
	OK   Verdict = iota
	Warn         // works, but somebody should look at it
	Fail         // does not work
)

// String is OK, WARN or FAIL.
func (v Verdict) String() string { return [...]string{OK: "OK", Warn: "WARN", Fail: "FAIL"}[v] }

// MarshalText is the String, for JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A Line is one thing that was looked at.
type Line struct {
	Check   string  `json:"check"` // what, in one word
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`           // what was seen
	Next    string  `json:"next,omitempty"` // what to do; "" with OK
}

// A Report is all lines, in a fixed order.
type Report []Line

// Worst is the worst verdict; OK of none.
func (r Report) Worst() Verdict {
	worst := OK
	for _, l := range r {
		worst = max(worst, l.Verdict)
	}
	return worst
}

// How a report is laid out.
const (
	width   = 80
	indent  = 17  // where the text begins, if no check has a longer name
	widest  = 32  // and if one has
	longest = 400 // bytes of a text
)

// Text writes the report for people: 80 columns wide as far as words allow, the next step behind an arrow, and the sum at the end.
// Foreign text in it is escaped.
func (r Report) Text(w io.Writer) error {
	var b strings.Builder
	var counts [3]int
	in := indent
	for _, l := range r {
		in = min(max(in, utf8.RuneCountInString(l.Check)+7), widest)
	}
	for _, l := range r {
		counts[l.Verdict]++
		head := fmt.Sprintf("%-5s %-*s", l.Verdict, in-7, l.Check)
		b.WriteString(wrap(head+" ", logs.Clean(l.Text, longest), in))
		if l.Next != "" {
			b.WriteString(wrap(strings.Repeat(" ", in)+"-> ", logs.Clean(l.Next, longest), in+3))
		}
	}
	fmt.Fprintf(&b, "\n%d OK, %d WARN, %d FAIL\n", counts[OK], counts[Warn], counts[Fail])
	_, err := io.WriteString(w, b.String())
	return err
}

// JSON writes the report as {"verdict": the worst, "checks": the lines}.
func (r Report) JSON(w io.Writer) error {
	text, err := json.MarshalIndent(struct {
		Verdict Verdict `json:"verdict"`
		Checks  Report  `json:"checks"`
	}{r.Worst(), r}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// wrap breaks text between words, behind head, with the further lines indented.
func wrap(head, text string, in int) string {
	var b strings.Builder
	b.WriteString(head)
	column, first := utf8.RuneCountInString(head), true
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case first:
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", in))
			column = in
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column, first = column+n, false
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}

// lines of one check.

func ok(check, format string, args ...any) Line {
	return Line{Check: check, Verdict: OK, Text: fmt.Sprintf(format, args...)}
}

func warn(check, next, format string, args ...any) Line {
	return Line{Check: check, Verdict: Warn, Text: fmt.Sprintf(format, args...), Next: next}
}

func fail(check, next, format string, args ...any) Line {
	return Line{Check: check, Verdict: Fail, Text: fmt.Sprintf(format, args...), Next: next}
}
