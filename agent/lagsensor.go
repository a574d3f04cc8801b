package agent

import (
	"encoding/binary"
	"math"
	"slices"
)

// lagSamples is how many lags of a sensor are kept.
const lagSamples = 24

// lagFew is how many lags of a sensor tell nothing yet.
const lagFew = lagSamples / 2

// A sensorLag is a random sample of a sensor's lags: about 130 bytes, so that ten thousand fit on the smallest board. Each reading of the
// present day has the same chance to be in it; those of the day before fade as new ones come.
type sensorLag struct {
	source uint16
	n      uint8 // of ms in use
	dirty  bool
	stored bool
	seen   uint32            // readings that had a chance, since the day began
	ms     [lagSamples]int32 // arrival minus event time, ms, in no order; cut to 24 days
	next   *sensorLag        // of another source
}

// lagOf is the sample of what the source has of s; it is made if there is none.
func (s *sensor) lagOf(source uint16) *sensorLag {
	for l := s.lag; l != nil; l = l.next {
		if l.source == source {
			return l
		}
	}
	s.lag = &sensorLag{source: source, next: s.lag}
	return s.lag
}

// note gives a lag its chance (Vitter's algorithm R).
func (l *sensorLag) note(ms int64, random uint64) {
	v := int32(min(max(ms, math.MinInt32), math.MaxInt32))
	l.dirty = true
	if l.seen < math.MaxUint32 {
		l.seen++
	}
	if l.n < lagSamples {
		l.ms[l.n] = v
		l.n++
		return
	}
	if i := random % uint64(l.seen); i < lagSamples {
		l.ms[i] = v
	}
}

// turn begins a day: what is in the sample has the weight of itself alone.
func (l *sensorLag) turn() {
	if l.seen > lagSamples {
		l.seen, l.dirty = lagSamples, true
	}
}

// A lagShape is what a sample says of a sensor.
type lagShape struct {
	median int64 // ms
	spread int64 // between the third smallest and the third largest of a full sample, ms: one stray reading in ten changes nothing
	known  bool  // there are lags enough to say so
}

func (l *sensorLag) shape() lagShape {
	if l == nil || l.n < lagFew {
		return lagShape{}
	}
	sorted := l.ms
	in := sorted[:l.n]
	slices.Sort(in)
	cut := int(l.n) / 10
	return lagShape{median: int64(in[l.n/2]), spread: int64(in[int(l.n)-1-cut]) - int64(in[cut]), known: true}
}

// When a sensor's clock counts as off, ms: it is so by the same time within lagSteady (or a tenth of the offset), and is
// ahead by more than lagAhead, or behind by more than lagBehind. Readings that come in bulk are spread by more than lagBulk.
const (
	lagSteady = 30_000
	lagAhead  = 5_000
	lagBehind = 60_000
	lagBulk   = 120_000
)

// steady reports whether the lags are alike but for the jitter of a network.
func (s lagShape) steady() bool {
	return s.known && s.spread <= max(lagSteady, max(s.median, -s.median)/10)
}

// off reports whether the sensor's clock is off, or stamps another instant than that of the reading.
func (s lagShape) off() bool { return s.steady() && (s.median < -lagAhead || s.median > lagBehind) }

// bulk reports whether the sensor delivers readings together that were made one after another.
func (s lagShape) bulk() bool { return s.known && !s.off() && s.spread > lagBulk }

// offset is by how much the clock of the sensor is ahead of the gateway's, s, below 0 if it is behind: the median over the last day
// or two of event time minus arrival. It is nil while there are too few readings with a time of their own, or if they come so irregularly that
// their clock cannot be told from their delivery, or are further off than the sample can tell.
func (l *sensorLag) offset() *float64 {
	shape := l.shape()
	if !shape.steady() || shape.median >= math.MaxInt32 || shape.median <= math.MinInt32 {
		return nil
	}
	ahead := float64(-shape.median) / 1e3
	return &ahead
}

// encode is the record of the sample.
func (l *sensorLag) encode() []byte {
	sorted := l.ms
	slices.Sort(sorted[:l.n])
	dst := append(make([]byte, 0, 64), lagForm)
	dst = binary.AppendUvarint(dst, uint64(l.seen))
	dst = append(dst, l.n)
	last := int64(0)
	for i, v := range sorted[:l.n] {
		if i == 0 {
			dst = binary.AppendVarint(dst, int64(v))
		} else {
			dst = binary.AppendUvarint(dst, uint64(int64(v)-last))
		}
		last = int64(v)
	}
	return dst
}

// decode reads what encode wrote.
func (l *sensorLag) decode(data []byte) error {
	if len(data) < 3 || data[0] != lagForm {
		return errLagRecord
	}
	r := lagReader{b: data[1:]}
	seen, n := r.uvarint(), r.uvarint()
	if n > lagSamples || seen < n || seen > math.MaxUint32 {
		return errLagRecord
	}
	l.seen, l.n = uint32(seen), uint8(n)
	v := int64(0)
	for i := range l.ms[:l.n] {
		if i == 0 {
			v = r.varint()
		} else {
			v += int64(min(r.uvarint(), math.MaxUint32))
		}
		if v != int64(int32(v)) {
			return errLagRecord
		}
		l.ms[i] = int32(v)
	}
	return r.end("sensor")
}
