package configs

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/pelletier/go-toml/v2"

	"edgeagent/reading"
)

// A value is the place in a Config that one key fills. set takes what go-toml made of the text, variables replaced, and
// says what is wrong with it, "" if nothing; show is the present value as TOML.
type value interface {
	set(v any) (problem string)
	show() string
}

// text is any text.
type text struct{ to *string }

func (t text) set(v any) string {
	s, ok := v.(string)
	if !ok {
		return "must be text in quotes " + got(v)
	}
	*t.to = s
	return ""
}

func (t text) show() string { return quoteText(*t.to) }

// secret is text that is never shown.
type secret struct{ text }

func (s secret) show() string {
	if *s.to == "" {
		return `""`
	}
	return `"(hidden)"`
}

// choice is one of a few words.
type choice struct {
	to    *string
	words []string
}

func (c choice) set(v any) string {
	s, ok := v.(string)
	if !ok || !slices.Contains(c.words, s) {
		return "must be " + quotedList(c.words) + " " + got(v)
	}
	*c.to = s
	return ""
}

func (c choice) show() string { return quote(*c.to) }

type toggle struct{ to *bool }

func (f toggle) set(v any) string {
	b, ok := v.(bool)
	if !ok {
		return "must be true or false, without quotes " + got(v)
	}
	*f.to = b
	return ""
}

func (f toggle) show() string { return strconv.FormatBool(*f.to) }

// count is a whole number from lo to hi.
type count struct {
	to     *int
	lo, hi int
}

func (c count) set(v any) string {
	n, ok := v.(int64)
	if !ok || n < int64(c.lo) || n > int64(c.hi) {
		return fmt.Sprintf("must be a whole number from %d to %d %s", c.lo, c.hi, got(v))
	}
	*c.to = int(n)
	return ""
}

func (c count) show() string { return strconv.Itoa(*c.to) }

// qos is the quality of service of a subscription.
type qos struct{ to *int }

func (q qos) set(v any) string {
	if v == int64(2) {
		return "2 is not available: its handshake would have to be stored too, and 1 loses nothing, since repeats are told apart; write 1"
	}
	return count{q.to, 0, 1}.set(v)
}

func (q qos) show() string { return strconv.Itoa(*q.to) }

// span is a duration from lo to hi.
type span struct {
	to     *Duration
	lo, hi Duration
}

func (s span) set(v any) string {
	str, ok := v.(string)
	if !ok {
		return `must be text with a unit, such as "5m" ` + got(v)
	}
	var d Duration
	if err := d.UnmarshalText([]byte(str)); err != nil {
		return fmt.Sprintf("is %v %s", err, got(v))
	}
	if d < s.lo || d > s.hi {
		return fmt.Sprintf("must be from %s to %s %s", s.lo, s.hi, got(v))
	}
	*s.to = d
	return ""
}

func (s span) show() string { return quote(s.to.String()) }

// bytesOf is a size from lo to hi.
type bytesOf struct {
	to     *Size
	lo, hi Size
}

func (b bytesOf) set(v any) string {
	var size Size
	switch v := v.(type) {
	case int64:
		size = Size(v)
	case string:
		if err := size.UnmarshalText([]byte(v)); err != nil {
			return fmt.Sprintf("is %v %s", err, got(v))
		}
	default:
		return `must be text with a unit, such as "64KiB", or a number of bytes ` + got(v)
	}
	if size < b.lo || size > b.hi {
		return fmt.Sprintf("must be from %s to %s %s", b.lo, b.hi, got(v))
	}
	*b.to = size
	return ""
}

func (b bytesOf) show() string { return quote(b.to.String()) }

// instant is a date or a time in ns; reading.NoTime is none.
type instant struct{ to *int64 }

func (i instant) set(v any) string {
	var t time.Time
	var err error
	switch v := v.(type) {
	case time.Time:
		t = v
	case toml.LocalDate:
		t = v.AsTime(time.UTC)
	case string:
		if t, err = time.Parse(time.DateOnly, v); err != nil {
			t, err = time.Parse(time.RFC3339Nano, v)
		}
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return `must be a date such as "2020-01-01" or a time such as "2020-01-01T00:00:00Z" ` + got(v)
	}
	if t.Year() < 1700 || t.Year() > 2200 {
		return "must be in the years 1700 to 2200 " + got(v)
	}
	*i.to = t.UnixNano()
	return ""
}

func (i instant) show() string {
	if *i.to == reading.NoTime {
		return `""`
	}
	t := time.Unix(0, *i.to).UTC()
	if t.Equal(t.Truncate(24 * time.Hour)) {
		return quote(t.Format(time.DateOnly))
	}
	return quote(t.Format(time.RFC3339Nano))
}
