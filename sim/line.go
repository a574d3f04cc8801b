package sim

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"edgeagent/reading"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

// errNoTime is returned for a line without a timestamp: a server would take its own clock, which no comparison survives.
var errNoTime = errors.New("line has no timestamp")

// A Line is one decoded line of line protocol.
type Line struct {
	Measurement string
	Tags        []reading.Tag  // ascending by key
	Fields      map[string]any // float64, int64, uint64, bool or string
	Time        int64          // ns since the Unix epoch
}

// Name is measurement and tags as line protocol has them, tags ascending, nothing escaped: with Time it is the identity of
// the point, and what people are shown.
func (l Line) Name() string {
	var b strings.Builder
	b.WriteString(l.Measurement)
	for _, t := range l.Tags {
		b.WriteString("," + t.Key + "=" + t.Value)
	}
	return b.String()
}

// ParseLine decodes one line without its newline.
func ParseLine(text []byte, precision lineprotocol.Precision) (Line, error) {
	d := lineprotocol.NewDecoderWithBytes(text)
	if !d.Next() {
		return Line{}, cmp.Or(d.Err(), errors.New("no line"))
	}
	l, err := parse(d, precision)
	if err == nil && d.Next() {
		err = errors.New("more than one line")
	}
	return l, err
}

// parse takes the line that d is at.
func parse(d *lineprotocol.Decoder, precision lineprotocol.Precision) (Line, error) {
	name, err := d.Measurement()
	if err != nil {
		return Line{}, err
	}
	l := Line{Measurement: string(name), Fields: map[string]any{}}
	for {
		key, value, err := d.NextTag()
		if err != nil {
			return Line{}, err
		}
		if key == nil {
			break
		}
		l.Tags = append(l.Tags, reading.Tag{Key: string(key), Value: string(value)})
	}
	for {
		key, value, err := d.NextField()
		if err != nil {
			return Line{}, err
		}
		if key == nil {
			break
		}
		l.Fields[string(key)] = value.Interface()
	}
	slices.SortFunc(l.Tags, func(a, b reading.Tag) int { return cmp.Compare(a.Key, b.Key) })
	at, err := d.Time(precision, time.Time{})
	if err == nil && at.IsZero() {
		err = errNoTime
	}
	l.Time = at.UnixNano()
	return l, err
}

// ParseLines decodes a text of lines with times in ns. Empty lines and comments are skipped; the error names the line.
func ParseLines(text []byte) ([]Line, error) {
	var lines []Line
	for i, raw := range bytes.Split(text, []byte("\n")) {
		if blank(raw) {
			continue
		}
		l, err := ParseLine(raw, lineprotocol.Nanosecond)
		if err != nil {
			return lines, fmt.Errorf("parse line %d: %w", i+1, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func blank(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || raw[0] == '#'
}
