package agent

import (
	"context"
	"fmt"
	"math"
	"time"

	"edgeagent/reading"
	"edgeagent/status"
	"edgeagent/watermark"
)

// details answers what people ask of a running agent beyond its report.
type details struct{ a *Agent }

// Sensors copies the sensors out between two steps of the run loop.
func (d details) Sensors(ctx context.Context) (list []status.Sensor, err error) {
	err = d.a.do(ctx, func() error { list = d.a.engine.sensorTable(); return nil })
	return list, err
}

// History copies the samples out between two steps of the run loop.
func (d details) History(ctx context.Context) (list []status.Sample, err error) {
	err = d.a.do(ctx, func() error { list = d.a.history.samples(d.a.clock.Now(), d.a.up()); return nil })
	return list, err
}

// Parked reads the store beside the run loop.
func (d details) Parked(_ context.Context, limit int) ([]status.Parked, error) {
	points, err := d.a.store.NewestParked(limit)
	if err != nil {
		return nil, fmt.Errorf("read parked points: %w", err)
	}
	list := make([]status.Parked, len(points))
	for i, p := range points {
		list[i] = status.Parked{Seq: p.Seq, Time: rfc3339(time.Unix(0, p.Time)), Reason: p.Reason, Line: string(p.Line)}
	}
	return list, nil
}

// sensorTable copies out all sensors. Of each 16 bytes are kept for it between times (see heard), and some 150 while it is
// shown.
func (e *Engine) sensorTable() []status.Sensor {
	list := make([]status.Sensor, 0, len(e.sensors))
	numbers := make([]struct{ value, lag float64 }, len(e.sensors)) // one piece of memory for all
	place := make(map[string]int, len(e.sensors))
	for name, s := range e.sensors {
		i := len(list)
		row := status.Sensor{Name: name, Last: instant(s.last)}
		numbers[i].value, numbers[i].lag = s.heard.value, math.Round(1000*float64(s.heard.lag))/1000
		if !math.IsNaN(s.heard.value) {
			row.Value = &numbers[i].value
		}
		if !math.IsNaN(numbers[i].lag) {
			row.LagS = &numbers[i].lag
		}
		place[name] = i
		list = append(list, row)
	}
	e.eachScope(func(sc *scope) {
		sc.set.EachOpen(func(series reading.Series) {
			if i, ok := place[series.Sensor()]; ok {
				list[i].Open++
			}
		})
	})
	for series, c := range e.late {
		if i, ok := place[series.Sensor()]; ok {
			list[i].Late += c.Total + c.Count
		}
	}
	return list
}

// heard is what the sensor table shows of the last readings of a sensor: 12 bytes, 16 with their alignment.
type heard struct {
	value float64 // of the newest event time; NaN if it is not known
	lag   float32 // s, arrival minus event time of the last live one with a time of its own; NaN if there was none
}

func unheard() heard { return heard{math.NaN(), float32(math.NaN())} }

// note takes in a reading that found its place. It is called for each, before last moves.
func (s *sensor) note(r *reading.Reading, retained bool, wall int64) {
	if r.Time >= s.last {
		s.heard.value = r.Value
	}
	if !retained && !r.ArrivalTimed {
		s.heard.lag = float32(float64(wall-r.Time) / 1e9)
	}
}

// sample takes a sample for the charts if it is time.
func (a *Agent) sample(up time.Duration) {
	if !a.history.due(up) {
		return
	}
	var p point
	if m, w := a.engine.furthest(); m != watermark.None {
		now := a.clock.Now().UnixNano()
		p.behind, p.wBehind, p.flags = float32(float64(now-m)/1e9), float32(float64(now-w)/1e9), knownTime
	}
	p.queued = uint32(min(a.store.Counts().Queued, math.MaxUint32))
	if !a.client.State().Connected {
		p.flags |= brokerAway
	}
	if s := a.uplink.Status().State; s != "up" && s != "idle" {
		p.flags |= uplinkDown
	}
	a.history.note(p, up)
}
