package reading

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"
)

// A format is how payloads are written.
type format uint8

const (
	jsonFormat format = iota
	textFormat
	csvFormat
	influxFormat
	formFormat
	senmlFormat
	sparkplugFormat
	msgpackFormat
	ruuviFormat
	numFormats
)

var formats = map[string]format{
	"": jsonFormat, "json": jsonFormat, "text": textFormat, "csv": csvFormat, "influx": influxFormat, "form": formFormat,
	"senml": senmlFormat, "sparkplug": sparkplugFormat, "msgpack": msgpackFormat, "ruuvi": ruuviFormat,
}

func formatNames() []string {
	return []string{"json", "text", "csv", "influx", "form", "senml", "sparkplug", "msgpack", "ruuvi"}
}

// A document is a payload as JSON, or the reason why it is none. Sources of one format share it.
type document struct {
	done   bool
	root   gjson.Result
	reason Reason // NumReasons if root is good
	detail string // of the reason; else what to say if no record is found
}

func good(root gjson.Result) document { return document{root: root, reason: NumReasons} }

func undecodable(detail string) document { return document{reason: Decode, detail: detail} }

// stripped is cut from both ends of a payload and of a text.
const stripped = " \t\r\n\v\f\x00"

// strip cuts blanks, line ends, NUL and the mark of UTF-8 from both ends, in any order.
func strip(s string) string {
	const bom = "\ufeff"
	for {
		t := strings.Trim(s, stripped)
		t = strings.TrimSuffix(strings.TrimPrefix(t, bom), bom)
		if len(t) == len(s) {
			return s
		}
		s = t
	}
}

// document reads the payload in a format, once a message.
func (d *Decoder) document(f format, m *Message) *document {
	doc := &d.docs[f]
	if doc.done {
		return doc
	}
	*doc = d.read(f, m)
	doc.done = true
	return doc
}

func (d *Decoder) read(f format, m *Message) document {
	if bytes.HasPrefix(m.Payload, []byte{0x1f, 0x8b}) {
		return undecodable("gzip-compressed payload is not supported")
	}
	switch f {
	case sparkplugFormat:
		return d.readSparkplug(m)
	case msgpackFormat:
		return d.readMsgpack(m.Payload)
	}
	if f == senmlFormat && isCBOR(m.Payload) {
		return d.readSenMLCBOR(m.Payload)
	}
	text := strip(alias(m.Payload))
	if noValueWord(text) {
		return document{reason: NoValue, detail: "payload is empty or says that there is no value: " + text}
	}
	switch f {
	case textFormat:
		return readText(text)
	case csvFormat:
		return d.readCSV(text)
	case influxFormat:
		return d.readInflux(text)
	case formFormat:
		return d.readForm(text)
	}
	doc := d.readJSON(text)
	if doc.reason != NumReasons {
		return doc
	}
	switch f {
	case senmlFormat:
		return d.readSenML(doc.root)
	case ruuviFormat:
		return d.readRuuvi(doc.root)
	}
	return doc
}

// readText takes the payload as the number; JSON quotes around it are opened.
func readText(s string) document {
	if s[0] == '"' && gjson.Valid(s) {
		return good(gjson.Parse(s))
	}
	return good(gjson.Result{Type: gjson.String, Str: s, Raw: s})
}

// readJSON takes one strictly valid JSON value. Bare nan and infinity tokens are read as null.
func (d *Decoder) readJSON(s string) document {
	if tooDeep(s) {
		return undecodable("JSON is nested too deep")
	}
	if !gjson.Valid(s) {
		mended := d.mendJSON(s)
		if !gjson.Valid(mended) {
			return undecodable("invalid JSON: " + jsonFault(mended))
		}
		s = mended
	}
	return good(gjson.Parse(s))
}

// jsonFault says where the first fault of s is.
func jsonFault(s string) string {
	var raw json.RawMessage
	err := json.Unmarshal([]byte(s), &raw)
	if err == nil {
		return "not strict"
	}
	if syntax, ok := err.(*json.SyntaxError); ok {
		return fmt.Sprintf("%v, at byte %d", err, syntax.Offset)
	}
	return err.Error()
}

// mendJSON puts null for bare nan and infinity tokens, which printf and Python write where JSON knows no number.
func (d *Decoder) mendJSON(s string) string {
	start := len(d.buf)
	for i := 0; i < len(s); {
		n := tokenLength(s[i:])
		switch token := s[i : i+n]; strings.ToLower(strings.TrimLeft(token, "+-")) {
		case "nan", "inf", "infinity":
			d.buf = append(d.buf, "null"...)
		default:
			d.buf = append(d.buf, token...)
		}
		i += n
	}
	return alias(d.buf[start:])
}

// tokenLength is the length of the string, the bare word or the single byte at the start of s.
func tokenLength(s string) int {
	if s[0] == '"' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(s)
	}
	n := 0
	for n < len(s) && (alphanumeric(s[n:n+1]) || s[n] == '+' || s[n] == '-' || s[n] == '.') {
		n++
	}
	return max(n, 1)
}

// maxDepth bounds the nesting of JSON: readers of it are recursive.
const maxDepth = 256

// tooDeep reports whether s may be nested deeper than maxDepth. A shallow payload, the usual case, needs two fast counts.
func tooDeep(s string) bool {
	if strings.Count(s, "[")+strings.Count(s, "{") <= maxDepth {
		return false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i += tokenLength(s[i:]) - 1
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxDepth {
			return true
		}
	}
	return false
}

// alias is b as a string without a copy. It is good as long as nobody writes to b: for the message being decoded.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// appendKey appends a key of an object, with a comma before it if it is not the first.
func appendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(appendString(dst, key), ':')
}

// appendString appends s as a JSON string. Invalid UTF-8 stays as it is, so that an id with it is refused, not changed.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
