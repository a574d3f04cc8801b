package sim

import (
	"cmp"
	"math"

	"edgeagent/reading"
)

// A Kind is the column of the points identity in which a point begins.
type Kind uint8

const (
	Finalized  Kind = iota // the first point of a window with end <= W
	Updated                // each further one, and every point of an open window
	LateReport             // the late count of one series in one interval
)

// An Identity is what makes two points the same point to InfluxDB: the later overwrites the earlier.
type Identity struct {
	Late   bool // a late report; else a window
	Start  int64
	Series reading.Series
}

// before is the order in which one reading puts points out: windows by start and series, then late reports likewise.
func before(a, b Identity) int {
	if a.Late != b.Late {
		if b.Late {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Series, b.Series))
}

// A Point is one line that goes to the server. Times are ns since the Unix epoch, values degrees Celsius.
type Point struct {
	Identity
	Kind Kind

	Count                                   int64 // readings folded, or late readings of the interval
	Max, Min, Mean, Sum, First, Last, Stdev float64
	Final                                   bool // end <= W: no longer an open window

	Total       int64 // of a late report: all readings of the series reported so far, these included
	MaxLateness int64 // of a late report: the largest M - t among them, ns
}

// A Result is what a sequence of items came to.
type Result struct {
	Points []Point // in order of emission
	Late   []Late  // readings counted late, in arrival order
	Ledger Ledger
}

// A Late is one reading that was counted late.
type Late struct {
	Reading reading.Reading
	Behind  int64 // by how much M was past its time, ns
	After   int   // how many points had been put out when it was judged
}

// Count is the number of points of one kind.
func (r Result) Count(k Kind) int64 {
	var n int64
	for _, p := range r.Points {
		if p.Kind == k {
			n++
		}
	}
	return n
}

// Last is what InfluxDB holds in the end: of every identity the point that came last.
func (r Result) Last() map[Identity]Point {
	last := make(map[Identity]Point, len(r.Points))
	for _, p := range r.Points {
		last[p.Identity] = p
	}
	return last
}

// aggregate recomputes a window from its readings, which are in arrival order and at least one.
func aggregate(p Point, readings []reading.Reading) Point {
	first, last := readings[0], readings[0]
	p.Count, p.Max, p.Min = int64(len(readings)), first.Value, first.Value
	for _, r := range readings {
		p.Max = math.Max(p.Max, r.Value)
		p.Min = math.Min(p.Min, r.Value)
		p.Sum += r.Value
		if r.Time < first.Time {
			first = r
		}
		if r.Time >= last.Time {
			last = r
		}
	}
	p.First, p.Last = first.Value, last.Value
	p.Mean = p.Sum / float64(p.Count)
	if p.Count > 1 {
		var squares float64
		for _, r := range readings {
			squares += (r.Value - p.Mean) * (r.Value - p.Mean)
		}
		p.Stdev = math.Sqrt(squares / float64(p.Count-1))
	}
	return p
}
