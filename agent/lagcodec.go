package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// mostBuckets is above what a sketch can have.
const mostBuckets = 4096

// errLagRecord is returned for a stored record of lags that is not whole.
var errLagRecord = errors.New("record of lags is damaged")

// lagForm is the first byte of every record of lags.
const lagForm = 1

// A lagRecord is one record of a source: each sketch has its own, so that none is long.
type lagRecord uint8

const (
	youngLag lagRecord = iota
	youngBehind
	youngPast
	agedLag
	agedBehind
	agedPast
	numLagRecords
)

// key is the record's place among the sensors of the source: none has a control character.
func (r lagRecord) key() string { return "\x01" + string('0'+rune(r)) }

// recordOf finds what key made; false for a sensor.
func recordOf(key string) (lagRecord, bool) {
	if len(key) != 2 || key[0] != 1 || key[1] < '0' || key[1] >= '0'+byte(numLagRecords) {
		return 0, false
	}
	return lagRecord(key[1] - '0'), true
}

// encode is a record of a source. It holds for windows of one size and one scope of M.
func (l *lags) encode(s *sourceLags, which lagRecord) []byte {
	dst := []byte{lagForm, 0}
	if l.perSensor {
		dst[1] = 1
	}
	dst = binary.AppendVarint(dst, l.size)
	dst = binary.AppendUvarint(dst, uint64(s.age))
	c := s.generation(which)
	switch which % agedLag {
	case youngLag:
		dst = binary.AppendVarint(dst, c.lag.max)
		return c.lag.lag.append(c.lag.ahead.append(dst))
	case youngBehind:
		return c.behind.append(dst)
	}
	return c.past.append(dst)
}

// generation is the one that a record belongs to.
func (s *sourceLags) generation(which lagRecord) *lagCounts {
	if which >= agedLag {
		return &s.aged
	}
	return &s.young
}

// decode reads a record of a source; what was counted under another size or scope is left out.
func (l *lags) decode(data []byte, into *sourceLags, which lagRecord) error {
	if len(data) < 2 || data[0] != lagForm {
		return errLagRecord
	}
	r := lagReader{b: data[2:]}
	size, age := r.varint(), time.Duration(min(r.uvarint(), math.MaxInt64))
	var got lagCounts
	switch which % agedLag {
	case youngLag:
		got.lag.max = r.varint()
		got.lag.ahead, got.lag.lag = r.sketch(), r.sketch()
	case youngBehind:
		got.behind = r.sketch()
	default:
		got.past = r.sketch()
	}
	if err := r.end("source"); err != nil || size != l.size || (data[1] == 1) != l.perSensor {
		return err
	}
	if which < agedLag {
		into.age = max(into.age, age)
	}
	into.generation(which).merge(&got)
	return nil
}

func (s *sketch) append(dst []byte) []byte {
	buckets := uint64(0)
	if s.h != nil {
		buckets = uint64(s.h.Populated())
	}
	dst = binary.AppendUvarint(dst, buckets)
	last := int64(0)
	s.each(func(low, n int64) {
		dst = binary.AppendUvarint(dst, uint64(low-last))
		dst = binary.AppendUvarint(dst, uint64(n))
		last = low
	})
	return dst
}

// A lagReader takes numbers off a stored record. After the first that is not there bad is set, and every number is 0.
type lagReader struct {
	b   []byte
	bad bool
}

func (r *lagReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > 1<<62 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *lagReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// sketch reads what append wrote.
func (r *lagReader) sketch() (s sketch) {
	buckets, low := r.uvarint(), uint64(0)
	if buckets > mostBuckets {
		r.bad = true
	}
	for ; buckets > 0 && !r.bad; buckets-- {
		low += r.uvarint()
		n := r.uvarint()
		if low > lagMost || n > 1<<48 {
			r.bad = true
			break
		}
		s.add(int64(low), int64(n))
	}
	return s
}

// end reports whether the record was whole.
func (r *lagReader) end(what string) error {
	if r.bad || len(r.b) > 0 {
		return fmt.Errorf("%s: %w", what, errLagRecord)
	}
	return nil
}
