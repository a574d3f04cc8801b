package status

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// maxSensorName is how much of a sensor's id is shown, in characters; the agent takes none of more bytes.
const maxSensorName = 256

// A sensorColumn is one of the table of sensors.
type sensorColumn struct {
	key, title string
	down       bool // the largest are of interest first
	compare    func(a, b *Sensor) int
}

// sensorColumns are the columns in their order.
func sensorColumns() []sensorColumn {
	byNumber := func(of func(*Sensor) *float64) func(a, b *Sensor) int {
		return func(a, b *Sensor) int { return cmp.Compare(orLeast(of(a)), orLeast(of(b))) }
	}
	return []sensorColumn{
		{"name", "sensor", false, func(a, b *Sensor) int { return 0 }},
		{"value", "last value", true, byNumber(func(s *Sensor) *float64 { return s.Value })},
		{"time", "last time", false, func(a, b *Sensor) int { return a.last.Compare(b.last) }},
		{"lag", "lag", true, byNumber(func(s *Sensor) *float64 { return s.LagS })},
		{"open", "open windows", true, func(a, b *Sensor) int { return cmp.Compare(a.Open, b.Open) }},
		{"late", "late", true, func(a, b *Sensor) int { return cmp.Compare(a.Late, b.Late) }},
		{"offset", "clock offset", true, byNumber(func(s *Sensor) *float64 { return s.ClockOffsetS })},
	}
}

// columnOf is the column with a key, nil if there is none.
func columnOf(key string) *sensorColumn {
	for _, c := range sensorColumns() {
		if c.key == key {
			return &c
		}
	}
	return nil
}

// orLeast is what p points to; what is not known is below everything.
func orLeast(p *float64) float64 {
	if p == nil {
		return math.Inf(-1)
	}
	return *p
}

// choose is the sensors that q asks for, in its order; equal ones are in the order of their names. The list is by name.
func choose(list []Sensor, q query) []*Sensor {
	find := strings.ToLower(q.find)
	var out []*Sensor
	for i := range list {
		if find == "" || strings.Contains(strings.ToLower(list[i].Name), find) {
			out = append(out, &list[i])
		}
	}
	if c := columnOf(q.sort); c != nil {
		slices.SortStableFunc(out, func(a, b *Sensor) int {
			if q.down {
				return c.compare(b, a)
			}
			return c.compare(a, b)
		})
		if c.key == "name" && q.down {
			slices.Reverse(out)
		}
	}
	return out
}

// tidySensors makes a list safe to show, and sorts it by name. It changes nothing that the caller has.
func tidySensors(list []Sensor) []Sensor {
	out := slices.Clone(list)
	for i := range out {
		s := &out[i]
		s.Name, s.Last = clean(s.Name, maxSensorName), clean(s.Last, maxName)
		s.Value, s.LagS, s.ClockOffsetS = finiteOrNil(s.Value), finiteOrNil(s.LagS), finiteOrNil(s.ClockOffsetS)
		s.last, _ = time.Parse(time.RFC3339Nano, s.Last) // the zero time if it is none
	}
	slices.SortFunc(out, func(a, b Sensor) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func finiteOrNil(p *float64) *float64 {
	if p == nil || math.IsNaN(*p) || math.IsInf(*p, 0) {
		return nil
	}
	return p
}

func tidyParked(list []Parked) []Parked {
	out := slices.Clone(list)
	for i := range out {
		p := &out[i]
		p.Time, p.Reason, p.Line = clean(p.Time, maxName), clean(p.Reason, maxError), clean(p.Line, maxError)
	}
	return out
}

// sensorJSON answers with the sensors that the query asks for, from its page on if it has a limit.
func (s *site) sensorJSON(ctx context.Context, b *bytes.Buffer, q query) error {
	list, err := s.sensorList(ctx)
	if err != nil {
		return err
	}
	chosen := choose(list, q)
	body := struct {
		Total    int       `json:"total"`
		Matching int       `json:"matching"`
		Sensors  []*Sensor `json:"sensors"`
	}{len(list), len(chosen), chosen}
	if q.limit > 0 {
		from := min(q.page*q.limit, len(chosen))
		body.Sensors = chosen[from:min(from+q.limit, len(chosen))]
	}
	if body.Sensors == nil {
		body.Sensors = []*Sensor{}
	}
	if err := json.NewEncoder(b).Encode(body); err != nil {
		return fmt.Errorf("encode sensors: %w", err)
	}
	return nil
}
