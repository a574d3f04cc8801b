package buffer

import (
	"errors"
	"fmt"
	"math"

	bolt "go.etcd.io/bbolt"
)

// Commit makes everything in b durable in one transaction and reports the number its journal and packet records got; numbers
// rise by one with each commit, whether it has such records or not. It sets Seq in b.Points.
//
// On an error nothing has changed, on disk or in memory, and the same batch may be committed again: it gets the same
// numbers. But where there is no room the trace gives way, and then b.Settle is done for itself first, since that makes some, and stays done;
// to settle again what is settled does nothing. errors.Is tells ErrFull and ErrReadOnly, which may pass, from ErrInDoubt and ErrBroken, which do not.
func (s *Store) Commit(b *Batch) (uint64, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.makeRoom(b); err != nil {
		return 0, fmt.Errorf("make room in %s: %w", s.path, err)
	}
	n := s.cur.Load().NextRecord
	apply := func(w *writer) error { return w.apply(b) }
	err := s.write(apply)
	if errors.Is(err, ErrFull) && (len(b.Trace.Readings) > 0 || s.cur.Load().trace.kept() > 0) {
		err = s.commitUntraced(b)
	}
	if errors.Is(err, ErrFull) && len(b.Settle) > 0 {
		if s.write(func(w *writer) error { w.flights = w.c.flightsOf(b); return w.settle(b) }) == nil {
			err = s.write(apply)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("commit to %s: %w", s.path, err)
	}
	return n, nil
}

// A writer is one write transaction and the counters as they will be after it.
type writer struct {
	tx  *bolt.Tx
	c   books
	lim limits
	now int64 // ns: when a point without a line is parked

	flights  flights // of the batch at hand
	untraced bool    // its readings are not traced: there is no room
	changed  bool    // points have left the outbox, or wait for fewer uplinks
}

// bucket gives a bucket that is filled in key order: its pages are filled to the brim.
func (w *writer) bucket(name string) *bolt.Bucket {
	b := w.tx.Bucket([]byte(name))
	b.FillPercent = 1
	return b
}

func (w *writer) apply(b *Batch) error {
	w.flights = w.c.flightsOf(b)
	steps := [...]func(*Batch) error{
		w.forgetPackets, w.forgetJournal, w.compactJournal, w.putJournal, w.putPackets,
		w.putMarks, w.putLate, w.putSide, w.putBlobs, w.putInputs, w.putLags,
		w.settle, w.sweep, w.putPoints, w.requeue, w.readmit, w.putRejected, w.evict, w.putTrace,
	}
	for _, step := range steps {
		if err := step(b); err != nil {
			return err
		}
	}
	w.c.NextRecord++
	return nil
}

func (w *writer) forgetPackets(b *Batch) error {
	last := b.ForgetPackets
	if b.ClearPackets {
		last = math.MaxUint64
	}
	if last == 0 {
		return nil
	}
	_, _, err := deleteUpTo(w.bucket(bucketPackets), last)
	return err
}

func (w *writer) putPackets(b *Batch) error {
	if len(b.Packets) == 0 {
		return nil
	}
	_, err := putRecord(w.bucket(bucketPackets), w.c.NextRecord, packPackets(b.Packets))
	return err
}

func (w *writer) putMarks(b *Batch) error {
	bucket := w.tx.Bucket([]byte(bucketMarks))
	for _, sensor := range b.DropMarks {
		if err := bucket.Delete([]byte(sensor)); err != nil {
			return fmt.Errorf("forget watermark of %q: %w", sensor, err)
		}
	}
	for _, m := range b.Marks {
		if err := putSealed(bucket, []byte(m.Sensor), appendMark(nil, m)); err != nil {
			return fmt.Errorf("store watermark of %q: %w", m.Sensor, err)
		}
	}
	return nil
}

func (w *writer) putLate(b *Batch) error {
	bucket := w.tx.Bucket([]byte(bucketLate))
	for _, l := range b.Late {
		if err := putSealed(bucket, []byte(l.Series), appendLate(nil, l)); err != nil {
			return fmt.Errorf("store late count of %q: %w", l.Series, err)
		}
	}
	return nil
}

func (w *writer) putInputs(b *Batch) error {
	bucket := w.tx.Bucket([]byte(bucketInputs))
	for _, in := range b.Inputs {
		if err := putSealed(bucket, []byte(in.Key), numberKey(uint64(in.Lines))); err != nil {
			return fmt.Errorf("store position in %q: %w", in.Key, err)
		}
	}
	return nil
}

func (w *writer) putBlobs(b *Batch) error {
	bucket := w.tx.Bucket([]byte(bucketState))
	if b.State != nil {
		if err := putBlob(bucket, keyState, b.State); err != nil {
			return fmt.Errorf("store state: %w", err)
		}
		if err := bucket.Delete([]byte(keyPartial)); err != nil {
			return fmt.Errorf("store state: %w", err)
		}
	}
	if b.Held != nil {
		if err := putBlob(bucket, keyHeld, b.Held); err != nil {
			return fmt.Errorf("store held readings: %w", err)
		}
	}
	if b.Aliases != nil {
		if err := putBlob(bucket, keyAliases, b.Aliases); err != nil {
			return fmt.Errorf("store alias tables: %w", err)
		}
	}
	return nil
}

// putCounters stores what the transaction has made of the books.
func (w *writer) putCounters(floor int64) error {
	w.c.Commits++
	w.c.Floor = floor
	if err := w.putUplinks(); err != nil {
		return err
	}
	return putSealed(w.tx.Bucket([]byte(bucketState)), []byte(keyCounters), w.c.encode())
}

func putSealed(b *bolt.Bucket, key, data []byte) error { return b.Put(key, seal(key, data)) }

func getSealed(b *bolt.Bucket, key string) ([]byte, error) {
	v := b.Get([]byte(key))
	if v == nil {
		return nil, nil
	}
	return unseal([]byte(key), v)
}
