package reading

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"time"
)

var (
	errShort = errors.New("unexpected end")
	errDeep  = errors.New("nested too deep")
	errType  = errors.New("a type that does not exist")
	errKey   = errors.New("a map key that is neither text nor number")
)

// readMsgpack makes JSON of MessagePack. Several objects in a row, as Telegraf batches them, become an array.
func (d *Decoder) readMsgpack(payload []byte) document {
	if len(payload) == 0 {
		return document{reason: NoValue, detail: "payload is empty"}
	}
	p := packed{b: payload}
	start := len(d.buf)
	d.buf = append(d.buf, '[')
	n := 0
	for ; len(p.b) > 0; n++ {
		var err error
		if d.buf, err = p.value(appendComma(d.buf), 0); err != nil {
			return undecodable("invalid MessagePack: " + err.Error())
		}
	}
	doc := d.made(start, ']')
	if n == 1 {
		doc.root = element(doc.root, 0)
	}
	return doc
}

// packed reads MessagePack from the left. https://github.com/msgpack/msgpack/blob/master/spec.md
type packed struct{ b []byte }

// bytes takes n bytes.
func (p *packed) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(p.b)) {
		return nil, errShort
	}
	taken := p.b[:n]
	p.b = p.b[n:]
	return taken, nil
}

// uint takes a big-endian number of n bytes.
func (p *packed) uint(n uint64) (uint64, error) {
	b, err := p.bytes(n)
	var v uint64
	for _, c := range b {
		v = v<<8 | uint64(c)
	}
	return v, err
}

// value appends the next value as JSON.
func (p *packed) value(dst []byte, depth int) ([]byte, error) {
	tag, err := p.uint(1)
	if err != nil {
		return dst, err
	}
	if depth > maxDepth {
		return dst, errDeep
	}
	switch {
	case tag < 0x80:
		return strconv.AppendUint(dst, tag, 10), nil
	case tag < 0x90:
		return p.object(dst, tag&0x0f, depth)
	case tag < 0xa0:
		return p.list(dst, tag&0x0f, depth)
	case tag < 0xc0:
		return p.text(dst, tag&0x1f)
	case tag >= 0xe0:
		return strconv.AppendInt(dst, int64(int8(tag)), 10), nil
	case tag >= 0xd9:
		return p.sized(dst, tag, depth)
	case tag >= 0xca && tag <= 0xd3:
		return p.numeric(dst, tag)
	}
	return p.other(dst, tag)
}

// sized appends a string, an array or a map whose length is a number of its own.
func (p *packed) sized(dst []byte, tag uint64, depth int) ([]byte, error) {
	width := map[uint64]uint64{0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}[tag]
	n, err := p.uint(width)
	switch {
	case err != nil:
		return dst, err
	case tag <= 0xdb:
		return p.text(dst, n)
	case tag <= 0xdd:
		return p.list(dst, n, depth)
	}
	return p.object(dst, n, depth)
}

func (p *packed) text(dst []byte, n uint64) ([]byte, error) {
	b, err := p.bytes(n)
	if err != nil {
		return dst, err
	}
	return appendString(dst, alias(b)), nil
}

func (p *packed) list(dst []byte, n uint64, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for range n {
		var err error
		if dst, err = p.value(appendComma(dst), depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// object appends a map. Its keys must be strings or numbers, which become strings.
func (p *packed) object(dst []byte, n uint64, depth int) ([]byte, error) {
	dst = append(dst, '{')
	for range n {
		key, err := p.value(nil, depth+1)
		if err != nil {
			return dst, err
		}
		switch dst = appendComma(dst); key[0] {
		case '"':
			dst = append(dst, key...)
		case '{', '[':
			return dst, errKey
		default:
			dst = appendString(dst, alias(key))
		}
		if dst, err = p.value(append(dst, ':'), depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (p *packed) numeric(dst []byte, tag uint64) ([]byte, error) {
	width := []uint64{4, 8, 1, 2, 4, 8, 1, 2, 4, 8}[tag-0xca]
	v, err := p.uint(width)
	switch {
	case err != nil:
		return dst, err
	case tag == 0xca:
		return appendFloat(dst, float64(math.Float32frombits(uint32(v))), 32), nil
	case tag == 0xcb:
		return appendFloat(dst, math.Float64frombits(v), 64), nil
	case tag <= 0xcf:
		return strconv.AppendUint(dst, v, 10), nil
	}
	unused := 64 - 8*width
	return strconv.AppendInt(dst, int64(v<<unused)>>unused, 10), nil
}

// other appends nil, booleans, byte strings and extensions.
func (p *packed) other(dst []byte, tag uint64) ([]byte, error) {
	switch {
	case tag == 0xc0:
		return append(dst, "null"...), nil
	case tag == 0xc1:
		return dst, errType
	case tag <= 0xc3:
		return strconv.AppendBool(dst, tag == 0xc3), nil
	case tag >= 0xd4:
		return p.extension(dst, 1<<(tag-0xd4))
	}
	n, err := p.uint(1 << ((tag - 0xc4) % 3))
	switch {
	case err != nil:
		return dst, err
	case tag <= 0xc6:
		return p.text(dst, n)
	}
	return p.extension(dst, n)
}

// extension appends a timestamp (type -1) as RFC 3339 text, anything else as null.
func (p *packed) extension(dst []byte, n uint64) ([]byte, error) {
	kind, err := p.uint(1)
	if err != nil {
		return dst, err
	}
	b, err := p.bytes(n)
	if err != nil {
		return dst, err
	}
	var sec, nano int64
	switch {
	case int8(kind) == -1 && n == 4:
		sec = int64(binary.BigEndian.Uint32(b))
	case int8(kind) == -1 && n == 8:
		v := binary.BigEndian.Uint64(b)
		sec, nano = int64(v&(1<<34-1)), int64(v>>34)
	case int8(kind) == -1 && n == 12:
		sec, nano = int64(binary.BigEndian.Uint64(b[4:])), int64(binary.BigEndian.Uint32(b))
	default:
		return append(dst, "null"...), nil
	}
	dst = time.Unix(sec, nano).UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano)
	return append(dst, '"'), nil
}

// appendFloat appends x as JSON, null if it is not finite: JSON has no word for that.
func appendFloat(dst []byte, x float64, bits int) []byte {
	if !finite(x) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, x, 'g', -1, bits)
}
