package buffer

import (
	"encoding/binary"

	"edgeagent/reading"
)

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// A decoder takes values off the front of b. After the first that is not there bad is set and every value is zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if v := d.take(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if v := d.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		n = -1
	}
	d.take(n)
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		n = uint64(len(d.b)) + 1
	}
	return d.take(int(n))
}

func (d *decoder) string() string { return string(d.bytes()) }

// appendPoint encodes all of p but its sequence number, which is its key.
func appendPoint(dst []byte, p *Point) []byte {
	dst = append(dst, byte(p.Kind))
	dst = binary.AppendVarint(dst, p.End)
	dst = binary.AppendVarint(dst, p.Start)
	dst = binary.AppendUvarint(dst, p.Replaces)
	dst = appendString(dst, string(p.Series))
	return append(dst, p.Line...)
}

// decodePoint copies everything out of data.
func decodePoint(seq uint64, data []byte) (Point, error) {
	d := decoder{b: data}
	p := Point{Seq: seq, Kind: PointKind(d.byte()), End: d.varint(), Start: d.varint(), Replaces: d.uvarint()}
	p.Series = reading.Series(d.string())
	if d.bad || p.Kind >= NumPointKinds {
		return Point{}, errFormat
	}
	p.Line = append([]byte(nil), d.b...)
	return p, nil
}

// appendParked encodes a refusal together with the whole point as it was stored, so that it can be queued again.
func appendParked(dst []byte, p *Parked, point []byte) []byte {
	dst = binary.AppendVarint(dst, p.Time)
	dst = appendString(dst, cut(p.Reason, maxReason))
	return append(dst, point...)
}

func decodeParked(seq uint64, data []byte) (Parked, error) {
	d := decoder{b: data}
	p := Parked{Seq: seq, Time: d.varint(), Reason: d.string()}
	if d.bad {
		return Parked{}, errFormat
	}
	point, err := decodePoint(seq, d.b)
	p.Line = point.Line
	return p, err
}

func appendRaw(dst []byte, r *Raw) []byte {
	var retained byte
	if r.Retained {
		retained = rawRetained
	}
	dst = append(dst, retained|rawCounted)
	dst = binary.AppendVarint(dst, r.Arrival)
	dst = appendString(dst, r.Topic)
	dst = appendString(dst, cut(r.Reason, maxReason))
	dst = appendVerdict(dst, r)
	return append(dst, r.Payload...)
}

func decodeRaw(data []byte) (Raw, error) {
	d := decoder{b: data}
	flags := d.byte()
	r := Raw{Retained: flags&rawRetained != 0, Arrival: d.varint(), Topic: d.string(), Reason: d.string()}
	if flags&rawCounted != 0 {
		d.verdict(&r)
	} else {
		r.Refused = oneRefusal(r.Reason)
	}
	if d.bad || flags&^(rawRetained|rawCounted) != 0 {
		return Raw{}, errFormat
	}
	r.Payload = append([]byte(nil), d.b...)
	return r, nil
}

const maxReason = 512

func cut(s string, n int) string { return s[:min(len(s), n)] }

func appendMark(dst []byte, m Mark) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.M))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.W))
	if m.Gone != reading.NoTime || m.Forgot != reading.NoTime {
		dst = binary.BigEndian.AppendUint64(dst, uint64(m.Gone))
	}
	if m.Forgot != reading.NoTime {
		dst = binary.BigEndian.AppendUint64(dst, uint64(m.Forgot))
	}
	return dst
}

func decodeMark(sensor string, data []byte) (Mark, error) {
	if len(data) != 16 && len(data) != 24 && len(data) != 32 {
		return Mark{}, errFormat
	}
	m := Mark{sensor, int64(binary.BigEndian.Uint64(data)), int64(binary.BigEndian.Uint64(data[8:])), reading.NoTime, reading.NoTime}
	if len(data) >= 24 {
		m.Gone = int64(binary.BigEndian.Uint64(data[16:]))
	}
	if len(data) == 32 {
		m.Forgot = int64(binary.BigEndian.Uint64(data[24:]))
	}
	return m, nil
}

func appendLate(dst []byte, l LateCount) []byte {
	for _, v := range [...]int64{l.Interval, l.Count, l.Reported, l.MaxNs, l.Total} {
		dst = binary.AppendVarint(dst, v)
	}
	return dst
}

func decodeLate(series reading.Series, data []byte) (LateCount, error) {
	d := decoder{b: data}
	l := LateCount{Series: series}
	for _, v := range [...]*int64{&l.Interval, &l.Count, &l.Reported, &l.MaxNs, &l.Total} {
		*v = d.varint()
	}
	if d.bad || len(d.b) > 0 {
		return LateCount{}, errFormat
	}
	return l, nil
}
