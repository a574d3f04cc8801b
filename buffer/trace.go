package buffer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// The trace is what became of every reading, for people who ask. Nothing rests on it, so it gives way to everything else: it lives in what
// the points leave of their share, and where a commit finds no room the trace goes. Its bucket is made with the first reading that is
// kept, and is no part of the schema: a program that does not know it leaves it alone.

// An Outcome is the ledger column that a traced reading counts in: one of these, or Refusal of a reason.
type Outcome uint8

const (
	WasWindowed Outcome = iota
	WasLate
	WasDuplicate
	WasRetained
	firstRefusal
)

// Refusal is the outcome of a reading that was rejected.
func Refusal(r reading.Reason) Outcome { return firstRefusal + Outcome(r) }

// Reason is why a reading was rejected; false if it was not.
func (o Outcome) Reason() (reading.Reason, bool) {
	return reading.Reason(o - firstRefusal), o >= firstRefusal
}

// A TraceReading is one reading that was judged, as the trace keeps it.
type TraceReading struct {
	Series  reading.Series
	Source  string // name of the source that read it; "" if that is not known any more
	Time    int64  // event time, ns
	Value   float64
	Arrival int64 // when its message came, ns, cut to ms; reading.NoTime if that is not known
	Size    int64 // of the windows when it was judged, ns; Commit takes it from Trace
	Outcome Outcome
}

// A Trace is what one commit adds to the trace.
type Trace struct {
	Readings []TraceReading // in the order in which they were judged
	Size     int64          // of the windows, ns
	Up       int64          // how long this process has run, monotonic, ns. Age is counted by it: no clock can empty the trace, or pin it
}

// tracePerRecord bounds the readings of one record: the smallest store has room for a few records.
const tracePerRecord = 2048

// traceSlack is the part of its time that a record may be older than it, so that not every commit deletes one.
const traceSlack = 16

// putTrace adds the readings of a batch to the trace, and brings it within its bounds; with no time to keep it it is deleted.
func (w *writer) putTrace(b *Batch) error {
	t := &w.c.trace
	if w.lim.retain <= 0 {
		return w.dropTrace()
	}
	if b.Trace.Up > t.up {
		t.age, t.up = t.age+b.Trace.Up-t.up, b.Trace.Up
	}
	if w.untraced {
		return nil
	}
	if len(b.Trace.Readings) > 0 && !t.on {
		if _, err := w.tx.CreateBucketIfNotExists([]byte(bucketTrace)); err != nil {
			return fmt.Errorf("begin the trace: %w", err)
		}
		t.on = true
	}
	for list := range slices.Chunk(b.Trace.Readings, tracePerRecord) {
		total, err := putRecord(w.bucket(bucketTrace), t.next, packTrace(list, t.age, b.Trace.Size))
		if err != nil {
			return fmt.Errorf("trace readings: %w", err)
		}
		t.next += uint64(len(list))
		t.bytes += total
	}
	if !t.on {
		return nil
	}
	return w.trimTrace(w.traceShare())
}

// traceShare is what the trace may take: its share, as far as the points leave it.
func (w *writer) traceShare() int64 {
	return max(min(w.lim.trace, w.outboxShare()-w.c.Bytes[inOutbox]), 0)
}

// trimTrace deletes the oldest records until at most limit bytes are left and none is past its time, and notes the numbers.
func (w *writer) trimTrace(limit int64) error {
	t := &w.c.trace
	b := w.bucket(bucketTrace)
	old := w.lim.retain + w.lim.retain/traceSlack
	if t.bytes > limit {
		limit = slack(limit)
	}
	c := b.Cursor()
	k, v := c.First()
	if k != nil && t.older(v, old) {
		old = w.lim.retain
	}
	var keys [][]byte
	for going := false; k != nil; k, v = c.Next() {
		if len(keys) == 0 || number(k) != number(keys[len(keys)-1]) {
			going = t.bytes > limit || t.older(v, old)
		}
		if !going {
			break
		}
		keys = append(keys, k)
		t.bytes -= cost(k, v)
	}
	if t.first = t.next; k != nil {
		t.first = number(k)
	} else {
		t.bytes = 0
	}
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return fmt.Errorf("drop oldest of the trace: %w", err)
		}
	}
	return putSealed(w.tx.Bucket([]byte(bucketState)), []byte(keyTrace), t.encode())
}

// dropTrace deletes the trace, if there is one.
func (w *writer) dropTrace() error {
	if !w.c.trace.on {
		return nil
	}
	err := errors.Join(w.tx.DeleteBucket([]byte(bucketTrace)), w.tx.Bucket([]byte(bucketState)).Delete([]byte(keyTrace)))
	if err != nil {
		return fmt.Errorf("delete the trace: %w", err)
	}
	w.c.trace = traceBook{next: 1, first: 1}
	return nil
}

// commitUntraced commits b without tracing its readings, when there was no room for it, and halves the trace first: what that frees is
// for points and windows.
func (s *Store) commitUntraced(b *Batch) error {
	_ = s.shrinkTrace(s.cur.Load().trace.bytes / 2) // where even this cannot be written nothing can, which the next line finds
	return s.write(func(w *writer) error { w.untraced = true; return w.apply(b) })
}

// shrinkTrace deletes the oldest records in a transaction of its own until at most limit bytes are left.
func (s *Store) shrinkTrace(limit int64) error {
	if s.cur.Load().trace.kept() == 0 {
		return nil
	}
	return s.write(func(w *writer) error { return w.trimTrace(limit) })
}

// fitTrace brings an imported trace within this store's share; whether it is wanted here is for the next commit to say.
func (w *writer) fitTrace() error {
	if !w.c.trace.on {
		return nil
	}
	w.lim.retain = math.MaxInt64 / 2
	return w.trimTrace(w.traceShare())
}

// TraceAfter copies out readings of the trace's records after number after, oldest first, until there are at least atLeast; last is the
// number of the last record looked at, 0 when there are no more. Damaged records are left out. It is safe beside Commit.
func (s *Store) TraceAfter(after uint64, atLeast int) (list []TraceReading, last uint64, err error) {
	var u traceUnpacker
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketTrace))
		if b == nil {
			return nil
		}
		return recordsAfter(b, after, func(n uint64, data []byte, bad error) error {
			if len(list) >= atLeast {
				return errEnough
			}
			last = n
			if some, err := u.unpack(data); bad == nil && err == nil {
				list = append(list, some...)
			}
			return nil
		})
	})
	return list, last, err
}
