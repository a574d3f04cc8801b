package buffer

import (
	"encoding/binary"
	"errors"
	"math"

	"edgeagent/reading"
)

// A journal record is packed as
//
//	unit     byte     index in units: every time in the record is a multiple of it
//	count    uvarint
//	entries:
//	  flags  byte     two bits kind, then tick, newSeries, zero
//	  series uvarint length and bytes if newSeries, else uvarint index among those of the record
//	  time   varint   difference to the entry before, in units; wraps, so any int64 fits
//	  value  8 bytes  little-endian float bits, left out if zero
//
// The order of entries is kept: it is the order of arrival.
const (
	kindMask  = 3
	flagTick  = 1 << 2
	flagNew   = 1 << 3
	flagZero  = 1 << 4
	flagsMask = kindMask | flagTick | flagNew | flagZero
)

var units = [...]int64{1, 1e3, 1e6, 1e9}

var (
	errFormat = errors.New("not in the packed form")
	errExtra  = errors.New("bytes left over")
)

// EntrySize is an upper bound of what one entry adds to the journal's bytes, for use with Store.JournalFull.
func EntrySize(e Entry) int64 {
	const fixed = 1 + 2*binary.MaxVarintLen32 + binary.MaxVarintLen64 + 8
	n := int64(fixed + len(e.Series))
	n += n / 8 // keys of the parts
	return n + n/3
}

// unitOf is the index of the coarsest unit that every time is a multiple of.
func unitOf(entries []Entry) int {
	u := len(units) - 1
	for i := range entries {
		for entries[i].Time%units[u] != 0 {
			u--
		}
	}
	return u
}

// packEntries appends the packed form of entries to dst.
func packEntries(dst []byte, entries []Entry) []byte {
	u := unitOf(entries)
	dst = append(dst, byte(u))
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	seen := make(map[reading.Series]uint64)
	var last int64
	for i := range entries {
		e := &entries[i]
		index, known := seen[e.Series]
		dst = append(dst, flagsOf(e, !known))
		if known {
			dst = binary.AppendUvarint(dst, index)
		} else {
			seen[e.Series] = uint64(len(seen))
			dst = appendString(dst, string(e.Series))
		}
		t := e.Time / units[u]
		dst = binary.AppendVarint(dst, t-last)
		last = t
		if bits := math.Float64bits(e.Value); bits != 0 {
			dst = binary.LittleEndian.AppendUint64(dst, bits)
		}
	}
	return dst
}

func flagsOf(e *Entry, isNew bool) byte {
	f := byte(e.Kind) & kindMask
	if e.Tick {
		f |= flagTick
	}
	if isNew {
		f |= flagNew
	}
	if math.Float64bits(e.Value) == 0 {
		f |= flagZero
	}
	return f
}

// An unpacker decodes journal records. It keeps the names of series it has seen, so that a million entries share them.
type unpacker struct {
	names   map[string]reading.Series
	series  []reading.Series // of the record at hand
	entries []Entry
}

// unpack decodes one record. The entries are valid until the next call.
func (u *unpacker) unpack(data []byte) ([]Entry, error) {
	d := decoder{b: data}
	unit := int(d.byte())
	count := d.uvarint()
	if d.bad || unit >= len(units) || count > uint64(len(data)) {
		return nil, errFormat
	}
	u.entries, u.series = u.entries[:0], u.series[:0]
	var last int64
	for range count {
		e, ok := u.entry(&d)
		if !ok {
			return nil, errFormat
		}
		last += e.Time
		e.Time = last * units[unit]
		u.entries = append(u.entries, e)
	}
	if len(d.b) > 0 {
		return nil, errExtra
	}
	return u.entries, nil
}

// entry decodes one entry; its Time is the difference to the one before.
func (u *unpacker) entry(d *decoder) (e Entry, ok bool) {
	flags := d.byte()
	if flags&^flagsMask != 0 || flags&kindMask > byte(BareTick) {
		return e, false
	}
	e.Kind = EntryKind(flags & kindMask)
	e.Tick = flags&flagTick != 0
	if flags&flagNew != 0 {
		u.series = append(u.series, u.name(d.bytes()))
		e.Series = u.series[len(u.series)-1]
	} else if i := d.uvarint(); i < uint64(len(u.series)) {
		e.Series = u.series[i]
	} else {
		return e, false
	}
	e.Time = d.varint()
	if flags&flagZero == 0 {
		e.Value = math.Float64frombits(d.uint64())
	}
	return e, !d.bad
}

func (u *unpacker) name(b []byte) reading.Series {
	if s, ok := u.names[string(b)]; ok {
		return s
	}
	if u.names == nil {
		u.names = make(map[string]reading.Series)
	}
	s := reading.Series(b)
	u.names[string(s)] = s
	return s
}

const packetSize = 10

func packPackets(packets []Packet) []byte {
	dst := make([]byte, 0, packetSize*len(packets)+crcSize)
	for _, p := range packets {
		dst = binary.BigEndian.AppendUint16(dst, p.ID)
		dst = binary.BigEndian.AppendUint64(dst, p.Hash)
	}
	return dst
}

func unpackPackets(data []byte) ([]Packet, error) {
	if len(data)%packetSize != 0 {
		return nil, errFormat
	}
	packets := make([]Packet, 0, len(data)/packetSize)
	for ; len(data) > 0; data = data[packetSize:] {
		packets = append(packets, Packet{ID: binary.BigEndian.Uint16(data), Hash: binary.BigEndian.Uint64(data[2:])})
	}
	return packets, nil
}
