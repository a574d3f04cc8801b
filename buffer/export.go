package buffer

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// An exported store is one file:
//
//	line     edgeagent-store 1
//	line     ExportHeader as JSON
//	records  bucket   uvarint  index in exported, from 1
//	         key      uvarint length and bytes
//	         value    uvarint length and bytes, with its own checksum as in the store
//	end      0        uvarint
//	         records  uvarint  how many
//	         sum      32 bytes SHA-256 of all before it
//
// It is written from front to back in one read transaction, and the same on every machine: a store file itself is in the byte
// order of its machine.
const exportMagic = "edgeagent-store 1\n"

// exported are the buckets in the order of their numbers. New ones go to the end.
var exported = [...]string{bucketState, bucketJournal, bucketPackets, bucketOutbox, bucketParked, bucketRejected,
	bucketMarks, bucketLate, bucketInputs, bucketBad, bucketUplinks, bucketSide, bucketLags, bucketTrace}

// Bounds of what Import reads before it has seen the checksum.
const (
	maxExportHeader = 64 << 10
	maxExportKey    = 32 << 10
	maxExportValue  = 16 << 20
)

// An ExportHeader is what an exported store says of itself. ID is made by Export; the texts are the caller's.
type ExportHeader struct {
	Schema  uint64 `json:"schema"`
	ID      string `json:"id"`      // of this export
	Gateway string `json:"gateway"` // whose store it is
	Version string `json:"version"` // of the program
	Time    string `json:"time"`    // when, RFC 3339
	Floor   int64  `json:"floor"`   // F, ns
}

// Export writes the whole store to w: everything that Import needs to go on exactly as this store would. The caller fills in
// Gateway, Version and Time. It reports how many records were written. It is safe beside Commit, but holds pages of the file in use until it
// is done: do not use it while an agent writes.
func (s *Store) Export(w io.Writer, h ExportHeader) (records int64, err error) {
	h.Schema, h.ID, h.Floor = schema, rand.Text(), s.exportFloor()
	text, err := json.Marshal(h)
	if err != nil {
		return 0, fmt.Errorf("export: %w", err)
	}
	sum := sha256.New()
	out := bufio.NewWriterSize(w, 64<<10)
	e := exporter{w: io.MultiWriter(out, sum)}
	e.put([]byte(exportMagic))
	e.put(append(text, '\n'))
	err = s.view(func(tx *bolt.Tx) error {
		for i, name := range exported {
			if err := e.bucket(uint64(i+1), tx.Bucket([]byte(name))); err != nil {
				return err
			}
		}
		return nil
	})
	e.numbers(0, uint64(e.records))
	e.w = out
	e.put(sum.Sum(nil))
	if err := errors.Join(err, e.err, out.Flush()); err != nil {
		return 0, fmt.Errorf("export %s: %w", s.path, err)
	}
	return e.records, nil
}

// exportFloor is F; where the floor file is lost, what stands in for it at a start.
func (s *Store) exportFloor() int64 {
	f, noted := s.floor.get(), s.cur.Load().Floor
	if noted <= f {
		return f
	}
	if step := max(s.o.FloorStep, 0); noted <= math.MaxInt64-step {
		return noted + step
	}
	return math.MaxInt64
}

// An exporter writes records until the first error.
type exporter struct {
	w       io.Writer
	records int64
	scratch []byte
	err     error
}

func (e *exporter) put(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

func (e *exporter) numbers(list ...uint64) {
	e.scratch = e.scratch[:0]
	for _, n := range list {
		e.scratch = binary.AppendUvarint(e.scratch, n)
	}
	e.put(e.scratch)
}

func (e *exporter) bucket(number uint64, b *bolt.Bucket) error {
	if b == nil {
		return nil // there is no trace
	}
	return b.ForEach(func(k, v []byte) error {
		e.numbers(number, uint64(len(k)))
		e.put(k)
		e.numbers(uint64(len(v)))
		e.put(v)
		e.records++
		return e.err
	})
}

// LateAfter copies out late readings that the journal remembers, from the records after number after on until there are at least atLeast; last
// is the number of the last record looked at, 0 when there are no more. It is safe beside Commit.
func (s *Store) LateAfter(after uint64, atLeast int) (list []Entry, last uint64, err error) {
	var u unpacker
	err = s.view(func(tx *bolt.Tx) error {
		return recordsAfter(tx.Bucket([]byte(bucketJournal)), after, func(n uint64, data []byte, bad error) error {
			if len(list) >= atLeast {
				return errEnough
			}
			last = n
			entries, err := u.unpack(data)
			if bad != nil || err != nil {
				return nil
			}
			for _, e := range entries {
				if e.Kind == Late {
					list = append(list, e)
				}
			}
			return nil
		})
	})
	return list, last, err
}

// Offered raises F on disk for points that were peeked at in a store opened by OpenReadOnly and are handed out all the same. Of another store
// Peek has done so. An error that is ErrReadOnly or ErrFull says that F could not be raised.
func (s *Store) Offered(points []Point) error {
	if !s.floor.still {
		return nil
	}
	f, err := openFloor(s.o)
	if err != nil {
		return err
	}
	for i := range points {
		if points[i].End != 0 {
			err = errors.Join(err, f.raise(points[i].End))
		}
	}
	return classify(err)
}

// Exists reports whether there is a store in o.Dir.
func Exists(o Options) bool {
	_, err := os.Stat(filepath.Join(o.Dir, fileName))
	return err == nil
}
