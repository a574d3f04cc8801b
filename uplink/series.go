package uplink

import (
	"bytes"
	"slices"
)

// usual is after how many refused lines of one series in a batch the next ones are expected to be refused too.
const usual = 2

// expect notes which series the doubted entries are of, now that they are believed. A field whose type conflicts or a limit of the
// server does not hit one line but a series: its further lines in the batch are tried alone, as if the server had named them, which spares
// the search for each. That is no more than a guess at where to look: each of them is refused by the server before it is parked.
func (b *batch) expect() {
	if b.series == nil {
		b.series = make(map[string]int)
	}
	news := false
	for _, d := range b.doubted {
		key := string(seriesOf(b.entries[d.index].Line))
		b.series[key]++
		news = news || b.series[key] == usual
	}
	if !news || b.naive {
		return
	}
	b.guessed = true
	for i := b.next; i < len(b.entries); i++ {
		if b.expected(i) {
			b.hints = append(b.hints, i)
		}
	}
	slices.Sort(b.hints)
	b.hints = slices.Compact(b.hints)
}

// expected reports whether an entry is of a series that is refused as a rule.
func (b *batch) expected(i int) bool { return b.series[string(seriesOf(b.entries[i].Line))] >= usual }

// seriesOf is the measurement and the tags of a line.
func seriesOf(line []byte) []byte {
	for at := 0; ; {
		i := bytes.IndexByte(line[at:], ' ')
		if i < 0 {
			return line
		}
		if at += i; at == 0 || line[at-1] != '\\' {
			return line[:at]
		}
		at++
	}
}
