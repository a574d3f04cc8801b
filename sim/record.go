package sim

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"edgeagent/reading"
)

// maxRecord bounds one line of a record, in bytes.
const maxRecord = 16 << 20

// A Record is one message in the input format of replay and try.
type Record struct {
	Topic    string
	Payload  []byte
	Retained bool
	Time     int64 // arrival, ns since the Unix epoch; reading.NoTime is none
}

// wire is a Record as its line of JSON.
type wire struct {
	Topic    string          `json:"topic"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Base64   *string         `json:"payload_b64,omitempty"`
	Retained bool            `json:"retained,omitempty"`
	Time     *time.Time      `json:"time,omitempty"`
}

// Line encodes r as one line, newline included. The payload's bytes come back exactly: it stands as it is if it is a JSON
// value other than a string on one line, else as a string, or in base64 if it is no text.
func (r Record) Line() []byte {
	b := append([]byte(`{"topic":`), quote(r.Topic)...)
	switch {
	case standsAlone(r.Payload):
		b = append(append(b, `,"payload":`...), r.Payload...)
	case utf8.Valid(r.Payload):
		b = append(append(b, `,"payload":`...), quote(string(r.Payload))...)
	default:
		b = append(append(b, `,"payload_b64":"`...), base64.StdEncoding.EncodeToString(r.Payload)...)
		b = append(b, '"')
	}
	if r.Retained {
		b = append(b, `,"retained":true`...)
	}
	if r.Time != reading.NoTime {
		b = append(b, `,"time":"`...)
		b = time.Unix(0, r.Time).UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	return append(b, "}\n"...)
}

// standsAlone reports whether the payload can stand in a line byte for byte and be read back so.
func standsAlone(payload []byte) bool {
	return json.Valid(payload) && utf8.Valid(payload) && !bytes.ContainsAny(payload, "\r\n") &&
		len(bytes.TrimSpace(payload)) == len(payload) && payload[0] != '"'
}

// quote makes a JSON string of text.
func quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string and a buffer: no error is possible
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// ReadRecords reads a record to its end. Empty lines are skipped; the error names the line.
func ReadRecords(in io.Reader) ([]Record, error) {
	var records []Record
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxRecord)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		r, err := parseRecord(lines.Bytes())
		if err != nil {
			return records, fmt.Errorf("read record line %d: %w", n, err)
		}
		records = append(records, r)
	}
	if err := lines.Err(); err != nil {
		return records, fmt.Errorf("read record: %w", err)
	}
	return records, nil
}

func parseRecord(line []byte) (Record, error) {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return Record{}, err
	}
	r := Record{Topic: w.Topic, Payload: []byte(w.Payload), Retained: w.Retained, Time: reading.NoTime}
	if w.Time != nil {
		r.Time = w.Time.UnixNano()
	}
	var err error
	if w.Base64 != nil {
		r.Payload, err = base64.StdEncoding.DecodeString(*w.Base64)
	} else if len(w.Payload) > 0 && w.Payload[0] == '"' {
		var text string
		err = json.Unmarshal(w.Payload, &text)
		r.Payload = []byte(text)
	}
	return r, err
}
