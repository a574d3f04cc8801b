package reading

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fxamacker/cbor/v2"
	"github.com/tidwall/gjson"
)

// senmlRelative bounds, in ns, the times that SenML counts from now: below 2^28 seconds. RFC 8428, section 4.5.3.
const senmlRelative = int64(1<<28) * 1e9

// senmlBase holds the base fields, which are good for all records that follow.
type senmlBase struct {
	name, unit string
	value      gjson.Result
	time       gjson.Result
}

// readSenML makes an array of resolved records: n, u, v (or vs, vb, vd) and t, in decimal seconds. A record of base
// fields alone is none.
func (d *Decoder) readSenML(root gjson.Result) document {
	if !root.IsArray() {
		return undecodable("SenML is an array of records")
	}
	var base senmlBase
	var fault string
	start := len(d.buf)
	d.buf = append(d.buf, '[')
	root.ForEach(func(_, rec gjson.Result) bool {
		if fault = base.take(rec); fault == "" {
			d.appendResolved(&base, rec)
		}
		return fault == ""
	})
	if fault != "" {
		return undecodable("invalid SenML: " + fault)
	}
	return d.made(start, ']')
}

// take checks a record and notes its base fields. A null, as a bare nan is read, is an absent field.
func (b *senmlBase) take(rec gjson.Result) (fault string) {
	if !rec.IsObject() {
		return "a record is no object"
	}
	rec.ForEach(func(k, v gjson.Result) bool {
		want, known := senmlTypes[k.Str]
		if v.Type == gjson.Null {
			return true
		}
		if known && v.Type != want {
			fault = fmt.Sprintf("%s has the wrong type", k.Str)
			return false
		}
		switch k.Str {
		case "bn":
			b.name = v.Str
		case "bu":
			b.unit = v.Str
		case "bv":
			b.value = v
		case "bt":
			b.time = v
		}
		return true
	})
	return fault
}

var senmlTypes = map[string]gjson.Type{
	"bn": gjson.String, "bu": gjson.String, "bv": gjson.Number, "bt": gjson.Number,
	"n": gjson.String, "u": gjson.String, "v": gjson.Number, "t": gjson.Number, "vs": gjson.String,
}

// appendResolved appends a record with the base applied.
func (d *Decoder) appendResolved(b *senmlBase, rec gjson.Result) {
	own := false
	var unit, v, t gjson.Result
	name := b.name
	d.buf = append(appendComma(d.buf), '{')
	rec.ForEach(func(k, val gjson.Result) bool {
		own = own || k.Str == "" || k.Str[0] != 'b'
		if val.Type == gjson.Null {
			return true
		}
		switch k.Str {
		case "n":
			name = b.name + val.Str
		case "u":
			unit = val
		case "v":
			v = val
		case "t":
			t = val
		case "vs", "vb", "vd":
			d.buf = append(appendKey(d.buf, k.Str), val.Raw...)
		}
		return true
	})
	if !own {
		d.buf = trimRecord(d.buf)
		return
	}
	d.buf = appendString(appendKey(d.buf, "n"), name)
	if unit.Str == "" {
		unit.Str = b.unit
	}
	d.buf = appendString(appendKey(d.buf, "u"), unit.Str)
	if sum := addNumbers(b.value, v); sum != "" {
		d.buf = append(appendKey(d.buf, "v"), sum...)
	}
	d.buf = append(appendSeconds(appendKey(d.buf, "t"), b.time, t), '}')
}

// trimRecord takes back the beginning of a record that turned out to be none.
func trimRecord(dst []byte) []byte {
	dst = dst[:len(dst)-1]
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// addNumbers is base plus v as JSON, "" if both are absent.
func addNumbers(base, v gjson.Result) string {
	if base.Raw == "" {
		return v.Raw
	}
	if v.Raw == "" {
		return base.Raw
	}
	return string(appendFloat(nil, base.Num+v.Num, 64))
}

// appendSeconds appends the sum of two times in seconds, exact to the ns. Absent ones are 0. A sum beyond 64 bits of ns is
// written as one that no time can be.
func appendSeconds(dst []byte, base, t gjson.Result) []byte {
	const far = int64(math.MaxInt64)
	a, b := senmlNanos(base), senmlNanos(t)
	switch {
	case a == far || b == far || a > 0 && b > far-a:
		return append(dst, "9e99"...)
	case a < 0 && b < -far-a:
		return append(dst, "-9e99"...)
	}
	sum := a + b
	if sum < 0 {
		dst = append(dst, '-')
	}
	sum = abs(sum)
	dst = strconv.AppendInt(dst, sum/1e9, 10)
	return fmt.Appendf(dst, ".%09d", sum%1e9)
}

// senmlNanos is a time in ns, MaxInt64 if it is too far ahead and its negative if it is too far back.
func senmlNanos(v gjson.Result) int64 {
	if v.Raw == "" {
		return 0
	}
	t, got := unixNanos(v.Raw, 9)
	switch got {
	case timeFar:
		return math.MaxInt64
	case timeBad:
		return -math.MaxInt64
	}
	return t
}

// isCBOR reports whether a payload begins with a CBOR array, which no text does.
func isCBOR(payload []byte) bool {
	return len(payload) > 0 && payload[0] >= 0x80 && payload[0] <= 0x9f
}

// senmlLabels are the names of CBOR's integer labels. RFC 8428, section 6.
var senmlLabels = map[int64]string{-5: "bv", -4: "bu", -3: "bt", -2: "bn", -1: "bver", 0: "n", 1: "u", 2: "v", 3: "vs", 4: "vb", 6: "t"}

// readSenMLCBOR makes JSON of CBOR and reads on as with that.
func (d *Decoder) readSenMLCBOR(payload []byte) document {
	mode, err := cbor.DecOptions{DupMapKey: cbor.DupMapKeyEnforcedAPF, MaxNestedLevels: 16}.DecMode()
	if err != nil {
		return undecodable(err.Error())
	}
	var pack []map[any]any
	if err := mode.Unmarshal(payload, &pack); err != nil {
		return undecodable("invalid SenML: " + err.Error())
	}
	start := len(d.buf)
	d.buf = append(d.buf, '[')
	for _, rec := range pack {
		d.buf = append(appendComma(d.buf), '{')
		for label := int64(-5); label <= 6; label++ {
			v, ok := rec[label]
			if label >= 0 && !ok {
				v, ok = rec[uint64(label)]
			}
			if name := senmlLabels[label]; ok && name != "" {
				d.buf = appendCBOR(appendKey(d.buf, name), v)
			}
		}
		d.buf = append(d.buf, '}')
	}
	return d.readSenML(d.made(start, ']').root)
}

// appendCBOR appends a value that SenML allows as JSON, anything else as null.
func appendCBOR(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case uint64, int64:
		return fmt.Append(dst, v)
	case float64:
		return appendFloat(dst, v, 64)
	case cbor.Tag: // 4: a decimal fraction, exponent and mantissa
		parts, ok := v.Content.([]any)
		if ok && v.Number == 4 && len(parts) == 2 && isInteger(parts[0]) && isInteger(parts[1]) {
			return fmt.Appendf(dst, "%de%d", parts[1], parts[0])
		}
	}
	return append(dst, "null"...)
}

func isInteger(v any) bool {
	switch v.(type) {
	case uint64, int64:
		return true
	}
	return false
}
