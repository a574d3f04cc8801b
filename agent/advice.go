package agent

import (
	"cmp"
	"math"
	"slices"
	"time"

	"edgeagent/watermark"
)

// Advice is what the lags observed say about the delay of the watermark. Shares are of all readings that count, from 0 to 1; spans are
// seconds.
type Advice struct {
	Gateway string  `json:"gateway"`
	Loss    float64 `json:"loss"`    // the share that may be late
	Needed  int64   `json:"needed"`  // readings that this loss needs: three for each that may be late among them
	Enough  bool    `json:"enough"`  // there are so many
	DelayS  float64 `json:"delay_s"` // the shortest round delay with which no larger share is late; 0 unless Enough
	Share   float64 `json:"share"`   // that would have been late with it, at most

	ConfiguredS     float64 `json:"configured_delay_s"` // the delay of the configuration
	ConfiguredShare float64 `json:"configured_share"`   // that would have been late with that, at most

	All     SourceAdvice   `json:"all"`
	Sources []SourceAdvice `json:"sources"` // in configuration order
	Sensors []SensorAdvice `json:"sensors"` // clocks that are off, then those that deliver in bulk; the worst first
	More    int            `json:"more"`    // of these that are left out
}

// SourceAdvice is one source. Lag is of the readings that came while the gateway's clock was trusted; Behind is how far event time,
// M, had come beyond a reading.
type SourceAdvice struct {
	Source   string      `json:"source"`
	Readings int64       `json:"readings"`
	Timed    int64       `json:"timed"` // of these, that have a lag
	Lag      Spans       `json:"lag"`
	Behind   Spans       `json:"behind"`
	Late     []LateShare `json:"late"`
	DelayS   float64     `json:"delay_s"` // that this source alone would need for the loss; 0 without readings
}

// Spans are percentiles, right to 0.8 %.
type Spans struct {
	P50S float64 `json:"p50_s"`
	P95S float64 `json:"p95_s"`
	P99S float64 `json:"p99_s"`
	MaxS float64 `json:"max_s"`
}

// LateShare is the share that would have been late at a delay, at most.
type LateShare struct {
	DelayS float64 `json:"delay_s"`
	Share  float64 `json:"share"`
}

// The kinds of a SensorAdvice.
const (
	ClockAhead  = "clock_ahead"
	ClockBehind = "clock_behind"
	Bulk        = "bulk"
)

// SensorAdvice is a sensor that makes readings late, its own or those of others.
type SensorAdvice struct {
	Source  string  `json:"source"`
	Sensor  string  `json:"sensor"`
	Kind    string  `json:"kind"`
	MedianS float64 `json:"median_s"` // arrival minus event time
	SpreadS float64 `json:"spread_s"` // of the middle four fifths
}

// mostSensors is how many sensors an advice names.
const mostSensors = 50

// adviceDelays are those for which shares are told.
func adviceDelays() []time.Duration {
	const m = time.Minute
	return []time.Duration{m, 5 * m, 10 * m, 20 * m, 30 * m, 60 * m, 120 * m, 360 * m}
}

// advise says what the lags call for so that at most the share loss is late.
func (e *Engine) advise(loss float64) Advice {
	a := Advice{Gateway: e.shape.Identity.Gateway, Loss: loss, Needed: int64(math.Ceil(3 / loss)), ConfiguredS: seconds(e.rules.Delay), Sources: []SourceAdvice{}}
	var all lagCounts
	for i := range e.lags.sources {
		var c lagCounts
		c.merge(&e.lags.sources[i].young)
		c.merge(&e.lags.sources[i].aged)
		all.merge(&c)
		a.Sources = append(a.Sources, e.adviseSource(e.lags.names[i], &c, loss))
	}
	a.All = e.adviseSource("", &all, loss)
	a.ConfiguredShare = e.lateShare(&all, time.Duration(e.rules.Delay))
	if a.Enough = all.n() >= a.Needed; a.Enough {
		a.DelayS, a.Share = a.All.DelayS, e.lateShare(&all, time.Duration(a.All.DelayS)*time.Second)
	}
	a.Sensors = e.adviseSensors()
	if n := len(a.Sensors); n > mostSensors {
		a.Sensors, a.More = a.Sensors[:mostSensors], n-mostSensors
	}
	return a
}

func (e *Engine) adviseSource(name string, c *lagCounts, loss float64) SourceAdvice {
	s := SourceAdvice{Source: name, Readings: c.n(), Timed: c.lag.total(), Lag: c.lag.spans(), Behind: c.behind.spans()}
	for _, d := range adviceDelays() {
		s.Late = append(s.Late, LateShare{d.Seconds(), e.lateShare(c, d)})
	}
	if c.n() > 0 {
		s.DelayS = e.delayFor(c, loss).Seconds()
	}
	return s
}

