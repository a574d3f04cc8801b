package reading

import (
	"fmt"
	"math"
	"strings"
	"time"
	_ "time/tzdata" // zones are compiled in: a gateway's image may have none

	"github.com/tidwall/gjson"
)

// A timeFormat is how a time is written.
type timeFormat struct {
	kind     string // one of those of Rule.TimeFormat, or "layout"
	exponent int    // of the unix kinds
	layout   string // with kind "layout"
	zoned    bool   // the layout has an offset
}

var unixExponents = map[string]int{"unix": 9, "unix_ms": 6, "unix_us": 3, "unix_ns": 0}

// parseTimeFormat reads Rule.TimeFormat.
func parseTimeFormat(s string) (timeFormat, error) {
	switch s {
	case "", "auto":
		return timeFormat{kind: "auto", exponent: autoExponent}, nil
	case "rfc3339":
		return timeFormat{kind: s}, nil
	}
	if exp, ok := unixExponents[s]; ok {
		return timeFormat{kind: "unix", exponent: exp}, nil
	}
	if strings.Contains(s, "MST") {
		return timeFormat{}, fmt.Errorf("a zone's abbreviation names no single offset; use -07:00, or zone")
	}
	probe := time.Date(2033, 11, 24, 21, 43, 0, 0, time.UTC)
	if got, err := time.Parse(s, probe.Format(s)); err != nil || !got.Equal(probe) {
		return timeFormat{}, fmt.Errorf("%q is neither auto, unix, unix_ms, unix_us, unix_ns, rfc3339 nor a Go layout with date, hour and minute, such as 2006-01-02 15:04:05", s)
	}
	zoned := strings.Contains(s, "-07") || strings.Contains(s, "Z07")
	return timeFormat{kind: "layout", layout: s, zoned: zoned}, nil
}

// instant reads the time at a path into ns. A local time is one of loc; of two candidates the one nearer to arrival is
// taken, the earlier if arrival is NoTime.
func (f *timeFormat) instant(v gjson.Result, loc *time.Location, arrival int64) (int64, verdict) {
	s := v.Raw
	switch v.Type {
	case gjson.String:
		s = strip(v.Str)
	case gjson.Number:
	default:
		return 0, timeMissing
	}
	if noValueWord(s) {
		return 0, timeMissing
	}
	switch f.kind {
	case "unix":
		return unixNanos(s, f.exponent)
	case "layout":
		return f.parseLayout(s, loc, arrival)
	case "auto":
		if t, got := unixNanos(s, autoExponent); got != timeBad {
			return t, got
		}
	}
	w, ok := parseDate(s)
	if !ok || f.kind == "rfc3339" && !w.offset {
		return 0, timeBad
	}
	return w.instant(loc, arrival)
}

func (f *timeFormat) parseLayout(s string, loc *time.Location, arrival int64) (int64, verdict) {
	t, err := time.Parse(f.layout, s)
	leap := int64(0)
	if i := strings.LastIndex(s, ":60"); err != nil && i >= 0 { // a leap second, which time.Parse does not know
		t, err = time.Parse(f.layout, s[:i]+":59"+s[i+3:])
		leap = 1
	}
	if err != nil {
		return 0, timeBad
	}
	return wall{sec: t.Unix() + leap, nano: int64(t.Nanosecond()), offset: f.zoned}.instant(loc, arrival)
}

// A wall is what a calendar and a clock show. With offset it is in UTC already.
type wall struct {
	sec    int64 // since the epoch, as if the place were at UTC
	nano   int64
	offset bool
}

func (w wall) instant(loc *time.Location, arrival int64) (int64, verdict) {
	if !w.offset && loc != time.UTC {
		w.sec = localSeconds(w.sec, loc, arrival)
	}
	const most = math.MaxInt64/int64(time.Second) - 1
	switch {
	case w.sec > most:
		return 0, timeFar
	case w.sec < -most:
		return 0, timeBad
	}
	return w.sec*int64(time.Second) + w.nano, timeGood
}

// localSeconds turns seconds of a local clock into seconds since the epoch. A clock that is set back shows some times
// twice: the one nearer to arrival is taken. A time that a clock set forward skips is read with the offset before.
func localSeconds(local int64, loc *time.Location, arrival int64) int64 {
	const day = 24 * 60 * 60
	before, after := offsetAt(local-day, loc), offsetAt(local+day, loc)
	first, second := local-before, local-after
	firstOK, secondOK := offsetAt(first, loc) == before, offsetAt(second, loc) == after
	if !secondOK || first == second {
		return first
	}
	if !firstOK {
		return second
	}
	if arrival == NoTime {
		return min(first, second)
	}
	at := arrival / int64(time.Second)
	if abs(second-at) < abs(first-at) {
		return second
	}
	return first
}

func abs(x int64) int64 { return max(x, -x) }

// offsetAt is the offset of loc from UTC in seconds at an instant.
func offsetAt(sec int64, loc *time.Location) int64 {
	_, offset := time.Unix(sec, 0).In(loc).Zone()
	return int64(offset)
}
