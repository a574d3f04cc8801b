package agent

import (
	"time"

	"edgeagent/reading"
	"edgeagent/watermark"
	"edgeagent/window"
)

// How long readings count for the advice on the delay. They are counted in two generations, of which the older is given up when the
// younger is a day old and has lagEnough readings, or is a week old whatever it has: so the advice rests on the last one to two
// days of a usual fleet, and on up to two weeks of one that sends little. Only time during which the agent runs counts.
const (
	lagDay    = 24 * time.Hour
	lagWeek   = 7 * lagDay
	lagEnough = 10_000
)

// lags are sketches of how late readings come, per source and per sensor. Counted are live readings (not retained, not redelivered, no
// repeats, not held) that bring their own time and are windowed or late. Nothing that is judged depends on them.
type lags struct {
	size      int64 // of a window, ns
	perSensor bool  // M is each sensor's own
	names     []string
	sources   []sourceLags // by index of the source
	arrival   int64        // of the message at hand, ns; 0 if it does not count
	up        time.Duration
	random    uint64

	round   []lagKey // what is to be stored, in the order of the store's keys, the sources first
	dropped []lagKey // what is to be deleted there
	stored  int      // sensors that the store has
}

// A lagKey names a record of the store: one of a source, or of a sensor as one source has it.
type lagKey struct {
	source uint16
	sensor *sensor   // nil for a record of the source itself
	record lagRecord // which of these
	gone   string    // the record of a sensor that is forgotten, or cannot be read
	former string    // the name of a source that there is no more
}

// sourceLags are the sketches of one source.
type sourceLags struct {
	age         time.Duration // of young
	young, aged lagCounts
}

// lagCounts are the sketches of one generation. Each counts every reading for itself, so that they may be stored apart.
type lagCounts struct {
	dirty bool
	lag   lagSketch
	// behind is M before the reading minus event time, s, rounded up; 0 where it moves M.
	behind sketch
	// past is M before the reading minus the end of its window, s, rounded down, and one more; 0 where the end is not reached.
	past sketch
}

// A lagSketch is arrival minus event time, in tenths of a second rounded down, of readings that came while the clock was trusted.
type lagSketch struct {
	lag   sketch // where it is not below 0
	ahead sketch // minus that, where it is
	max   int64  // ms, exactly
}

func newLags(rules Rules, sources []string) lags {
	return lags{size: rules.Size, perSensor: rules.PerSensor, names: sources, sources: make([]sourceLags, len(sources)), random: 1}
}

// note counts a reading of s at t; m is M before it.
func (l *lags) note(r *reading.Reading, s *sensor, m int64, trusted bool) {
	if l.arrival == 0 || r.ArrivalTimed || int(r.Source) >= len(l.sources) {
		return
	}
	c := &l.sources[r.Source].young
	c.dirty = true
	if m == watermark.None {
		m = r.Time
	}
	c.behind.add(-floorDiv(r.Time-m, int64(time.Second)), 1)
	past := floorDiv(m-window.Start(r.Time, l.size)-l.size, int64(time.Second))
	c.past.add(max(past+1, 0), 1)
	if !trusted {
		return
	}
	ms := floorDiv(l.arrival-r.Time, int64(time.Millisecond))
	c.lag.add(ms)
	l.random ^= l.random << 13
	l.random ^= l.random >> 7
	l.random ^= l.random << 17
	s.lagOf(r.Source).note(ms, l.random)
}

// add counts a lag of ms.
func (s *lagSketch) add(ms int64) {
	if s.total() == 0 || ms > s.max {
		s.max = ms
	}
	if ms < 0 {
		s.ahead.add(-floorDiv(ms, 100), 1)
	} else {
		s.lag.add(ms/100, 1)
	}
}

func (s *lagSketch) total() int64 { return s.lag.total() + s.ahead.total() }

// tick lets generations grow old. up is the time since the start.
func (l *lags) tick(up time.Duration) (turned bool) {
	passed := up - l.up
	l.up = up
	for i := range l.sources {
		s := &l.sources[i]
		s.age += passed
		if s.age < lagDay || s.young.n() < lagEnough && s.age < lagWeek {
			continue
		}
		s.aged, s.young = s.young, lagCounts{}
		s.age, s.young.dirty, s.aged.dirty, turned = 0, true, true, true
	}
	return turned
}

// n is how many readings are counted.
func (c *lagCounts) n() int64 { return c.past.total() }

// merge adds what another generation has counted.
func (c *lagCounts) merge(o *lagCounts) {
	if o.lag.total() > 0 && (c.lag.total() == 0 || o.lag.max > c.lag.max) {
		c.lag.max = o.lag.max
	}
	c.lag.ahead.merge(&o.lag.ahead)
	c.lag.lag.merge(&o.lag.lag)
	c.behind.merge(&o.behind)
	c.past.merge(&o.past)
}
