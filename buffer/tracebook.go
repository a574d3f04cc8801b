package buffer

import (
	"encoding/binary"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// A traceBook is the numbers of the trace; the first three are stored, under keyTrace.
type traceBook struct {
	next  uint64 // number of the next reading, from 1
	bytes int64
	age   int64  // how long agents have run that kept a trace, ns
	first uint64 // number of the oldest that is kept; next if none is
	up    int64  // Trace.Up when age was counted last
	on    bool   // the bucket is there
}

func (t *traceBook) encode() []byte {
	dst := binary.AppendUvarint(nil, t.next)
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(t.bytes)), uint64(t.age))
}

// readTrace reads the numbers of the trace. Where they are lost those of the bucket must do: they make no store damaged.
func readTrace(tx *bolt.Tx) traceBook {
	b := tx.Bucket([]byte(bucketTrace))
	if b == nil {
		return traceBook{next: 1, first: 1}
	}
	data, err := getSealed(tx.Bucket([]byte(bucketState)), keyTrace)
	d := decoder{b: data}
	t := traceBook{next: d.uvarint(), bytes: int64(d.uvarint()), age: int64(d.uvarint()), on: true}
	if err != nil || d.bad || len(d.b) > 0 || t.bytes < 0 || t.age < 0 {
		t = recount(b)
	}
	c := b.Cursor()
	if k, _ := c.Last(); k != nil && number(k) >= t.next {
		t.next = number(k) + tracePerRecord
	}
	t.first = t.next
	if k, _ := c.First(); k != nil {
		t.first = number(k)
	}
	return t
}

func recount(b *bolt.Bucket) traceBook {
	t := traceBook{next: 1, on: true}
	_ = b.ForEach(func(k, v []byte) error { t.bytes += cost(k, v); return nil })
	return t
}

// kept is how many readings the trace holds.
func (t *traceBook) kept() int64 { return int64(t.next - t.first) }

// older reports whether the record whose first part v is has been kept for longer than so many ns. One from the future is damaged.
func (t *traceBook) older(v []byte, ns int64) bool {
	at := ageOf(v)
	return at > t.age || t.age-at > ns
}

// auditTrace compares the numbers of the trace with its bucket.
func auditTrace(tx *bolt.Tx) error {
	b := tx.Bucket([]byte(bucketTrace))
	if b == nil {
		return nil
	}
	t := readTrace(tx)
	if held := recount(b).bytes; held != t.bytes {
		return fmt.Errorf("bucket %s holds %d bytes, its numbers say %d", bucketTrace, held, t.bytes)
	}
	return nil
}
