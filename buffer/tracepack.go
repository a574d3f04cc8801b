package buffer

import (
	"encoding/binary"
	"math"

	"edgeagent/reading"
)

// A record of the trace is packed as
//
//	age      uvarint  Trace.Age when it was written, ms
//	size     uvarint  of the windows, ns
//	unit     byte     index in units, of the times
//	count    uvarint
//	readings:
//	  head   byte     five bits outcome, then new, raw, unarrived
//	  from   uvarint length and bytes of series and of source if new, else uvarint index among those pairs of the record
//	  time   varint   difference to the reading before, in units; wraps
//	  value  8 bytes  little-endian float bits if raw, else varint digits and a byte, how many of them are decimals
//	  came   varint   arrival, difference to the one before, ms; left out if unarrived
//
// Values as devices send them have few digits: two or three bytes instead of eight. Nothing is compressed beyond that: it would cost a
// slow machine more time than the rest of a commit.
const (
	outcomeMask   = 1<<5 - 1
	flagFirst     = 1 << 5
	flagRaw       = 1 << 6
	flagUnarrived = 1 << 7

	traceMs     = int64(1e6)
	mostDigits  = 1 << 40
	mostDecimal = 3
)

var powers = [mostDecimal + 1]float64{1, 10, 100, 1000}

// decimal gives v as digits of which the last are decimals, if that is exactly v.
func decimal(v float64) (digits int64, decimals byte, ok bool) {
	if v == 0 && math.Signbit(v) {
		return 0, 0, false
	}
	for i, p := range powers {
		n := math.Round(v * p)
		if math.Abs(n) < mostDigits && n/p == v { // not of NaN
			return int64(n), byte(i), true
		}
	}
	return 0, 0, false
}

// A traceFrom is where a reading comes from.
type traceFrom struct {
	series reading.Series
	source string
}

// packTrace packs one record.
func packTrace(list []TraceReading, age, size int64) []byte {
	dst := binary.AppendUvarint(make([]byte, 0, 64+16*len(list)), uint64(age/traceMs))
	dst = binary.AppendUvarint(dst, uint64(size))
	u := len(units) - 1
	for i := range list {
		for list[i].Time%units[u] != 0 {
			u--
		}
	}
	dst = append(dst, byte(u))
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	seen := make(map[traceFrom]uint64)
	var lastTime, lastCame int64
	for i := range list {
		r := &list[i]
		from := traceFrom{r.Series, r.Source}
		index, known := seen[from]
		digits, decimals, short := decimal(r.Value)
		dst = append(dst, headOf(r, !known, !short))
		if known {
			dst = binary.AppendUvarint(dst, index)
		} else {
			seen[from] = uint64(len(seen))
			dst = appendString(appendString(dst, string(r.Series)), r.Source)
		}
		t := r.Time / units[u]
		dst = binary.AppendVarint(dst, t-lastTime)
		lastTime = t
		if short {
			dst = append(binary.AppendVarint(dst, digits), decimals)
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Value))
		}
		if r.Arrival != reading.NoTime {
			came := r.Arrival / traceMs
			dst = binary.AppendVarint(dst, came-lastCame)
			lastCame = came
		}
	}
	return dst
}

func headOf(r *TraceReading, first, raw bool) byte {
	h := byte(r.Outcome) & outcomeMask
	if first {
		h |= flagFirst
	}
	if raw {
		h |= flagRaw
	}
	if r.Arrival == reading.NoTime {
		h |= flagUnarrived
	}
	return h
}

// A traceUnpacker decodes records of the trace; names of series are shared as in an unpacker.
type traceUnpacker struct {
	names    unpacker
	from     []traceFrom // of the record at hand
	unit     int64
	lastTime int64
	lastCame int64
}

// unpack decodes one record.
func (u *traceUnpacker) unpack(data []byte) ([]TraceReading, error) {
	d := decoder{b: data}
	d.uvarint() // age
	size := int64(d.uvarint())
	unit := int(d.byte())
	count := d.uvarint()
	if d.bad || size < 0 || unit >= len(units) || count > uint64(len(data)) {
		return nil, errFormat
	}
	u.from, u.unit, u.lastTime, u.lastCame = u.from[:0], units[unit], 0, 0
	list := make([]TraceReading, 0, count)
	for range count {
		r, ok := u.reading(&d)
		if !ok {
			return nil, errFormat
		}
		r.Size = size
		list = append(list, r)
	}
	if len(d.b) > 0 {
		return nil, errExtra
	}
	return list, nil
}

func (u *traceUnpacker) reading(d *decoder) (r TraceReading, ok bool) {
	head := d.byte()
	r.Outcome = Outcome(head & outcomeMask)
	if head&flagFirst != 0 {
		u.from = append(u.from, traceFrom{u.names.name(d.bytes()), d.string()})
		r.Series, r.Source = u.from[len(u.from)-1].series, u.from[len(u.from)-1].source
	} else if i := d.uvarint(); i < uint64(len(u.from)) {
		r.Series, r.Source = u.from[i].series, u.from[i].source
	} else {
		return r, false
	}
	u.lastTime += d.varint()
	r.Time = u.lastTime * u.unit
	if head&flagRaw != 0 {
		r.Value = math.Float64frombits(d.uint64())
	} else {
		digits, decimals := d.varint(), d.byte()
		if decimals > mostDecimal {
			return r, false
		}
		r.Value = float64(digits) / powers[decimals]
	}
	r.Arrival = reading.NoTime
	if head&flagUnarrived == 0 {
		u.lastCame += d.varint()
		r.Arrival = u.lastCame * traceMs
	}
	return r, !d.bad
}

// ageOf is Trace.Age, in ns, when the record was written whose first part v is; what cannot be read counts as never.
func ageOf(v []byte) int64 {
	d := decoder{b: v}
	ms := d.uvarint()
	if d.bad || ms > uint64(math.MaxInt64/traceMs) {
		return math.MaxInt64
	}
	return int64(ms) * traceMs
}
