package uplink

import "edgeagent/reading"

// lateReadingMeasurement is that of readings that came too late for their window.
const lateReadingMeasurement = "late_readings"

// LateReading appends the line of one reading of s that came too late, at its own time (ns), without a newline: its value, and by
// how much event time was past it when it was judged, in ns (written in seconds, as lateness_s; left out if negative, for not
// known). Two readings of a series with one time are one point: the later line overwrites the earlier. On error dst comes back as
// it was.
func (e *Encoder) LateReading(dst []byte, s reading.Series, at int64, value float64, latenessNs int64) ([]byte, error) {
	base := len(dst)
	e.start(dst, lateReadingMeasurement, e.tagsOf(s))
	e.number("value", value)
	if latenessNs >= 0 {
		e.number("lateness_s", float64(latenessNs)/1e9)
	}
	return e.finish(base, at)
}
