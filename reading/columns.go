package reading

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// nameColumns makes an object of the array at hand. A row with fewer cells than there are columns is refused: nobody
// knows which is missing. So is a row of CSV with more, if its value may be cut in two by its own decimal comma.
func (d *Decoder) nameColumns(f *frame) (gjson.Result, refusal) {
	row := inside(f.record)
	if !row.IsArray() {
		return row, refusal{Decode, "columns are given, but the record is no list"}
	}
	if f.names == nil {
		f.names = f.source.columnNames(f.root)
	}
	names := f.names
	if len(names) == 0 {
		return row, refusal{Decode, "no column names at the path"}
	}
	start, n := len(d.buf), 0
	halves, before := "", ""
	d.buf = append(d.buf, '{')
	members(row.Raw, func(_, cell string) bool {
		if n < len(names) {
			d.buf = append(appendKey(d.buf, names[n]), cell...)
		}
		if n > 0 && n <= len(names) && halves == "" && f.source.halved(names[n-1], before, cell) {
			halves = unquoted(before) + "," + unquoted(cell)
		}
		before = cell
		n++
		return true
	})
	d.buf = append(d.buf, '}')
	switch {
	case n < len(names):
		return row, refusal{Decode, fmt.Sprintf("the row has %d cells, %d are needed", n, len(names))}
	case n > len(names) && halves != "" && d.commas:
		return row, refusal{Decode, fmt.Sprintf("the row has %d cells, %d are named, and %s may be one number: quote it, or name all columns", n, len(names), halves)}
	}
	return gjson.Parse(alias(d.buf[start:])), accepted
}

// columnNames are the names of the columns of a message.
func (s *source) columnNames(root gjson.Result) []string {
	names := s.columns
	for _, n := range collectFirst(nil, s.columnsAt, root, root) {
		v := inside(n.v)
		if !v.IsArray() {
			names = append(names, v.String())
			continue
		}
		for _, name := range v.Array() {
			names = append(names, name.String())
		}
	}
	return names
}

// halved reports whether two cells that follow each other may be a number with a decimal comma, such as 21,5: the first
// is that of the value and a whole number, the second digits, too few for a time. With a scale whole numbers are usual.
func (s *source) halved(name, cell, next string) bool {
	if s.format != csvFormat || s.scale != 1 || !slices.ContainsFunc(s.value, func(p path) bool {
		return !p.rooted && len(p.steps) == 1 && p.steps[0].kind == keyStep && p.steps[0].key == name
	}) {
		return false
	}
	whole, rest := strings.TrimLeft(unquoted(cell), "+-"), unquoted(next)
	return whole != "" && digitsFrom(whole, 0) == len(whole) && rest != "" && len(rest) < 9 && digitsFrom(rest, 0) == len(rest)
}

// unquoted is a cell of CSV without its quotes.
func unquoted(cell string) string { return strings.Trim(cell, `"`) }
