package buffer

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// The flags a kept message begins with.
const (
	rawRetained = 1 << iota
	rawCounted  // it tells what the ledger counts of it
)

// A Readmission ends or changes a message of the ring that was read in again, in the transaction of what came of it.
type Readmission struct {
	N    uint64 // its number, from Rejected
	Keep *Raw   // it stays, as this: some of it is refused still; nil drops it
}

// appendVerdict encodes what the ledger counts of a message.
func appendVerdict(dst []byte, r *Raw) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(r.Refused)))
	for _, f := range r.Refused {
		dst = binary.AppendUvarint(append(dst, byte(f.Reason)), uint64(f.N))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.Taken)))
	for _, mark := range r.Taken {
		dst = binary.LittleEndian.AppendUint64(dst, mark)
	}
	return dst
}

// verdict decodes what appendVerdict wrote.
func (d *decoder) verdict(r *Raw) {
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		f := Refused{Reason: reading.Reason(d.byte()), N: int64(d.uvarint())}
		if f.Reason >= reading.NumReasons || f.N < 0 {
			d.bad = true
		}
		r.Refused = append(r.Refused, f)
	}
	for n := d.uvarint(); n > 0 && !d.bad; n-- {
		r.Taken = append(r.Taken, d.uint64())
	}
}

// oneRefusal is what a message counts as of which an older version kept only the reason.
func oneRefusal(name string) []Refused {
	for reason := range reading.NumReasons {
		if reason.String() == name {
			return []Refused{{Reason: reason, N: 1}}
		}
	}
	return nil
}

// uncounted is an encoded message as a store keeps it whose ledger does not count it.
func uncounted(data []byte) []byte {
	r, err := decodeRaw(data)
	if err != nil {
		return data
	}
	r.Refused = nil
	return appendRaw(nil, &r)
}

// LastRejected is the number of the newest kept message, 0 if none is kept.
func (s *Store) LastRejected() (n uint64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		if k, _ := tx.Bucket([]byte(bucketRejected)).Cursor().Last(); k != nil {
			n = number(k)
		}
		return nil
	})
	return n, err
}

// RejectedAfter copies out kept messages with numbers above after, oldest first, until maxMessages or maxBytes of payload would be
// passed, but at least one if there is any. numbers has their numbers. Damaged ones are left out. It is safe beside Commit.
func (s *Store) RejectedAfter(after uint64, maxMessages, maxBytes int) (list []Raw, numbers []uint64, err error) {
	size := 0
	err = s.view(func(tx *bolt.Tx) error {
		return recordsAfter(tx.Bucket([]byte(bucketRejected)), after, func(n uint64, data []byte, bad error) error {
			if bad != nil {
				return nil
			}
			r, err := decodeRaw(bytes.Clone(data))
			if err != nil {
				return nil
			}
			if size += len(r.Payload); len(list) >= max(maxMessages, 1) || len(list) > 0 && size > maxBytes {
				return errEnough
			}
			list, numbers = append(list, r), append(numbers, n)
			return nil
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read rejected messages: %w", err)
	}
	return list, numbers, nil
}

// readmit drops or rewrites messages that were read in again. One that the ring has dropped meanwhile is gone.
func (w *writer) readmit(b *Batch) error {
	bucket := w.bucket(bucketRejected)
	for _, r := range b.Readmitted {
		size, err := dropRecord(bucket, r.N)
		if err != nil {
			return fmt.Errorf("take out rejected message %d: %w", r.N, err)
		}
		if size == 0 {
			continue
		}
		w.c.Rejected--
		w.c.Bytes[inRejected] -= size
		if r.Keep == nil {
			continue
		}
		if size, err = putRecord(bucket, r.N, appendRaw(nil, r.Keep)); err != nil {
			return fmt.Errorf("keep rejected message %d: %w", r.N, err)
		}
		w.c.Rejected++
		w.c.Bytes[inRejected] += size
	}
	return nil
}

// dropRecord deletes a record and reports its cost, 0 if there is none.
func dropRecord(b *bolt.Bucket, n uint64) (size int64, err error) {
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.Seek(numberKey(n)); k != nil && number(k) == n; k, v = c.Next() {
		keys = append(keys, k)
		size += cost(k, v)
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return 0, err
		}
	}
	return size, nil
}
