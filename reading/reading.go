package reading

import (
	"math"
	"strings"
)

// NoTime marks an instant that is not known, such as the arrival of a replayed message whose line gives none.
// It is no valid event time: decoding refuses anything near it.
const NoTime int64 = math.MinInt64

// A Message is what came from the broker, or from one line of a recording. The decoder reads it and keeps nothing of it.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool  // delivered with the retain flag: a snapshot, not an event
	Arrival  int64 // wall clock at arrival, ns since the Unix epoch, UTC; NoTime if unknown
}

// A Tag is one more dimension of a series beside the sensor.
type Tag struct{ Key, Value string }

// A Series names what a window is kept for: the sensor and the tags its source gives it. It is one string,
// sensor NUL key NUL value NUL key NUL value with keys ascending, so that comparing two Series bytewise orders them by
// sensor, then by tags. Decoding refuses control characters in all its parts, so the form is unambiguous.
type Series string

// MakeSeries joins a sensor and its tags. The tags must be sorted by key and free of control characters.
func MakeSeries(sensor string, tags []Tag) Series {
	if len(tags) == 0 {
		return Series(sensor)
	}
	var b strings.Builder
	b.WriteString(sensor)
	for _, t := range tags {
		b.WriteByte(0)
		b.WriteString(t.Key)
		b.WriteByte(0)
		b.WriteString(t.Value)
	}
	return Series(b.String())
}

// Sensor reports the sensor of s.
func (s Series) Sensor() string {
	if i := strings.IndexByte(string(s), 0); i >= 0 {
		return string(s[:i])
	}
	return string(s)
}

// Tags reports the tags of s in ascending order of their keys; nil if it has none.
func (s Series) Tags() []Tag {
	parts := strings.Split(string(s), "\x00")
	var tags []Tag
	for i := 1; i+1 < len(parts); i += 2 {
		tags = append(tags, Tag{parts[i], parts[i+1]})
	}
	return tags
}

// A Reading is one temperature at one instant.
type Reading struct {
	Series       Series
	Source       uint16  // index of the source that made it, in configuration order
	ArrivalTimed bool    // it brought no time of its own, Time is its arrival (or, with SenML, relative to it)
	Time         int64   // event time, ns since the Unix epoch, UTC
	Value        float64 // degrees Celsius, finite; never -0
}

// A Reason says why a record or a reading was refused; it is a column of the ledger.
type Reason uint8

// The closed set of reasons, in the order in which they are shown.
const (
	Decode   Reason = iota // not decodable, no record found, wrong type at a path, bad sensor id, short CSV row
	NoValue                // value absent, null, or a no-value word
	Value                  // other text where a number belongs
	Range                  // sentinel, outside min..max, not finite
	Time                   // a record's own time unusable and arrival time not allowed
	Future                 // event time too far ahead of the clock
	Clock                  // untimed while the gateway's clock is before the build's date
	Sensors                // more sensors than max_sensors
	Overflow               // a bound of the store reached
	TooBig                 // the message is over max_message_bytes
	NumReasons
)

var reasonNames = [NumReasons]string{"decode", "no_value", "value", "range", "time", "future", "clock", "sensors", "overflow", "too_big"}

// String is the reason's name in the ledger, for instance "no_value".
func (r Reason) String() string {
	if r < NumReasons {
		return reasonNames[r]
	}
	return "unknown"
}

// A Refusal is one record, or one whole message, that yields no reading.
type Refusal struct {
	Source uint16
	Reason Reason
	Detail string // for people: where and what; device text in it is cut but not escaped
}

// A Result is what one message decodes to. The caller owns it and may pass it again: Decode resets and refills it, so in
// steady state nothing is allocated. An empty Result after Decode means that no source matches the topic.
type Result struct {
	Readings []Reading // payload text order within a source, sources in configuration order
	Refusals []Refusal
}

// Reset empties r and keeps its memory.
func (r *Result) Reset() {
	r.Readings = r.Readings[:0]
	r.Refusals = r.Refusals[:0]
}
