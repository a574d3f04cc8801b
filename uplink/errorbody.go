package uplink

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
)

// An errorBody is an error of InfluxDB.
type errorBody struct {
	text   string // its error or message
	detail string // v3: what is wrong with the first line it names
	lines  []int  // numbers of the lines it names, from 1
	list   bool   // v3: it has a list of lines, so numbers in its text are not of lines
}

// parseError reads as much of body as is there; it is the zero value if body is no JSON object.
func parseError(body []byte) (e errorBody) {
	d := json.NewDecoder(bytes.NewReader(body))
	if t, err := d.Token(); err == nil && t == json.Delim('{') {
		_ = e.object(d) // what it holds up to the error is as good
	}
	return e
}

// object takes what is of use from the rest of an object.
func (e *errorBody) object(d *json.Decoder) error {
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := e.value(d, key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// value takes the value of key, at the top or in the data of v3.
func (e *errorBody) value(d *json.Decoder, key json.Token) error {
	switch key {
	case "error", "message":
		return d.Decode(&e.text)
	case "line", "line_number":
		var n int
		err := d.Decode(&n)
		e.lines = append(e.lines, n)
		return err
	case "error_message":
		var text string
		err := d.Decode(&text)
		e.detail = cmp.Or(e.detail, text)
		return err
	case "data":
		return e.data(d)
	}
	var skip json.RawMessage
	return d.Decode(&skip)
}

// data reads v3's list of refused lines, or the single line that it names when it stores none.
func (e *errorBody) data(d *json.Decoder) error {
	e.list = true
	t, err := d.Token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('{'):
		return e.object(d)
	case t != json.Delim('['):
		return nil
	}
	for d.More() {
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return errors.Join(err, errData)
		}
		if err := e.object(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// errData ends the reading of a body that is none of InfluxDB's.
var errData = errors.New("data is no list of lines")
