package buffer

import (
	"bytes"
	"fmt"
	"math"

	bolt "go.etcd.io/bbolt"
)

// slack is to what size an area is cut once it is past its limit: a little below, so that not every commit that adds
// at one end must write pages at the other.
func slack(limit int64) int64 { return limit - limit/64 }

// trim brings a ring that is past its limit below it, oldest records first, and calls dropped for each.
func (w *writer) trim(bucket string, area int, limit int64, dropped func()) error {
	if w.c.Bytes[area] <= limit {
		return nil
	}
	limit = slack(limit)
	b := w.bucket(bucket)
	var keys [][]byte
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if len(keys) == 0 || number(k) != number(keys[len(keys)-1]) {
			if w.c.Bytes[area] <= limit {
				break
			}
			dropped()
		}
		keys = append(keys, k)
		w.c.Bytes[area] -= cost(k, v)
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return fmt.Errorf("drop oldest of %s: %w", bucket, err)
		}
	}
	return nil
}

func (w *writer) putRejected(b *Batch) error {
	if w.lim.rejected <= 0 {
		return nil
	}
	for i := range b.Rejected {
		total, err := putRecord(w.bucket(bucketRejected), w.c.NextRaw, appendRaw(nil, &b.Rejected[i]))
		if err != nil {
			return fmt.Errorf("keep rejected message: %w", err)
		}
		w.c.NextRaw++
		w.c.Rejected++
		w.c.Bytes[inRejected] += total
	}
	return w.trimRejected()
}

func (w *writer) trimRejected() error {
	return w.trim(bucketRejected, inRejected, w.lim.rejected, func() { w.c.Rejected-- })
}

// A badRecord is one that could not be decoded, and where it is.
type badRecord struct {
	bucket string
	n      uint64
	cause  error
}

// quarantine moves a damaged record, as it is, into the quarantine bucket. A point that goes there is not known to be
// stored: it counts as evicted.
func (w *writer) quarantine(r badRecord) error {
	b := w.bucket(r.bucket)
	var keys [][]byte
	raw := appendString(nil, r.bucket)
	c := b.Cursor()
	for k, v := c.Seek(numberKey(r.n)); k != nil && number(k) == r.n; k, v = c.Next() {
		keys = append(keys, k)
		raw = appendString(appendString(raw, string(k)), string(v))
		w.lost(r.bucket, cost(k, v))
		if r.bucket == bucketOutbox {
			w.leftLate(k, v)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return fmt.Errorf("take out damaged record: %w", err)
		}
	}
	switch r.bucket {
	case bucketOutbox:
		w.evicted(r.n)
		w.c.Outbox--
		w.changed = true
	case bucketJournal:
		w.c.Records--
	}
	total, err := putRecord(w.bucket(bucketBad), w.c.NextBad, raw)
	if err != nil {
		return fmt.Errorf("keep damaged record: %w", err)
	}
	w.c.NextBad++
	w.c.Bad++
	w.c.Bytes[inQuarantine] += total
	return w.trim(bucketBad, inQuarantine, w.lim.quarantine, func() { w.c.Bad-- })
}

func (w *writer) lost(bucket string, n int64) {
	switch bucket {
	case bucketOutbox:
		w.c.Bytes[inOutbox] -= n
	case bucketJournal:
		w.c.Bytes[inJournal] -= n
	}
}

// quarantineAll moves damaged records in one transaction and says so in the log; read-only it only says so.
func (s *Store) quarantineAll(bad []badRecord) error {
	if len(bad) == 0 {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	for _, r := range bad {
		s.logBad(r)
	}
	if s.o.readOnly {
		return nil
	}
	return s.write(func(w *writer) error {
		for _, r := range bad {
			if err := w.quarantine(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rejected calls fn with every rejected message that is kept, oldest first. An error of fn ends the walk.
func (s *Store) Rejected(fn func(Raw) error) error {
	return s.view(func(tx *bolt.Tx) error {
		return eachRecord(tx.Bucket([]byte(bucketRejected)), math.MaxUint64, func(_ uint64, data []byte, bad error) error {
			if bad != nil {
				return nil
			}
			r, err := decodeRaw(bytes.Clone(data))
			if err != nil {
				return nil
			}
			return fn(r)
		})
	})
}
