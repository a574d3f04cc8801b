package agent

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"edgeagent/reading"
)

// A Recording reads messages from lines, one message a line, in arrival order:
//
//	{"topic": "...", "payload": <JSON value, or a string taken as the bytes>, "payload_b64": "<instead>", "retained": false, "time": "<RFC 3339>"}
//
// or, with a topic given, bare payloads that came on it.
type Recording struct {
	name  string
	topic string
	in    *bufio.Reader
	key   string
	line  int64
}

// keyBytes is how much of an input's beginning identifies it, beside its name.
const keyBytes = 4096

// maxLine bounds one line of a recording.
const maxLine = 16 << 20

// NewRecording reads from r. The name is for errors and, with the first 4 KiB, for finding the input again in the store.
func NewRecording(name string, r io.Reader, topic string) (*Recording, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(keyBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	h := fnv.New128a()
	_, _ = h.Write(head)
	return &Recording{name: name, topic: topic, in: in, key: fmt.Sprintf("%s\x00%x", name, h.Sum(nil))}, nil
}

// Next is the next message. The error is io.EOF at the end, and else names the input and the line.
func (r *Recording) Next() (reading.Message, error) {
	for {
		text, err := r.readLine()
		if err != nil {
			return reading.Message{}, err
		}
		r.line++
		if len(bytes.TrimSpace(text)) == 0 && r.topic == "" {
			continue
		}
		if r.topic != "" {
			return reading.Message{Topic: r.topic, Payload: text, Arrival: reading.NoTime}, nil
		}
		m, err := parseMessage(text)
		if err != nil {
			return m, fmt.Errorf("%s:%d: %w", r.name, r.line, err)
		}
		return m, nil
	}
}

// Skip passes over n lines, which are committed already.
func (r *Recording) Skip(n int64) error {
	for range n {
		if _, err := r.readLine(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		r.line++
	}
	return nil
}

// readLine is the next line without its end; the last may lack one.
func (r *Recording) readLine() ([]byte, error) {
	var text []byte
	for {
		part, err := r.in.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxLine {
			return nil, fmt.Errorf("%s:%d: line is longer than 16 MiB", r.name, r.line+1)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("read %s: %w", r.name, err)
		}
	}
}

// line is one message as recorded.
type recorded struct {
	Topic      *string         `json:"topic"`
	Payload    json.RawMessage `json:"payload"`
	PayloadB64 *string         `json:"payload_b64"`
	Retained   bool            `json:"retained"`
	Time       string          `json:"time"`
}

func parseMessage(text []byte) (reading.Message, error) {
	m := reading.Message{Arrival: reading.NoTime}
	var l recorded
	if err := json.Unmarshal(text, &l); err != nil {
		return m, fmt.Errorf("not a recorded message: %s; want {\"topic\": …, \"payload\": …} on one line, or --topic for bare payloads", jsonFault(err))
	}
	if l.Topic == nil {
		return m, errors.New("recorded message has no topic; give lines with one, or --topic for bare payloads")
	}
	m.Topic, m.Retained = *l.Topic, l.Retained
	if l.Time != "" {
		t, err := time.Parse(time.RFC3339Nano, l.Time)
		if err != nil {
			return m, fmt.Errorf("time %q is not RFC 3339", l.Time)
		}
		m.Arrival = t.UnixNano()
	}
	var err error
	m.Payload, err = payloadOf(l)
	return m, err
}

// jsonFault is an error of the JSON package in the words of the message.
func jsonFault(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return cmp.Or(wrong.Field, "it") + " is a JSON " + wrong.Value
	}
	return err.Error()
}

// payloadOf is the bytes of a recorded payload: of a string its text, of another JSON value its JSON.
func payloadOf(l recorded) ([]byte, error) {
	switch {
	case l.PayloadB64 != nil && l.Payload != nil:
		return nil, errors.New("both payload and payload_b64 are given")
	case l.PayloadB64 != nil:
		b, err := base64.StdEncoding.DecodeString(*l.PayloadB64)
		if err != nil {
			return nil, fmt.Errorf("payload_b64: %w", err)
		}
		return b, nil
	case l.Payload == nil:
		return nil, errors.New("recorded message has neither payload nor payload_b64")
	case l.Payload[0] == '"':
		var s string
		err := json.Unmarshal(l.Payload, &s)
		return []byte(s), err
	}
	return l.Payload, nil
}
