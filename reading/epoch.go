package reading

import (
	"math"
	"strings"
)

// A verdict says what became of a time.
type verdict uint8

const (
	timeGood    verdict = iota
	timeMissing         // absent, null, empty, a no-value word
	timeBad             // no time, or too far in the past for 64 bits
	timeFar             // after 2262: too far ahead for 64 bits
)

// autoExponent tells unixNanos to choose the unit by magnitude.
const autoExponent = -1

// unixNanos turns a decimal number, taken as so many times 10^exponent ns since the epoch (9: seconds, 6: ms, 3: us), into
// ns, exactly and without a float: digits past the ns are cut toward the floor. With autoExponent the unit follows from the
// magnitude before conversion: below 1e11 seconds, below 1e14 ms, below 1e17 us, else ns.
func unixNanos(s string, exponent int) (int64, verdict) {
	d, ok := parseDecimal(s)
	if !ok {
		return 0, timeBad
	}
	if d.first == len(s) {
		return 0, timeGood
	}
	if exponent == autoExponent {
		exponent = magnitudeExponent(d.width)
	}
	n, rest, ok := d.take(s, d.width+exponent)
	switch {
	case !ok && d.negative:
		return 0, timeBad
	case !ok:
		return 0, timeFar
	case !d.negative:
		return n, timeGood
	case rest:
		return -n - 1, timeGood
	}
	return -n, timeGood
}

// magnitudeExponent is the power of ten of the unit for a number with so many digits before its point.
func magnitudeExponent(width int) int {
	switch {
	case width <= 11:
		return 9
	case width <= 14:
		return 6
	case width <= 17:
		return 3
	}
	return 0
}

// A decimal is where the digits of a decimal number stand.
type decimal struct {
	negative bool
	first    int // index of the first digit that is not 0, the length of the text if all are
	end      int // index after the last digit
	width    int // digits before the point from the first that is not 0 on, the exponent applied; may be negative
}

// parseDecimal looks through a decimal number with a point. A comma is not allowed in a time.
func parseDecimal(s string) (decimal, bool) {
	end, comma, ok := scanNumber(s)
	if !ok || comma || end != len(s) {
		return decimal{}, false
	}
	d := decimal{negative: s[0] == '-', end: len(s)}
	exp := 0
	if i := max(strings.IndexByte(s, 'e'), strings.IndexByte(s, 'E')); i >= 0 {
		d.end, exp = i, smallInt(s[i+1:])
	}
	point := strings.IndexByte(s[:d.end], '.')
	if point < 0 {
		point = d.end
	}
	for d.first < d.end && (s[d.first] < '1' || s[d.first] > '9') {
		d.first++
	}
	switch {
	case d.first == d.end:
		d.first = len(s)
	case d.first < point:
		d.width = point - d.first + exp
	default:
		d.width = point - d.first + 1 + exp
	}
	return d, true
}

// smallInt reads a signed integer and keeps it within what no text of digits can undo.
func smallInt(s string) int {
	const limit = 1 << 24
	n := 0
	for _, c := range strings.TrimLeft(s, "+-") {
		n = min(n*10+int(c-'0'), limit)
	}
	if s[0] == '-' {
		return -n
	}
	return n
}

// take reads the first n digits as an integer and reports whether digits other than 0 are left. It is not ok if the
// integer is above the largest int64.
func (d decimal) take(s string, n int) (value int64, rest, ok bool) {
	if n > 19 {
		return 0, false, false
	}
	i := d.first
	var u uint64
	for ; n > 0; n-- {
		if i < d.end && s[i] == '.' {
			i++
		}
		u *= 10
		if i < d.end {
			u += uint64(s[i] - '0')
			i++
		}
	}
	for ; i < d.end && !rest; i++ {
		rest = s[i] != '0' && s[i] != '.'
	}
	return int64(u), rest, u <= math.MaxInt64
}
