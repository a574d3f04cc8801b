package window

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"edgeagent/reading"
)

// A Counter is the late drops of one series. The counts of the open interval are whole: what was reported of it by
// closing early is still in them, and Total holds only intervals that are over.
type Counter struct {
	Interval int64 // start of the interval of M in which the last of them came, ns; meaningful while Count or Total > 0
	Count    int64 // late readings in it; 0 once it is over
	Reported int64 // of these, how many a report already carries
	MaxNs    int64 // largest M - t among them
	Total    int64 // sum of the counts of all earlier intervals since the store began
}

// Counters are the late drops by series, for all scopes of a store: a counter outlives the watermark that it came under.
type Counters map[reading.Series]*Counter

// Of is the counter of a series as it stands; the zero Counter if it has none.
func (s Counters) Of(series reading.Series) Counter {
	if c := s[series]; c != nil {
		return *c
	}
	return Counter{}
}

// LateCounts is the open late counts that one watermark governs. Make it with NewLateCounts. One goroutine owns it and the
// Counters that it shares with others.
type LateCounts struct {
	size     int64
	counters Counters
	open     []reading.Series // with Count > 0
	next     int64            // the smallest M at which one of them is due
	left     []reading.Series // reused
}

// NewLateCounts counts by intervals of the given size, ns, into counters.
func NewLateCounts(size int64, counters Counters) *LateCounts {
	return &LateCounts{size: size, counters: counters, next: math.MaxInt64}
}

// A Report is one late report to put out.
type Report struct {
	Series   reading.Series
	Interval int64
	Count    int64
	Total    int64 // this count included
	MaxNs    int64
}

// Add counts a late reading at t while event time stood at m. An interval that was over once is not opened again, lest its
// report be overwritten: after a change of size or scope, m may be in one that is.
func (l *LateCounts) Add(series reading.Series, t, m int64) {
	c := l.counters[series]
	if c == nil {
		c = &Counter{}
		l.counters[series] = c
	}
	if c.Count == 0 {
		start := Start(m, l.size)
		if c.Total > 0 && start <= c.Interval {
			start = Start(c.Interval, l.size) + l.size
		}
		c.Interval = start
		l.take(series, c)
	}
	c.Count++
	c.MaxNs = max(c.MaxNs, m-t)
}

func (l *LateCounts) take(series reading.Series, c *Counter) {
	l.open = append(l.open, series)
	l.next = min(l.next, sat(c.Interval, l.size))
}

// Restore takes a stored counter back in, at start.
func (l *LateCounts) Restore(series reading.Series, c Counter) {
	l.counters[series] = &c
	if c.Count > 0 {
		l.take(series, &c)
	}
}

// Waiting is the M at which all counts are reported that no report carries yet; false if there are none.
func (l *LateCounts) Waiting() (int64, bool) {
	m, any := int64(math.MinInt64), false
	for _, series := range l.open {
		if c := l.counters[series]; c.Count > c.Reported {
			m, any = max(m, sat(c.Interval, l.size)), true
		}
	}
	return m, any
}

// Leave appends the reports due when event time stands at m, those of intervals that m has left, by interval and series. It
// also tells whose intervals are over; that slice is valid until the next call.
func (l *LateCounts) Leave(m int64, out []Report) ([]Report, []reading.Series) {
	if m < l.next {
		return out, nil
	}
	l.left = l.left[:0]
	open := l.open[:0]
	l.next = math.MaxInt64
	for _, series := range l.open {
		if end := sat(l.counters[series].Interval, l.size); m < end {
			open = append(open, series)
			l.next = min(l.next, end)
		} else {
			l.left = append(l.left, series)
		}
	}
	l.open = open
	out = l.report(l.left, out)
	l.over(l.left)
	return out, l.left
}

// Close appends reports of all open counts that no report carries yet, and keeps the counts: a later report of the same
// interval carries its whole count.
func (l *LateCounts) Close(out []Report) []Report { return l.report(l.open, out) }

// End ends all open intervals, which Close must have reported: what comes later goes to others. It tells whose.
func (l *LateCounts) End() []reading.Series {
	open := l.open
	l.over(open)
	l.open, l.next = nil, math.MaxInt64
	return open
}

// over moves counts whose interval is over into their totals.
func (l *LateCounts) over(list []reading.Series) {
	for _, series := range list {
		c := l.counters[series]
		*c = Counter{Interval: c.Interval, Total: c.Total + c.Count}
	}
}

func (l *LateCounts) report(list []reading.Series, out []Report) []Report {
	slices.SortFunc(list, func(a, b reading.Series) int {
		return cmp.Or(cmp.Compare(l.counters[a].Interval, l.counters[b].Interval), strings.Compare(string(a), string(b)))
	})
	for _, series := range list {
		c := l.counters[series]
		if c.Count > c.Reported {
			c.Reported = c.Count
			out = append(out, Report{Series: series, Interval: c.Interval, Count: c.Count, Total: c.Total + c.Count, MaxNs: c.MaxNs})
		}
	}
	return out
}
