package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

const dayNs = 24 * 3600 * 1_000_000_000

// A sensor is one device of a fleet.
type sensor struct {
	topic string
	skew  int64 // of its clock, ns
	base  int64 // mean temperature, hundredths of a degree
	swing int64 // half of the difference between day and night, hundredths
	last  int64 // event time of its latest reading, ns
}

func newSensor(i int, p FleetParams, rng *rand.Rand) sensor {
	return sensor{
		topic: fmt.Sprintf("sensors/s%03d/temperature", i),
		skew:  rng.Int64N(2*int64(p.Skew)+1) - int64(p.Skew),
		base:  1800 + rng.Int64N(800),
		swing: 100 + rng.Int64N(500),
		last:  math.MinInt64,
	}
}

// stamp is the sensor's reading of its clock at the instant at, in whole units, and always after its last one.
func (s *sensor) stamp(at, unit int64) int64 {
	s.last = max(floor(at+s.skew, time.Duration(unit)), s.last+unit)
	return s.last
}

// value is a temperature in hundredths of a degree: coldest at midnight, warmest at noon, with noise. Integers, so that
// every machine gives the same.
func (s *sensor) value(rng *rand.Rand, t int64) int64 {
	ofDay := (t%dayNs + dayNs) % dayNs / (dayNs / 1000) // thousandths of a day
	if ofDay > 500 {
		ofDay = 1000 - ofDay
	}
	return s.base + s.swing*(ofDay-250)/250 + rng.Int64N(101) - 50
}

// payload is a good message; hundredths are hundredths of a degree.
func payload(ts, hundredths int64) []byte {
	b := strconv.AppendInt([]byte(`{"ts": `), ts, 10)
	b = append(b, `, "temperature": `...)
	if hundredths < 0 {
		b = append(b, '-')
		hundredths = -hundredths
	}
	return fmt.Appendf(b, "%d.%02d}", hundredths/100, hundredths%100)
}

// badPayload is one of what devices really send instead of a reading.
func badPayload(rng *rand.Rand, ts int64) []byte {
	switch rng.IntN(8) {
	case 0:
		return nil
	case 1:
		return fmt.Appendf(nil, `{"ts": %d, "temper`, ts)
	case 2:
		return []byte("ERR timeout")
	case 3:
		return fmt.Appendf(nil, `{"ts": %d, "humidity": 40}`, ts)
	case 4:
		return fmt.Appendf(nil, `{"ts": %d, "temperature": null}`, ts)
	case 5:
		return fmt.Appendf(nil, `{"ts": %d, "temperature": "unavailable"}`, ts)
	case 6:
		return fmt.Appendf(nil, `{"ts": %d, "temperature": "hot"}`, ts)
	}
	return fmt.Appendf(nil, `{"ts": %d, "temperature": -127}`, ts)
}
