package agent

import (
	"maps"
	"math"
	"slices"

	"edgeagent/reading"
	"edgeagent/watermark"
)

// A sensor is one that the store knows.
type sensor struct {
	name  string
	scope *scope     // its own, or the stream's
	last  int64      // newest event time counted windowed or late
	saved int64      // last as its mark in the store has it
	dirty bool       // its mark is in batch.marks
	heard heard      // for people alone
	lag   *sensorLag // how late its readings come, by source; nil while none counts
}

// scopeOf is what governs the series; nil for the first reading of a sensor with a watermark of its own.
func (e *Engine) scopeOf(series reading.Series) *scope {
	if e.stream != nil {
		return e.stream
	}
	if s := e.known(series.Sensor()); s != nil {
		return s.scope
	}
	return nil
}

// known finds a sensor, nil if the store does not know it. The one found last is looked at first: it is mostly wanted again.
func (e *Engine) known(name string) *sensor {
	if e.last != nil && e.last.name == name {
		return e.last
	}
	s := e.sensors[name]
	if s != nil {
		e.last = s
	}
	return s
}

// admit finds the sensor that has a reading at t, or makes it known; nil if there is no room for one more.
func (e *Engine) admit(name string, t int64) *sensor {
	if s := e.known(name); s != nil {
		return s
	}
	if e.rules.MaxSensors > 0 && len(e.sensors) >= e.rules.MaxSensors && !e.expire(t) {
		return nil
	}
	return e.newSensor(name)
}

// newSensor makes a sensor known.
func (e *Engine) newSensor(name string) *sensor {
	s := &sensor{name: name, scope: e.stream, last: watermark.None, saved: watermark.None, heard: unheard()}
	if s.scope == nil {
		s.scope = e.newScope(s)
	}
	e.sensors[name] = s
	e.touch(s)
	return s
}

// hear notes a reading at t. What the journal does not keep goes to the store with the sensor's mark.
func (e *Engine) hear(s *sensor, t int64, journalled bool) {
	if t <= s.last {
		return
	}
	if s.last == watermark.None {
		e.eldest = min(e.eldest, t)
	}
	s.last = t
	if !journalled {
		e.touch(s)
	}
}

// touch has the sensor's mark written with the next commit; nil, for the stream, is written with the state.
func (e *Engine) touch(s *sensor) {
	if s != nil && !s.dirty {
		s.dirty = true
		e.batch.marks = append(e.batch.marks, s)
	}
}

// expire makes room by forgetting the sensors that are silent: their newest reading is older by sensor_expiry than event
// time, which the reading at t that wants room tells too. No clock is asked, so that a replay comes to the same.
func (e *Engine) expire(t int64) bool {
	limit := max(e.newest, t) - e.rules.SensorExpiry
	if e.rules.SensorExpiry <= 0 || e.eldest > limit {
		return false
	}
	var silent []string
	e.eldest = math.MaxInt64
	for name, s := range e.sensors {
		last := s.last
		if s.scope.owner != nil {
			last = max(last, s.scope.mark.M)
		}
		if last <= limit {
			silent = append(silent, name)
		} else {
			e.eldest = min(e.eldest, last)
		}
	}
	slices.Sort(silent)
	for _, name := range silent {
		e.forget(e.sensors[name])
	}
	return len(silent) > 0
}

// forget drops a sensor. What its own watermark governs is put out as it stands, and new sensors start where that no
// window of it can be opened again.
func (e *Engine) forget(s *sensor) {
	if sc := s.scope; sc.owner != nil {
		e.closeScope(sc)
		e.endLate(sc)
		sc.set.Clear()
		e.journal.release(sc.set.Released())
		e.base = max(e.base, watermark.Add(max(sc.mark.W, sc.gone), e.rules.keep()))
	}
	e.forgetLags(s)
	e.batch.dropped = append(e.batch.dropped, s.name)
	delete(e.sensors, s.name)
	e.last = nil
}

// saveSilent has the marks of sensors written whose newest reading the journal is about to lose: their expiry goes by it, and should
// scope change to "sensor", their watermarks begin with it.
func (e *Engine) saveSilent() {
	if e.stream == nil {
		return
	}
	for _, s := range e.sensors {
		if s.last > s.saved && (s.last < e.stream.forgot || e.stream.set.Forgotten(s.last, e.stream.mark.W)) {
			e.touch(s)
		}
	}
}

// scopes is every scope, by sensor, so that what they put out comes in the same order on every run.
func (e *Engine) scopes() []*scope {
	if e.stream != nil {
		return []*scope{e.stream}
	}
	all := make([]*scope, 0, len(e.sensors))
	for _, name := range slices.Sorted(maps.Keys(e.sensors)) {
		all = append(all, e.sensors[name].scope)
	}
	return all
}

// eachScope calls fn for the stream's scope, or for that of every sensor in no order.
func (e *Engine) eachScope(fn func(*scope)) {
	if e.stream != nil {
		fn(e.stream)
		return
	}
	for _, s := range e.sensors {
		fn(s.scope)
	}
}
