package buffer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
)

// ErrNotExport is returned by Import for what is no exported store, or is not the whole of one.
var ErrNotExport = errors.New("not an exported store, or not the whole of it")

// An exportReader reads what Export wrote.
type exportReader struct {
	ExportHeader
	in      *bufio.Reader
	sum     hash.Hash
	records int64
	key     []byte
	value   []byte
}

// readExport reads the header.
func readExport(r io.Reader) (*exportReader, error) {
	e := &exportReader{in: bufio.NewReaderSize(r, maxExportHeader), sum: sha256.New()}
	magic, err := e.line()
	if err != nil || string(magic) != exportMagic {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrNotExport, exportMagic[:len(exportMagic)-1])
	}
	text, err := e.line()
	if err == nil {
		err = json.Unmarshal(text, &e.ExportHeader)
	}
	if err != nil || e.ID == "" {
		return nil, fmt.Errorf("%w: its header cannot be read", ErrNotExport)
	}
	if e.Schema > schema {
		return nil, fmt.Errorf("%w: its schema is %d, this version knows up to %d", ErrNewerSchema, e.Schema, schema)
	}
	return e, nil
}

func (e *exportReader) line() ([]byte, error) {
	text, err := e.in.ReadSlice('\n')
	e.sum.Write(text)
	return bytes.Clone(text), err
}

// next is the next record, valid until the call after; bucket is "" at the end, which has been checked then.
func (e *exportReader) next() (bucket string, k, v []byte, err error) {
	n, err := e.number(uint64(len(exported)))
	if err != nil {
		return "", nil, nil, err
	}
	if n == 0 {
		return "", nil, nil, e.end()
	}
	if e.key, err = e.field(e.key, maxExportKey); err != nil {
		return "", nil, nil, err
	}
	if e.value, err = e.field(e.value, maxExportValue); err != nil {
		return "", nil, nil, err
	}
	e.records++
	return exported[n-1], e.key, e.value, nil
}

// end checks the number of records and the checksum.
func (e *exportReader) end() error {
	n, err := e.number(math.MaxInt64)
	if err != nil {
		return err
	}
	want := e.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(e.in, got); err != nil {
		return e.cut(err)
	}
	if int64(n) != e.records || !slices.Equal(got, want) {
		return fmt.Errorf("%w: its checksum does not match", ErrNotExport)
	}
	return nil
}

func (e *exportReader) number(most uint64) (uint64, error) {
	var n uint64
	for shift := 0; ; shift += 7 {
		b, err := e.in.ReadByte()
		if err != nil {
			return 0, e.cut(err)
		}
		e.sum.Write([]byte{b})
		n |= uint64(b&0x7f) << shift
		if n > most || shift > 56 {
			return 0, fmt.Errorf("%w: damaged after record %d", ErrNotExport, e.records)
		}
		if b < 0x80 {
			return n, nil
		}
	}
}

// field reads a length and so many bytes into buf.
func (e *exportReader) field(buf []byte, most uint64) ([]byte, error) {
	n, err := e.number(most)
	if err != nil {
		return buf, err
	}
	buf = slices.Grow(buf[:0], int(n))[:n]
	if _, err := io.ReadFull(e.in, buf); err != nil {
		return buf, e.cut(err)
	}
	e.sum.Write(buf)
	return buf, nil
}

// cut explains an error of reading: the end of the file is a file cut short.
func (e *exportReader) cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends after record %d", ErrNotExport, e.records)
	}
	return err
}
