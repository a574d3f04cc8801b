package reading

import (
	"strings"
	"time"
)

// A cursor reads a text from the left; ok turns false at the first thing that does not fit.
type cursor struct {
	s  string
	ok bool
}

// digits reads exactly n digits with a value in lo..hi.
func (c *cursor) digits(n, lo, hi int) int {
	if len(c.s) < n || digitsFrom(c.s[:n], 0) != n {
		c.ok = false
		return 0
	}
	v := 0
	for i := range n {
		v = v*10 + int(c.s[i]-'0')
	}
	c.s = c.s[n:]
	c.ok = c.ok && v >= lo && v <= hi
	return v
}

// peek reports whether the next byte is one of set.
func (c *cursor) peek(set string) bool {
	if c.s == "" {
		return false
	}
	for i := range len(set) {
		if c.s[0] == set[i] {
			return true
		}
	}
	return false
}

// skip takes one byte of set if it is there.
func (c *cursor) skip(set string) bool {
	if !c.peek(set) {
		return false
	}
	c.s = c.s[1:]
	return true
}

// word takes a word if it is there.
func (c *cursor) word(w string) bool {
	rest, ok := strings.CutPrefix(c.s, w)
	c.s = rest
	return ok
}

// need takes one byte of set, which must be there; with an empty set nothing.
func (c *cursor) need(set string) {
	if set != "" && !c.skip(set) {
		c.ok = false
	}
}

// take takes one byte of set and gives it as a set of its own. A digit may follow at once: then the set is empty.
func (c *cursor) take(set string) string {
	before := c.s
	if !c.skip(set) {
		c.ok = c.ok && c.peek("0123456789")
		return ""
	}
	return before[:1]
}

// more takes a separator and reports whether it is there; an empty one is if a digit follows.
func (c *cursor) more(separator string) bool {
	if separator == "" {
		return c.peek("0123456789")
	}
	return c.skip(separator)
}

// parseDate reads YYYY-MM-DD (or with / or ., or nothing between), T or a blank, hh:mm, perhaps :ss and a fraction (colons
// may be missing), perhaps Z, UTC, GMT or an offset (+hh:mm, +hhmm, +hh), before which a blank may stand. A fraction may have any number
// of digits; those past the ns are cut. A leap second, :60, is the second that follows it, as Unix time has it.
func parseDate(s string) (wall, bool) {
	c := cursor{s: s, ok: true}
	year := c.digits(4, 0, 9999)
	separator := c.take("-/.")
	month := c.digits(2, 1, 12)
	c.need(separator)
	day := c.digits(2, 1, 31)
	c.need("Tt ")
	hour := c.digits(2, 0, 23)
	colon := c.take(":")
	minute := c.digits(2, 0, 59)
	var second int
	var w wall
	if c.more(colon) {
		second = c.digits(2, 0, 60)
		if c.skip(".,") {
			w.nano = c.fraction()
		}
	}
	offset := c.offset(&w)
	if w.offset && strings.HasPrefix(c.s, "[") && strings.HasSuffix(c.s, "]") {
		c.s = "" // the name of the zone, which the offset makes unneeded: RFC 9557
	}
	t := time.Date(year, time.Month(month), day, hour, minute, 0, 0, time.UTC)
	if !c.ok || c.s != "" || t.Day() != day {
		return wall{}, false
	}
	w.sec = t.Unix() + int64(second) - offset
	return w, true
}

// fraction reads digits after a point as ns.
func (c *cursor) fraction() int64 {
	n := digitsFrom(c.s, 0)
	c.ok = c.ok && n > 0
	var nano int64
	for i := range 9 {
		nano *= 10
		if i < n {
			nano += int64(c.s[i] - '0')
		}
	}
	c.s = c.s[n:]
	return nano
}

// offset reads Z or an offset, in seconds east of UTC, and notes in w that there is one.
func (c *cursor) offset(w *wall) int64 {
	if len(c.s) > 1 && c.s[0] == ' ' {
		c.s = c.s[1:]
		c.ok = c.ok && c.peek("Zz+-UG")
	}
	if c.skip("Zz") || c.word("UTC") || c.word("GMT") {
		w.offset = true
		return 0
	}
	west := c.peek("-")
	if !c.skip("+-") {
		return 0
	}
	w.offset = true
	hours, minutes := c.digits(2, 0, 23), 0
	if c.skip(":") || c.s != "" {
		minutes = c.digits(2, 0, 59)
	}
	sec := int64(hours*3600 + minutes*60)
	if west {
		return -sec
	}
	return sec
}
