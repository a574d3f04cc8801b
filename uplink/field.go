package uplink

import (
	"fmt"
	"slices"

	"edgeagent/window"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
)

// A Field is one value of a health line. It is made by Int, Float, Bool or Str.
type Field struct {
	Key   string
	value lineprotocol.Value
	fault string // why value is none
}

// Int is an integer field.
func Int(key string, v int64) Field { return Field{Key: key, value: lineprotocol.IntValue(v)} }

// Float is a float field, also when v is whole; -0 is written as 0. A line with one that is not finite is refused.
func Float(key string, v float64) Field {
	value, ok := lineprotocol.FloatValue(v + 0)
	if !ok {
		return Field{Key: key, fault: fmt.Sprintf("%g is not a number that can be written", v)}
	}
	return Field{Key: key, value: value}
}

// Bool is a boolean field.
func Bool(key string, v bool) Field { return Field{Key: key, value: lineprotocol.BoolValue(v)} }

// Str is a text field. A line with one that is not UTF-8 is refused.
func Str(key, v string) Field {
	value, ok := lineprotocol.StringValue(v)
	if !ok {
		return Field{Key: key, fault: fmt.Sprintf("%q is not UTF-8", v)}
	}
	return Field{Key: key, value: value}
}

// An aggregate is a float field of a window.
type aggregate struct {
	key   string
	value func(*window.Aggregate) float64
}

// optional are the aggregates on request.
var optional = []aggregate{
	{"min", func(a *window.Aggregate) float64 { return a.Min }},
	{"mean", (*window.Aggregate).Mean},
	{"sum", func(a *window.Aggregate) float64 { return a.Sum }},
	{"first", func(a *window.Aggregate) float64 { return a.First }},
	{"last", func(a *window.Aggregate) float64 { return a.Last }},
	{"stddev", (*window.Aggregate).Stddev},
}

// aggregates looks up the fields that follow max and count, in the order of names; a repeated name counts once.
func aggregates(names []string) ([]aggregate, error) {
	var fields []aggregate
	for _, name := range names {
		named := func(f aggregate) bool { return f.key == name }
		if name == "max" || name == "count" || slices.ContainsFunc(fields, named) {
			continue
		}
		i := slices.IndexFunc(optional, named)
		if i < 0 {
			return nil, fmt.Errorf("aggregates: unknown name (got %q)", name)
		}
		fields = append(fields, optional[i])
	}
	return fields, nil
}
