package reading

import (
	"encoding/csv"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
	"github.com/tidwall/gjson"
)

// readCSV makes an array of arrays of strings. Blanks around a cell are no part of it.
func (d *Decoder) readCSV(s string) document {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma = separator(s)
	d.commas = r.Comma == ','
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = r.Comma != '\t' // else empty cells would be lost
	r.ReuseRecord = true
	start := len(d.buf)
	d.buf = append(d.buf, '[')
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return undecodable(fmt.Sprintf("invalid CSV: %v", err))
		}
		d.buf = append(appendComma(d.buf), '[')
		for _, cell := range row {
			d.buf = appendString(appendComma(d.buf), strings.TrimSpace(cell))
		}
		d.buf = append(d.buf, ']')
	}
	return d.made(start, ']')
}

// separator is a semicolon if the first line has one outside quotes, where commas are decimal, else a comma, and a tab
// where there is neither.
func separator(s string) rune {
	quoted, found := false, '\t'
	for _, c := range s {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ';' && !quoted:
			return ';'
		case c == ',' && !quoted:
			found = ','
		case c == '\n' && !quoted:
			return found
		}
	}
	return found
}

// made closes the JSON begun at start of the buffer and gives it as a document.
func (d *Decoder) made(start int, end byte) document {
	d.buf = append(d.buf, end)
	return good(gjson.Parse(alias(d.buf[start:])))
}

// appendComma appends a comma unless a list or an object has just begun.
func appendComma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '[' || last == '{' {
		return dst
	}
	return append(dst, ',')
}

// readInflux makes an array of records: name, tags, fields, timestamp. One bad line spoils the message: it may be cut.
func (d *Decoder) readInflux(s string) document {
	dec := lineprotocol.NewDecoderWithBytes([]byte(s))
	start := len(d.buf)
	d.buf = append(d.buf, '[')
	for dec.Next() {
		if err := d.readLine(dec); err != nil {
			return undecodable(fmt.Sprintf("invalid line protocol: %v", err))
		}
	}
	return d.made(start, ']')
}

func (d *Decoder) readLine(dec *lineprotocol.Decoder) error {
	name, err := dec.Measurement()
	if err != nil {
		return err
	}
	d.buf = appendString(append(appendComma(d.buf), `{"name":`...), alias(name))
	d.buf = append(d.buf, `,"tags":{`...)
	for {
		key, value, err := dec.NextTag()
		if err != nil {
			return err
		}
		if key == nil {
			break
		}
		d.buf = appendString(appendKey(d.buf, alias(key)), alias(value))
	}
	d.buf = append(d.buf, `},"fields":{`...)
	for {
		key, value, err := dec.NextField()
		if err != nil {
			return err
		}
		if key == nil {
			break
		}
		d.buf = appendField(appendKey(d.buf, alias(key)), value)
	}
	stamp, err := dec.TimeBytes()
	if err != nil {
		return err
	}
	if d.buf = append(d.buf, '}'); len(stamp) > 0 {
		d.buf = append(append(d.buf, `,"timestamp":`...), stamp...)
	}
	d.buf = append(d.buf, '}')
	return nil
}

func appendField(dst []byte, v lineprotocol.Value) []byte {
	switch v.Kind() {
	case lineprotocol.String:
		return appendString(dst, v.StringV())
	case lineprotocol.Float:
		return appendFloat(dst, v.FloatV(), 64)
	case lineprotocol.Int:
		return fmt.Appendf(dst, "%d", v.IntV())
	case lineprotocol.Uint:
		return fmt.Appendf(dst, "%d", v.UintV())
	}
	return fmt.Appendf(dst, "%t", v.BoolV())
}

// readForm makes an object of a URL-encoded form, all strings. A key may be without a value, and nothing stand between two
// &; but what has no = at all is no form.
func (d *Decoder) readForm(s string) document {
	isForm := strings.Contains(s, "=")
	start := len(d.buf)
	d.buf = append(d.buf, '{')
	for pair := range strings.SplitSeq(s, "&") {
		if pair == "" && isForm {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		value, valueErr := url.QueryUnescape(value)
		if !isForm || keyErr != nil || valueErr != nil {
			return undecodable(fmt.Sprintf("not a URL-encoded form: %q", pair))
		}
		d.buf = appendString(appendKey(d.buf, key), value)
	}
	return d.made(start, '}')
}
