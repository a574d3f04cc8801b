package reading

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// packValue appends a random MessagePack value to b, as wide as the draw has it, and its JSON to js.
func packValue(rng *rand.Rand, b []byte, js *strings.Builder, depth int) []byte {
	kind := rng.IntN(14)
	if depth == 0 && kind > 10 {
		kind -= 5
	}
	be := binary.BigEndian
	switch kind {
	case 0:
		js.WriteString("null")
		return append(b, 0xc0)
	case 1:
		js.WriteString("true")
		return append(b, 0xc3)
	case 2:
		n := rng.IntN(128)
		fmt.Fprint(js, n)
		return append(b, byte(n))
	case 3:
		n := -1 - rng.IntN(32)
		fmt.Fprint(js, n)
		return append(b, byte(int8(n)))
	case 4:
		n := rng.Uint64() >> rng.IntN(64)
		fmt.Fprint(js, n)
		return be.AppendUint64(append(b, 0xcf), n)
	case 5:
		n := int16(rng.Uint32())
		fmt.Fprint(js, n)
		return be.AppendUint16(append(b, 0xd1), uint16(n))
	case 6:
		n := int64(rng.Uint64())
		fmt.Fprint(js, n)
		return be.AppendUint64(append(b, 0xd3), uint64(n))
	case 7:
		x := rng.NormFloat64() * 100
		js.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
		return be.AppendUint64(append(b, 0xcb), math.Float64bits(x))
	case 8:
		x := float32(rng.NormFloat64() * 100)
		js.WriteString(strconv.FormatFloat(float64(x), 'g', -1, 32))
		return be.AppendUint32(append(b, 0xca), math.Float32bits(x))
	case 9, 10:
		return packText(b, js, randomText(rng))
	case 11:
		n := rng.IntN(4)
		b = be.AppendUint16(append(b, 0xdc), uint16(n))
		js.WriteByte('[')
		for i := range n {
			if i > 0 {
				js.WriteByte(',')
			}
			b = packValue(rng, b, js, depth-1)
		}
		js.WriteByte(']')
		return b
	}
	n := rng.IntN(4)
	b = append(b, 0x80|byte(n))
	js.WriteByte('{')
	for i := range n {
		if i > 0 {
			js.WriteByte(',')
		}
		b = packText(b, js, fmt.Sprint("k", i))
		js.WriteByte(':')
		b = packValue(rng, b, js, depth-1)
	}
	js.WriteByte('}')
	return b
}

func packText(b []byte, js *strings.Builder, s string) []byte {
	js.WriteString(quoteJSON(s))
	if len(s) < 32 {
		return append(append(b, 0xa0|byte(len(s))), s...)
	}
	return append(append(b, 0xd9, byte(len(s))), s...)
}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(40) {
		b.WriteString(pick(rng, "a", "B", "7", " ", "\"", "\\", "é", "\n", "\x00", "=", ",", "€"))
	}
	return b.String()
}

// TestMsgpackAgainstOracle packs random values and compares with the JSON written beside.
func TestMsgpackAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	for range 5000 {
		var js strings.Builder
		packed := packValue(rng, nil, &js, 4)
		doc := newDecoder(nil).readMsgpack(packed)
		if doc.reason != NumReasons {
			t.Fatalf("%x: %s, want %s", packed, doc.detail, js.String())
		}
		if got, want := canonical(t, doc.root.Raw), canonical(t, js.String()); got != want {
			t.Fatalf("%x\n= %s\nwant %s", packed, got, want)
		}
	}
}

// canonical is JSON as encoding/json writes it again, numbers as they are.
func canonical(t *testing.T, s string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// protoField appends a field of Protocol Buffers.
func protoField(b []byte, field, wire uint64, v uint64, data []byte) []byte {
	b = binary.AppendUvarint(b, field<<3|wire)
	switch wire {
	case 0:
		return binary.AppendUvarint(b, v)
	case 1:
		return binary.LittleEndian.AppendUint64(b, v)
	case 5:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// TestSparkplugAgainstOracle writes births and data with random kinds of values and compares what is read.
func TestSparkplugAgainstOracle(t *testing.T) {
	rng := testbed.Random(t)
	d := compileOne(t, Rule{Topic: "spBv1.0/g/{k}/e/d", Format: "sparkplug", Each: "metrics[*]", Value: "value", Sensor: "{name}", Time: "timestamp", NotBefore: NoTime})
	const stamp int64 = 1793779270123
	for range 3000 {
		n := 1 + rng.IntN(5)
		birth, data := protoField(nil, 1, 0, uint64(stamp), nil), protoField(nil, 1, 0, uint64(stamp), nil)
		var want []string
		for i := range n {
			name, alias := fmt.Sprintf("Area/T%d", i), uint64(rng.IntN(20))*10+uint64(i)
			kind, value, wire, bits := uint64(10), math.Round(rng.Float64()*1000)/10-20, uint64(1), uint64(0)
			field := uint64(13)
			switch rng.IntN(4) {
			case 0:
				bits = math.Float64bits(value)
			case 1:
				kind, field, wire, value = 9, 12, 5, float64(float32(int(value)))
				bits = uint64(math.Float32bits(float32(value)))
			case 2:
				kind, field, wire, value = 3, 10, 0, float64(int(value))
				bits = uint64(uint32(int32(value)))
			default:
				kind, field, wire, value = 4, 11, 0, float64(int(value))
				bits = uint64(int64(value))
			}
			m := protoField(protoField(protoField(nil, 1, 2, 0, []byte(name)), 2, 0, alias, nil), 4, 0, kind, nil)
			birth = protoField(birth, 2, 2, 0, protoField(m, 7, 0, 1, nil)) // null at birth
			m = protoField(protoField(nil, 2, 0, alias, nil), 3, 0, uint64(stamp)+uint64(i), nil)
			m = protoField(m, 99, 2, 0, []byte("unknown fields are passed over"))
			data = protoField(data, 2, 2, 0, protoField(m, field, wire, bits, nil))
			want = append(want, fmt.Sprintf("%s=%v@%d", name, value, stamp+int64(i)))
		}
		var res Result
		if d.decode(Message{Topic: "spBv1.0/g/DBIRTH/e/d", Payload: birth, Arrival: 1}, &res); len(res.Readings) != 0 || len(res.Refusals) != n {
			t.Fatalf("birth: %+v", res)
		}
		d.decode(Message{Topic: "spBv1.0/g/DDATA/e/d", Payload: data, Arrival: 1}, &res)
		var got []string
		for _, r := range res.Readings {
			got = append(got, fmt.Sprintf("%s=%v@%d", r.Series, r.Value, r.Time/1e6))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("data %x\n= %v (%+v)\nwant %v", data, got, res.Refusals, want)
		}
	}
}
