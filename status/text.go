package status

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// The shape of the text.
const (
	textWidth  = 80
	labelWidth = 11 // where the words begin
)

// Text writes the report for people, in lines of at most 80 columns. It is one write; the error is w's.
func (r Report) Text(w io.Writer) error {
	r = r.tidy()
	var b bytes.Buffer
	r.writeHead(&b)
	fmt.Fprintln(&b)
	r.writeParts(&b)
	r.writeBooks(&b)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

func (r Report) writeHead(b *bytes.Buffer) {
	head := fmt.Sprintf("edgeagent %s, version %s, up %s", r.Gateway, r.Version, span(float64(r.UptimeS)))
	for _, line := range wrap(head, textWidth) {
		fmt.Fprintln(b, line)
	}
}

func (r Report) writeParts(b *bytes.Buffer) {
	for _, p := range r.parts() {
		writeWords(b, p.name, p.lines)
	}
}

func (r Report) writeBooks(b *bytes.Buffer) {
	for _, k := range r.books() {
		fmt.Fprintln(b)
		writeBook(b, k)
	}
}

// writeWords writes lines beside a label that is written once.
func writeWords(b *bytes.Buffer, label string, lines []string) {
	for _, line := range lines {
		for _, s := range wrap(line, textWidth-labelWidth) {
			fmt.Fprintf(b, "%-*s%s\n", labelWidth, label, s)
			label = ""
		}
	}
}

// writeBook writes both sides of an identity beside each other, their sums under them, and whether they agree.
func writeBook(b *bytes.Buffer, k book) {
	rows := max(len(k.in), len(k.out))
	left, right := column(k.in, rows), column(k.out, rows)
	label := k.title // the name of an uplink may be too long for this column
	if k.uplink != "" {
		writeWords(b, k.title, []string{"of " + k.uplink})
		label = ""
	}
	for i := range left {
		line := fmt.Sprintf("%-*s%s  %s", labelWidth, label, left[i], right[i])
		fmt.Fprintln(b, strings.TrimRight(line, " "))
		label = ""
	}
	if of := nonzero(k.detail); of != "" {
		writeWords(b, "", []string{"rejected: " + of})
	}
	writeWords(b, "", []string{k.verdict()})
}

// column sets entries under each other, blank lines up to the given number of rows, and the sum.
func column(entries []entry, rows int) []string {
	total := entry{"in all", sum(entries)}
	names, digits := len(total.name), len(grouped(total.n))
	for _, e := range entries {
		names, digits = max(names, len(e.name)), max(digits, len(grouped(e.n)))
	}
	line := func(e entry) string { return fmt.Sprintf("%-*s  %*s", names, e.name, digits, grouped(e.n)) }
	var lines []string
	for i := range rows {
		if i < len(entries) {
			lines = append(lines, line(entries[i]))
		} else {
			lines = append(lines, strings.Repeat(" ", names+2+digits))
		}
	}
	return append(lines, line(total))
}

// nonzero lists what is not zero: "decode 38, range 2".
func nonzero(entries []entry) string {
	var parts []string
	for _, e := range entries {
		if e.n != 0 {
			parts = append(parts, e.name+" "+grouped(e.n))
		}
	}
	return strings.Join(parts, ", ")
}

// wrap breaks text into lines of at most width columns, at spaces where it can. It gives at least one line.
func wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		if used > 0 && used+1+columns(word) > width {
			lines, line, used = append(lines, line), "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for _, r := range word {
			if used+columns(string(r)) > width {
				lines, line, used = append(lines, line), "", 0
			}
			line, used = line+string(r), used+columns(string(r))
		}
	}
	return append(lines, line)
}

// columns is how many columns a terminal gives to s at most: two for the scripts and signs that may be wide.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 && r != '…' && r != '–' && (r < '▁' || r > '█') {
			n++
		}
	}
	return n
}
