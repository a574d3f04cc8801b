package uplink

import "edgeagent/reading"

// lateReadingMeasurement is that of readings that came too late for their window.
const lateReadingMeasurement = "late_readings"

// LateReading appends the line of one reading of s that came too late, at its own time (ns), without a newline. On error dst
// comes back as it was.
func (e *Encoder) LateReading(dst []byte, s reading.Series, at int64, value float64) ([]byte, error) {
	base := len(dst)
	e.start(dst, lateReadingMeasurement, e.tagsOf(s))
	e.number("value", value)
	return e.finish(base, at)
}
