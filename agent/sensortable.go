package agent

import (
	"math"

	"edgeagent/reading"
	"edgeagent/status"
)

// A sensorRow is what the run loop copies out of a sensor; what can be done with it later is not done there.
type sensorRow struct {
	name       string
	heard      heard
	last       int64
	open, late int64
	lag        sensorLag // of one source; empty if nothing is known
}

// sensorRows copies out all sensors. Of each 16 bytes are kept for it between times (see heard), and some 280 while it is shown.
func (e *Engine) sensorRows() []sensorRow {
	rows := make([]sensorRow, 0, len(e.sensors))
	for name, s := range e.sensors {
		s.heard.row = int32(len(rows))
		row := sensorRow{name: name, heard: s.heard, last: s.last}
		if s.lag != nil {
			row.lag = *s.lag
		}
		rows = append(rows, row)
	}
	e.eachScope(func(sc *scope) {
		sc.set.EachOpen(func(series reading.Series) {
			if s := e.sensors[series.Sensor()]; s != nil {
				rows[s.heard.row].open++
			}
		})
	})
	for series, c := range e.late {
		if s := e.sensors[series.Sensor()]; s != nil {
			rows[s.heard.row].late += c.Total + c.Count
		}
	}
	return rows
}

// sensorTable makes rows into what people are shown.
func sensorTable(rows []sensorRow) []status.Sensor {
	list := make([]status.Sensor, len(rows))
	numbers := make([]struct{ value, lag float64 }, len(rows)) // one piece of memory for all
	for i := range rows {
		r, n := &rows[i], &numbers[i]
		list[i] = status.Sensor{Name: r.name, Last: instant(r.last), Open: r.open, Late: r.late}
		n.value, n.lag = r.heard.value, math.Round(1000*float64(r.heard.lag))/1000
		if !math.IsNaN(n.value) {
			list[i].Value = &n.value
		}
		if !math.IsNaN(n.lag) {
			list[i].LagS = &n.lag
		}
		list[i].ClockOffsetS = r.lag.offset()
	}
	return list
}

// heard is what the sensor table shows of the last readings of a sensor.
type heard struct {
	value float64 // of the newest event time; NaN if it is not known
	lag   float32 // s, arrival minus event time of the last live one with a time of its own; NaN if there was none
	row   int32   // of the table that is being made
}

func unheard() heard { return heard{value: math.NaN(), lag: float32(math.NaN())} }

// note takes in a reading that found its place. It is called for each, before last moves.
func (s *sensor) note(r *reading.Reading, retained bool, wall int64) {
	if r.Time >= s.last {
		s.heard.value = r.Value
	}
	if !retained && !r.ArrivalTimed {
		s.heard.lag = float32(float64(wall-r.Time) / 1e9)
	}
}