// lateShare is the share that would have been late at a delay, at most: what the late rule asks is told by M - end, or with late = "event" by
// M - t, and M does not depend on the delay. It is exact but for the sketch where delay and allowed lateness are whole seconds.
func (e *Engine) lateShare(c *lagCounts, delay time.Duration) float64 {
	if n := e.judged(c).total(); n > 0 {
		return float64(e.lateCount(c, delay)) / float64(n)
	}
	return 0
}

// lateCount is how many would have been late.
func (e *Engine) lateCount(c *lagCounts, delay time.Duration) int64 {
	return e.judged(c).from(int64((delay+time.Duration(e.rules.Allowed))/time.Second) + 1)
}

// judged is the sketch that the late rule goes by.
func (e *Engine) judged(c *lagCounts) *sketch {
	if e.rules.Late == watermark.ByEvent {
		return &c.behind
	}
	return &c.past
}

// delayFor is the shortest round delay at which at most the share loss is late. It is longer than max_future, so that one clock that is as far ahead as is
// let pass does not make the others late.
func (e *Engine) delayFor(c *lagCounts, loss float64) time.Duration {
	most := int64(loss * float64(e.judged(c).total()))
	d := (time.Duration(e.rules.MaxFuture) + time.Minute).Truncate(time.Minute)
	for e.lateCount(c, d) > most && d < longestAdvice {
		d += roundTo(d)
	}
	return d
}

// longestAdvice bounds what is advised; what is later is no delivery.
const longestAdvice = 30 * 24 * time.Hour

// roundTo is the step in which delays of about d are advised: whole minutes up to an hour, and so on.
func roundTo(d time.Duration) time.Duration {
	switch {
	case d < time.Hour:
		return time.Minute
	case d < 6*time.Hour:
		return 5 * time.Minute
	case d < 48*time.Hour:
		return 30 * time.Minute
	}
	return time.Hour
}

// spans are the percentiles.
func (s *lagSketch) spans() Spans {
	var list []bucket
	s.ahead.each(func(low, n int64) { list = append(list, bucket{-middle(low), n}) })
	slices.Reverse(list)
	s.lag.each(func(low, n int64) { list = append(list, bucket{middle(low), n}) })
	p := percentiles(list, s.total(), 10)
	p.MaxS = float64(s.max) / 1e3
	return p
}

// spans are the percentiles of spans in s.
func (s *sketch) spans() Spans {
	var list []bucket
	s.each(func(low, n int64) { list = append(list, bucket{middle(low), n}) })
	return percentiles(list, s.total(), 1)
}

// A bucket is a span that stands for n of about its size.
type bucket struct{ span, n int64 }

func middle(low int64) int64 { return (low + high(low)) / 2 }

// percentiles are those of n spans in ascending buckets, of which so many make a second.
func percentiles(list []bucket, n, second int64) (s Spans) {
	if n == 0 {
		return s
	}
	for _, q := range []struct {
		share float64
		at    *float64
	}{{0.5, &s.P50S}, {0.95, &s.P95S}, {0.99, &s.P99S}, {1, &s.MaxS}} {
		rank := int64(math.Ceil(q.share * float64(n)))
		for _, b := range list {
			*q.at = float64(b.span) / float64(second)
			if rank -= b.n; rank <= 0 {
				break
			}
		}
	}
	return s
}

// adviseSensors names sensors whose clock is off, and those that deliver in bulk.
func (e *Engine) adviseSensors() []SensorAdvice {
	list := []SensorAdvice{}
	for _, s := range e.sensors {
		for l := s.lag; l != nil; l = l.next {
			shape := l.shape()
			a := SensorAdvice{Source: e.lags.names[l.source], Sensor: s.name, MedianS: float64(shape.median) / 1e3, SpreadS: float64(shape.spread) / 1e3}
			switch {
			case shape.off() && shape.median < 0:
				a.Kind = ClockAhead
			case shape.off():
				a.Kind = ClockBehind
			case shape.bulk():
				a.Kind = Bulk
			default:
				continue
			}
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b SensorAdvice) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), -cmp.Compare(a.weight(), b.weight()), cmp.Compare(a.Sensor, b.Sensor), cmp.Compare(a.Source, b.Source))
	})
	return list
}

func (a *SensorAdvice) order() int {
	return slices.Index([]string{ClockAhead, ClockBehind, Bulk}, a.Kind)
}

// weight is by how much it is off, or spread.
func (a *SensorAdvice) weight() float64 {
	if a.Kind == Bulk {
		return a.SpreadS
	}
	return math.Abs(a.MedianS)
}

func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }
