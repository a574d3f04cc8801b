package uplink

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"edgeagent/reading"
	"edgeagent/window"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

// The measurements beside the configured one.
const (
	lateMeasurement   = "late_drops"
	healthMeasurement = "edgeagent"
)

// The times that InfluxDB can hold, ns.
const (
	minTime = math.MinInt64 + 2
	maxTime = math.MaxInt64 - 1
)

// ErrTime is returned for a timestamp that InfluxDB cannot hold; reading.NoTime is one.
var ErrTime = errors.New("timestamp out of range")

// Identity is what all points of a gateway have in common. Together with series and time it decides which points
// overwrite each other.
type Identity struct {
	Gateway     string
	Tags        []reading.Tag // go to every point; a tag of the series with the same key wins
	Measurement string        // of the windows
	Timestamp   string        // "start" or "end" of the window; "" is start
	Aggregates  []string      // fields beside max and count, which come first whether listed or not
	Update      bool          // windows carry the boolean field final
	Shard       string        `json:",omitempty"` // which of the agents that share a site; "" for the only one. A tag of the health points
	Shared      bool          `json:",omitempty"` // the broker deals messages out to them, so that a sensor's may reach any: Shard is a tag of every point
}

// An Encoder makes lines of line protocol. It is not safe for concurrent use.
type Encoder struct {
	id     Identity
	fields []aggregate
	common []reading.Tag // gateway and the gateway's tags
	health []reading.Tag // those of the health points
	tags   []reading.Tag // of the line at work
	enc    lineprotocol.Encoder
	fault  error // first field of the line at work that is no number
}

// NewEncoder returns an encoder, or all that is wrong with id: an unknown aggregate or timestamp, a tag key that is
// double or that the server reserves, a text that line protocol cannot carry.
func NewEncoder(id Identity) (*Encoder, error) {
	e := &Encoder{id: id}
	var faults []error
	switch id.Timestamp {
	case "", "start", "end":
	default:
		faults = append(faults, fmt.Errorf("timestamp: must be start or end (got %q)", id.Timestamp))
	}
	fields, err := aggregates(id.Aggregates)
	faults = append(faults, err)
	e.fields = fields
	for _, t := range id.Tags {
		faults = append(faults, checkTagKey(t.Key))
	}
	if strings.HasPrefix(id.Measurement, "#") {
		faults = append(faults, fmt.Errorf("measurement: %q would be a comment", id.Measurement))
	}
	e.common = append([]reading.Tag{{Key: "gateway", Value: id.Gateway}}, id.Tags...)
	if id.Shard != "" {
		e.health = append(slices.Clone(e.common), reading.Tag{Key: "shard", Value: id.Shard})
	} else {
		e.health = slices.Clone(e.common)
	}
	slices.SortFunc(e.health, byKey)
	if id.Shared {
		e.common = e.health
	}
	slices.SortFunc(e.common, byKey)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if _, err := e.Window(nil, "sensor", 0, 0, &window.Aggregate{Count: 1}, true, false); err != nil {
		return nil, err
	}
	return e, nil
}

// checkTagKey refuses what the encoder itself sets and what InfluxDB keeps for itself.
func checkTagKey(key string) error {
	switch key {
	case "gateway", "sensor", "time", "_measurement", "_field":
		return fmt.Errorf("tag %q: the name is reserved", key)
	}
	return nil
}

func byKey(a, b reading.Tag) int { return strings.Compare(a.Key, b.Key) }

// Window appends the line of one window of s, [start, end) in ns, without a newline. The window must not be empty.
// final is written only if the identity says Update, or if marked says that an earlier point of this window may carry it, as
// after a change of configuration: the server keeps a field that a later point leaves out. On error dst comes back as it was.
func (e *Encoder) Window(dst []byte, s reading.Series, start, end int64, a *window.Aggregate, final, marked bool) ([]byte, error) {
	base := len(dst)
	e.start(dst, e.id.Measurement, e.tagsOf(s))
	e.number("max", a.Max)
	e.enc.AddField("count", lineprotocol.IntValue(a.Count))
	for _, f := range e.fields {
		e.number(f.key, f.value(a))
	}
	if e.id.Update || marked {
		e.enc.AddField("final", lineprotocol.BoolValue(final))
	}
	t := start
	if e.id.Timestamp == "end" {
		t = end
	}
	return e.finish(base, t)
}

// Late appends the report of late readings of s in the interval that starts at interval (ns), without a newline: how
// many, how many since the store began, and the largest lateness among them in ns (written in seconds). On error dst
// comes back as it was.
func (e *Encoder) Late(dst []byte, s reading.Series, interval, count, total, maxLatenessNs int64) ([]byte, error) {
	base := len(dst)
	e.start(dst, lateMeasurement, e.tagsOf(s))
	e.enc.AddField("count", lineprotocol.IntValue(count))
	e.enc.AddField("total", lineprotocol.IntValue(total))
	e.number("max_lateness_s", float64(maxLatenessNs)/1e9)
	return e.finish(base, interval)
}

// Health appends a line about the agent itself at t (ns), without a newline; there must be at least one field. On
// error dst comes back as it was.
func (e *Encoder) Health(dst []byte, t int64, fields []Field) ([]byte, error) {
	base := len(dst)
	e.start(dst, healthMeasurement, e.health)
	for _, f := range fields {
		e.field(f)
	}
	return e.finish(base, t)
}

// start begins a line with its tags, which must be ascending by key.
func (e *Encoder) start(dst []byte, measurement string, tags []reading.Tag) {
	e.fault = nil
	e.enc.SetBuffer(dst)
	e.enc.StartLine(measurement)
	for _, t := range tags {
		e.enc.AddTag(t.Key, t.Value)
	}
}

// tagsOf merges the tags of the gateway with those of the series. A gateway's tag gives way to one of the series with
// the same key: two series must not become one. Series tags named gateway or sensor stay in, and the line is refused.
func (e *Encoder) tagsOf(s reading.Series) []reading.Tag {
	own := s.Tags()
	e.tags = append(e.tags[:0], own...)
	e.tags = append(e.tags, reading.Tag{Key: "sensor", Value: s.Sensor()})
	for _, t := range e.common {
		_, double := slices.BinarySearchFunc(own, t, byKey)
		if !double || t.Key == "gateway" {
			e.tags = append(e.tags, t)
		}
	}
	slices.SortFunc(e.tags, byKey)
	return e.tags
}

// number adds a float field.
func (e *Encoder) number(key string, v float64) { e.field(Float(key, v)) }

// field adds one field, or remembers why it cannot be one.
func (e *Encoder) field(f Field) {
	if f.fault != "" && e.fault == nil {
		e.fault = fmt.Errorf("field %q: %s", f.Key, f.fault)
	}
	e.enc.AddField(f.Key, f.value)
}

// finish ends the line at t and takes the newline off again; base is where the line begins.
func (e *Encoder) finish(base int, t int64) ([]byte, error) {
	e.enc.EndLine(time.Unix(0, t))
	dst, err := e.enc.Bytes(), e.enc.Err()
	if err == nil {
		err = e.fault
	}
	if err == nil && (t < minTime || t > maxTime) {
		err = ErrTime
	}
	if err != nil {
		return dst[:base], fmt.Errorf("encode line: %w", err)
	}
	return dst[:len(dst)-1], nil
}
