package agent

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/watermark"
)

// A lagFleet is readings in order of arrival, whose lags are known.
type lagFleet struct {
	readings []reading.Reading
	arrivals []int64
}

// newFleet has sensors that send every 10 s, with lags of up to 2 s; one reading in lateOne is late by up to 40 min more.
func newFleet(rng *rand.Rand, n, sensors, lateOne int) (f lagFleet) {
	type sent struct {
		r  reading.Reading
		at int64
	}
	var all []sent
	for i := range n {
		t := t0 + int64(i)*10*second/int64(sensors)
		lag := rng.Int64N(2 * second)
		if rng.IntN(lateOne) == 0 {
			lag += rng.Int64N(40 * minute)
		}
		all = append(all, sent{reading.Reading{Series: reading.Series(fmt.Sprint("s", i%sensors)), Time: t, Value: float64(i)}, t + lag})
	}
	slices.SortStableFunc(all, func(a, b sent) int { return int(min(max(a.at-b.at, -1), 1)) })
	for _, s := range all {
		f.readings, f.arrivals = append(f.readings, s.r), append(f.arrivals, s.at)
	}
	return f
}

// feed runs the fleet through an engine.
func (f lagFleet) feed(r *rig) {
	for i, x := range f.readings {
		res := reading.Result{Readings: []reading.Reading{x}}
		r.e.Message(Input{Result: &res, Now: Moment{Wall: f.arrivals[i], Trusted: true}, Live: true, Arrival: f.arrivals[i]})
	}
}

// The share that an advice promises is what the engine counts as late when it runs with the advised delay, and with less it
// would be more: for both late rules, with allowed lateness, and with a watermark per sensor.
func TestAdvisedDelayKeepsItsPromise(t *testing.T) {
	t.Parallel()
	for name, adjust := range map[string]func(*Setup){
		"window":  func(*Setup) {},
		"event":   func(s *Setup) { s.Rules.Late = watermark.ByEvent },
		"allowed": func(s *Setup) { s.Rules.Allowed = 4 * minute },
		"sensor":  func(s *Setup) { s.Rules.PerSensor = true },
		"long":    func(s *Setup) { s.Rules.Size = hour },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(rand.New(rand.NewPCG(7, 8)), 6000, 5, 50)
			run := func(delay time.Duration) *rig {
				r := newRig(t, func(s *Setup) {
					s.Sources = []string{"all"}
					adjust(s)
					s.Rules.Delay = int64(delay)
				})
				f.feed(r)
				return r
			}
			late := func(delay time.Duration) float64 { return float64(run(delay).e.ledger.Late) / 6000 }
			for _, loss := range []float64{0.001, 0.01} {
				a := run(10 * time.Minute).e.advise(loss)
				d := time.Duration(a.DelayS) * time.Second
				if a.All.Readings != 6000 || !a.Enough || a.Sources[0].DelayS != a.DelayS {
					t.Fatalf("advice %+v", a)
				}
				if got := late(d); got > loss || got > a.Share || a.Share > loss {
					t.Errorf("loss %v: %v advised with a share of %v; the engine finds %v late", loss, d, a.Share, got)
				}
				if less := d - roundTo(d-1) - d/100; less > 0 {
					if got := late(less); got <= loss {
						t.Errorf("loss %v: %v advised, but with %v only %v are late", loss, d, less, got)
					}
				}
				for _, l := range a.All.Late[:5] {
					got := late(time.Duration(l.DelayS) * time.Second)
					if l.Share < got || l.Share > got+0.0015 {
						t.Errorf("at %v s a share of %v is told, the engine finds %v late", l.DelayS, l.Share, got)
					}
				}
			}
		})
	}
}

