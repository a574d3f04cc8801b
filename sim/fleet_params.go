package sim

import (
	"errors"
	"fmt"
	"time"
)

// FleetParams describe a fleet. Shares are of the readings made, from 0 to 1; a reading gets one fate, so that the sum of
// Late and Bad is at most 1. All times are on the fleet's own clock, which begins at Start.
type FleetParams struct {
	Sensors int           // at least 1
	Rate    float64       // readings a second of all sensors together; above 0, at most 500 a sensor (100,000 with Nanos)
	For     time.Duration // nothing is sent after it; 0 is endless
	Start   int64         // ns since the Unix epoch
	Seed    uint64

	Late   float64       // held up on the way: half of them by less than Delay, half beyond Delay and window; some from before Start
	Repeat float64       // sent once more, byte for byte, within Delay
	Bad    float64       // no reading at all
	Skew   time.Duration // each sensor's clock is off by a fixed amount, at most this either way; below 1 h
	Delay  time.Duration // the watermark's, against which lateness is measured; 0 is 10 minutes
	Size   time.Duration // the window's; 0 is 5 minutes

	Nanos bool // ts is in ns and fine to the ns; else in ms
}

// validate names every fault of p at once.
func (p FleetParams) validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	perSensor := 500.0
	if p.Nanos {
		perSensor = 100000
	}
	check(p.Sensors >= 1, "sensors: must be at least 1 (got %d)", p.Sensors)
	check(p.Rate > 0 && p.Rate <= perSensor*float64(max(1, p.Sensors)),
		"rate: must be above 0 and at most %v a sensor (got %v)", perSensor, p.Rate)
	check(p.Late >= 0 && p.Late <= 1, "late: must be from 0 to 1 (got %v)", p.Late)
	check(p.Repeat >= 0 && p.Repeat <= 1, "repeat: must be from 0 to 1 (got %v)", p.Repeat)
	check(p.Bad >= 0 && p.Bad <= 1, "bad: must be from 0 to 1 (got %v)", p.Bad)
	check(p.Late+p.Bad <= 1, "late and bad: must be 1 together at most (got %v)", p.Late+p.Bad)
	check(p.Skew >= 0 && p.Skew < time.Hour, "skew: must be from 0s to below 1h (got %v)", p.Skew)
	check(p.For >= 0 && p.Delay >= 0 && p.Size >= 0, "for, delay and size: must not be negative")
	return errors.Join(errs...)
}

// unit is what one of ts is worth.
func (p FleetParams) unit() time.Duration {
	if p.Nanos {
		return time.Nanosecond
	}
	return time.Millisecond
}
