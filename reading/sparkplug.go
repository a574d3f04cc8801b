package reading

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The kinds of Sparkplug messages that carry readings. Commands carry values too, but those are wishes.
var sparkplugKinds = []string{"NBIRTH", "DBIRTH", "NDATA", "DDATA"}

// sparkplugTopic finds the kind of message and the edge node (group/node) in a topic GROUP/KIND/NODE[/DEVICE].
func sparkplugTopic(topic string) (kind, node string) {
	levels := strings.Split(topic, "/")
	for i := 1; i+1 < len(levels); i++ {
		if slices.Contains(sparkplugKinds, levels[i]) {
			return levels[i], levels[i-1] + "/" + levels[i+1]
		}
	}
	return "", ""
}

// A metric is one value of a Sparkplug payload.
type metric struct {
	name      string
	alias     uint64
	aliased   bool
	timestamp uint64
	timed     bool
	kind      uint64 // Sparkplug's data type, 0 if not given
	null      bool
	history   bool
	field     uint64 // of the value: 10 to 15; 0 if there is none
	bits      uint64 // of a numeric or boolean value
	text      string
}

// readSparkplug makes an object with timestamp and metrics of a Sparkplug B payload. A birth defines the aliases of its
// edge node; a metric that has an alias alone gets its name from them.
// https://sparkplug.eclipse.org/specification/version/3.0/documents/sparkplug-specification-3.0.0.pdf
func (d *Decoder) readSparkplug(m *Message) document {
	if len(m.Payload) == 0 {
		return document{reason: NoValue, detail: "payload is empty"}
	}
	kind, node := sparkplugTopic(m.Topic)
	if kind == "" {
		return undecodable("the topic is that of no Sparkplug birth or data message")
	}
	stamp, metrics, ok := parsePayload(m.Payload)
	if !ok {
		return undecodable("invalid Sparkplug payload")
	}
	if strings.HasSuffix(kind, "BIRTH") {
		d.aliases.learn(node, metrics, kind == "NBIRTH")
	}
	unknown := ""
	start := len(d.buf)
	d.buf = fmt.Appendf(d.buf, `{"timestamp":%d,"metrics":[`, stamp)
	for i := range metrics {
		mt := &metrics[i]
		if mt.name == "" && mt.aliased && !d.aliases.resolve(node, mt) {
			unknown = fmt.Sprintf(": unknown alias %d, its birth was not seen", mt.alias)
		}
		d.buf = mt.append(appendComma(d.buf))
	}
	d.buf = append(d.buf, ']')
	doc := d.made(start, '}')
	doc.detail = unknown
	return doc
}

// append appends the metric as JSON. The value is left out if there is none or it is no number, boolean or text.
func (m *metric) append(dst []byte) []byte {
	dst = append(dst, '{')
	if m.name != "" {
		dst = appendString(appendKey(dst, "name"), m.name)
	}
	if m.aliased {
		dst = strconv.AppendUint(appendKey(dst, "alias"), m.alias, 10)
	}
	if m.timed {
		dst = strconv.AppendUint(appendKey(dst, "timestamp"), m.timestamp, 10)
	}
	if m.history {
		dst = append(appendKey(dst, "is_historical"), "true"...)
	}
	if m.null || m.field == 0 {
		return append(dst, '}')
	}
	return append(m.appendValue(appendKey(dst, "value")), '}')
}

func (m *metric) appendValue(dst []byte) []byte {
	switch m.field {
	case 12:
		return appendFloat(dst, float64(math.Float32frombits(uint32(m.bits))), 32)
	case 13:
		return appendFloat(dst, math.Float64frombits(m.bits), 64)
	case 14:
		return strconv.AppendBool(dst, m.bits != 0)
	case 15:
		return appendString(dst, m.text)
	}
	switch m.kind { // signed integers come as the bits of unsigned ones
	case 1:
		return strconv.AppendInt(dst, int64(int8(m.bits)), 10)
	case 2:
		return strconv.AppendInt(dst, int64(int16(m.bits)), 10)
	case 3:
		return strconv.AppendInt(dst, int64(int32(m.bits)), 10)
	case 4:
		return strconv.AppendInt(dst, int64(m.bits), 10)
	}
	return strconv.AppendUint(dst, m.bits, 10)
}

// parsePayload reads the fields of a payload that matter here: 1 timestamp, 2 metrics.
func parsePayload(b []byte) (stamp uint64, metrics []metric, ok bool) {
	w := wire{b: b}
	for w.next() {
		switch {
		case w.field == 1 && w.kind == 0:
			stamp = w.number
		case w.field == 2 && w.kind == 2:
			m, ok := parseMetric(w.data)
			if !ok {
				return 0, nil, false
			}
			metrics = append(metrics, m)
		}
	}
	return stamp, metrics, !w.bad
}

func parseMetric(b []byte) (metric, bool) {
	var m metric
	w := wire{b: b}
	for w.next() {
		if w.kind != metricKinds[w.field&31] || w.field > 15 {
			continue
		}
		switch w.field {
		case 1:
			m.name = string(w.data)
		case 2:
			m.alias, m.aliased = w.number, true
		case 3:
			m.timestamp, m.timed = w.number, true
		case 4:
			m.kind = w.number
		case 5:
			m.history = w.number != 0
		case 7:
			m.null = w.number != 0
		case 10, 11, 12, 13, 14, 15:
			m.field, m.bits, m.text = w.field, w.number, string(w.data)
		}
	}
	return m, !w.bad
}

// metricKinds are the wire kinds of a metric's fields, by number.
var metricKinds = [32]uint64{1: 2, 12: 5, 13: 1, 15: 2}

// A wire reads protobuf fields from the left. https://protobuf.dev/programming-guides/encoding
type wire struct {
	b   []byte
	bad bool

	field  uint64
	kind   uint64 // 0 varint, 1 eight bytes, 2 data, 5 four bytes
	number uint64
	data   []byte
}

// next reads one field and reports whether there was one. bad is set if what is left is no field.
func (w *wire) next() bool {
	if len(w.b) == 0 {
		return false
	}
	tag := w.varint()
	w.field, w.kind, w.number, w.data = tag>>3, tag&7, 0, nil
	switch w.kind {
	case 0:
		w.number = w.varint()
	case 1:
		if b := w.take(8); b != nil {
			w.number = binary.LittleEndian.Uint64(b)
		}
	case 2:
		w.data = w.take(w.varint())
	case 5:
		if b := w.take(4); b != nil {
			w.number = uint64(binary.LittleEndian.Uint32(b))
		}
	default:
		w.bad = true
	}
	w.bad = w.bad || w.field == 0
	return !w.bad
}

func (w *wire) varint() uint64 {
	v, n := binary.Uvarint(w.b)
	if n <= 0 {
		w.bad, w.b = true, nil
		return 0
	}
	w.b = w.b[n:]
	return v
}

func (w *wire) take(n uint64) []byte {
	if n > uint64(len(w.b)) {
		w.bad, w.b = true, nil
		return nil
	}
	b := w.b[:n]
	w.b = w.b[n:]
	return b
}