// The percentiles of lags are those of the list.
func TestLagPercentiles(t *testing.T) {
	f := newFleet(rand.New(rand.NewPCG(9, 9)), 4000, 5, 20)
	for i := range f.arrivals {
		if i%3 == 0 { // a third of the readings is ahead of the clock
			f.readings[i].Time += 5 * second
		}
	}
	r := newRig(t, func(s *Setup) { s.Sources = []string{"all"} })
	f.feed(r)
	var list []float64
	for i, x := range f.readings {
		list = append(list, float64(f.arrivals[i]-x.Time)/1e9)
	}
	slices.Sort(list)
	got := r.e.advise(0.01).All.Lag
	for name, c := range map[string][2]float64{
		"p50": {got.P50S, list[1999]}, "p95": {got.P95S, list[3799]}, "p99": {got.P99S, list[3959]}, "max": {got.MaxS, list[3999]},
	} {
		if math.Abs(c[0]-c[1]) > 0.1+math.Abs(c[1])*0.008 {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
}

// Only live readings that bring their own time count, each once; and lags only while the clock is trusted.
func TestWhatCountsForTheAdvice(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Sources, s.Rules.MaxFuture = []string{"first", "second"}, 2*minute })
	send := func(in Input, x reading.Reading) {
		x.Series = "a"
		in.Result, in.Now.Wall = &reading.Result{Readings: []reading.Reading{x}}, t0+day
		r.e.Message(in)
	}
	live := Input{Live: true, Arrival: t0 + day, Now: Moment{Trusted: true}}
	with := func(change func(*Input)) Input { in := live; change(&in); return in }
	send(live, reading.Reading{Time: t0, Value: 1})
	send(live, reading.Reading{Time: t0, Value: 1}) // a repeat
	send(with(func(in *Input) { in.Known = true }), reading.Reading{Time: t0 + 1, Value: 1})
	send(with(func(in *Input) { in.Retained = true }), reading.Reading{Time: t0 + 2, Value: 1})
	send(with(func(in *Input) { in.Live = false }), reading.Reading{Time: t0 + 3, Value: 1}) // read in again, or replayed
	send(live, reading.Reading{Time: t0 + day, Value: 1, ArrivalTimed: true})
	send(live, reading.Reading{Time: t0, Value: 7})         // late
	send(live, reading.Reading{Time: t0 + 3*day, Value: 1}) // of the future
	send(with(func(in *Input) { in.Now.Trusted = false }), reading.Reading{Time: t0 + day - second, Value: 1, Source: 1})
	send(live, reading.Reading{Time: t0 + day, Value: 9, Source: 7}) // of no source that is known
	a := r.e.advise(0.1)
	if s := a.Sources[0]; s.Readings != 2 || s.Timed != 2 || s.Lag.MaxS != 86400 || s.Behind.MaxS < 86400*0.992 {
		t.Errorf("first: %+v, want 2 readings a day old", s)
	}
	if s := a.Sources[1]; s.Readings != 1 || s.Timed != 0 || s.Behind.MaxS < 0.992 || s.Behind.MaxS > 1.008 {
		t.Errorf("second: %+v, want a reading without a lag, 1 s behind", s)
	}
	if a.All.Readings != 3 || a.Needed != 30 || a.Enough || a.DelayS != 0 {
		t.Errorf("advice %+v, want none from 3 of 30 readings", a)
	}
}

func TestSensorsToLookAfter(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Sources = []string{"all"} })
	rng := rand.New(rand.NewPCG(5, 6))
	lagsOf := map[string]func(i int) int64{
		"good":       func(int) int64 { return rng.Int64N(3 * second) },
		"slow":       func(int) int64 { return 40*second + rng.Int64N(second) },
		"ahead":      func(int) int64 { return -90*second + rng.Int64N(2*second) },
		"behind":     func(int) int64 { return hour + rng.Int64N(4*second) },
		"bulk":       func(i int) int64 { return int64(i%60) * minute },
		"now and on": func(i int) int64 { return int64(i%200/199) * 2 * hour }, // one reading in 200: no habit
		"few":        func(int) int64 { return 5 * hour },
		"months":     func(int) int64 { return 100 * 24 * hour }, // further off than a sample can tell
	}
	for i := range 600 {
		for _, name := range slices.Sorted(maps.Keys(lagsOf)) { // in one order: the samples are random
			lag := lagsOf[name]
			if name == "few" && i >= lagFew-1 {
				continue
			}
			s := r.e.sensors[name]
			if s == nil {
				s = r.e.newSensor(name)
			}
			r.e.lags.arrival = t0 + int64(i)*minute
			r.e.lags.note(&reading.Reading{Time: r.e.lags.arrival - lag(i)}, s, t0, true)
		}
	}
	var got []string
	for _, s := range r.e.advise(0.1).Sensors {
		got = append(got, s.Kind+" "+s.Sensor)
	}
	if want := []string{"clock_ahead ahead", "clock_behind months", "clock_behind behind", "bulk bulk"}; !slices.Equal(got, want) {
		t.Errorf("named %q, want %q", got, want)
	}
	for name, want := range map[string]float64{"good": -1.5, "slow": -40.5, "ahead": 89, "behind": -3602} {
		if got := offsetOf(r.e, name); got == nil || math.Abs(*got-want) > 1.5 {
			t.Errorf("offset of %s = %v, want about %v", name, got, want)
		}
	}
	for _, name := range []string{"bulk", "few", "months", "nobody"} {
		if got := offsetOf(r.e, name); got != nil {
			t.Errorf("offset of %s = %v, want none", name, *got)
		}
	}
}

// offsetOf is what the table of sensors has.
func offsetOf(e *Engine, name string) *float64 {
	for _, s := range sensorTable(e.sensorRows()) {
		if s.Name == name {
			return s.ClockOffsetS
		}
	}
	return nil
}
