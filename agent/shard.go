package agent

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"edgeagent/reading"
)

// A Share is the part of a site that an agent folds when several share it: the sensors whose hash, xxHash64 of the id modulo Of, is Nth-1.
// The zero value is the whole site. Each agent reads everything and moves event time by it, so all agree on the watermark,
// and the points and books of all together are those that one agent would have.
type Share struct {
	Nth, Of uint64 // 1 <= Nth <= Of; Of = 0 is the whole site
}

// Has reports whether a sensor is in the share. What has no sensor, a message that could not be read, goes by its topic.
func (s Share) Has(id string) bool {
	return s.Of == 0 || xxhash.Sum64String(id)%s.Of == s.Nth-1
}

// elsewhere is what is known of the sensors of other shares.
type elsewhere struct {
	Count   int64    `json:"count"`             // readings and refusals that other agents count
	Sensors []string `json:"sensors,omitempty"` // two of them at most: enough to know that a sensor is not the only one
}

func (w *elsewhere) meet(sensor string) {
	if len(w.Sensors) < 2 && !slices.Contains(w.Sensors, sensor) {
		w.Sensors = append(w.Sensors, sensor)
	}
}

// own is how many of a message's readings and refusals this agent counts.
func (e *Engine) own(in *Input) int64 {
	n := int64(len(in.Result.Readings) + len(in.Result.Refusals))
	if e.rules.Share.Of == 0 {
		return n
	}
	own := int64(0)
	for _, r := range in.Result.Readings {
		if e.rules.Share.Has(r.Series.Sensor()) {
			own++
		}
	}
	if e.rules.Share.Has(in.Topic) {
		own += int64(len(in.Result.Refusals))
	}
	return own
}

// pass lets a reading of another share go by. It vouches for what is held, and is held itself, and it moves event time, all as
// at the agent that folds it.
func (e *Engine) pass(r reading.Reading, retained bool, now Moment) {
	if r.ArrivalTimed && (e.early || now.Wall < e.rules.BuildDate) || retained && e.snapshot(r, e.stream, false) {
		return
	}
	if !retained {
		e.confirm(r, now)
	}
	if !e.ahead(r.Time, now) {
		e.follow(r, retained, now)
	} else if !now.Trusted && r.Time <= e.horizon {
		e.hold(held{Series: r.Series, ArrivalTimed: r.ArrivalTimed, Time: r.Time, Value: r.Value, Retained: retained})
	}
}

// follow moves event time to a reading of another share, unless it is late.
func (e *Engine) follow(r reading.Reading, retained bool, now Moment) {
	e.elsewhere.meet(r.Series.Sensor())
	if e.isLate(r, e.stream) {
		return
	}
	e.live = e.live || !retained
	e.outputs = e.outputs[:0]
	if e.stream == nil {
		e.newest = max(e.newest, r.Time)
		return
	}
	e.observe(e.stream, r.Time, now, -1)
}
