package sim

import (
	"cmp"
	"slices"
	"time"

	"edgeagent/reading"
)

// The measurements of late reports and late readings.
const (
	lateMeasurement        = "late_drops"
	lateReadingMeasurement = "late_readings"
)

// Naming is how points are called on the wire: what the configuration says that changes no number.
type Naming struct {
	Measurement string        // of windows; "" is temperature
	Tags        []reading.Tag // of every point: the gateway and its tags, in any order
	Aggregates  []string      // names of section [window]; max and count are always there
	StampEnd    bool          // timestamp = "end": a window carries its end, which is Size after its start
	Size        time.Duration // read only with StampEnd
	Updates     bool          // emit = "update": windows carry the field final
}

// LateLine is the line that a late reading must become where late readings are uploaded.
func (n Naming) LateLine(l Late) Line {
	line := n.Line(Point{Identity: Identity{Late: true, Start: l.Reading.Time, Series: l.Reading.Series}})
	line.Measurement = lateReadingMeasurement
	line.Fields = map[string]any{"value": l.Reading.Value, "lateness_s": float64(l.Behind) / 1e9}
	return line
}

// Line is the line that p must become.
func (n Naming) Line(p Point) Line {
	l := Line{Measurement: cmp.Or(n.Measurement, "temperature"), Time: p.Start, Fields: map[string]any{"count": p.Count}}
	l.Tags = append(slices.Clone(n.Tags), reading.Tag{Key: "sensor", Value: p.Series.Sensor()})
	l.Tags = append(l.Tags, p.Series.Tags()...)
	slices.SortFunc(l.Tags, func(a, b reading.Tag) int { return cmp.Compare(a.Key, b.Key) })
	if p.Late {
		l.Measurement = lateMeasurement
		l.Fields["total"] = p.Total
		l.Fields["max_lateness_s"] = float64(p.MaxLateness) / 1e9
		return l
	}
	l.Fields["max"] = p.Max
	for _, name := range n.Aggregates {
		if v, ok := p.aggregate(name); ok {
			l.Fields[name] = v
		}
	}
	if n.Updates {
		l.Fields["final"] = p.Final
	}
	if n.StampEnd {
		l.Time += int64(n.Size)
	}
	return l
}

// aggregate is one of the aggregates on request, by its name in the configuration.
func (p Point) aggregate(name string) (float64, bool) {
	switch name {
	case "min":
		return p.Min, true
	case "mean":
		return p.Mean, true
	case "sum":
		return p.Sum, true
	case "first":
		return p.First, true
	case "last":
		return p.Last, true
	case "stddev":
		return p.Stdev, true
	}
	return 0, false
}
