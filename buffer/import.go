package buffer

import (
	"errors"
	"fmt"
	"io"
	"time"

	bolt "go.etcd.io/bbolt"
)

// ErrNotEmpty is returned by Import when the store has begun.
var ErrNotEmpty = errors.New("the store is not empty")

// Imported is what came in.
type Imported struct {
	ExportHeader
	Records int64 // of the exported store; of ImportPoints: of points
	Queued  int64
	Parked  int64 // of all uplinks
	Evicted int64 // of these, for which this store's caps have no room; the most that one uplink lost
	Before  int64 // points that an ImportPoints of the same file had brought in before
	Floor   int64 // F as it is now, ns
	Ahead   bool  // the folder's own F was ahead of the file's: what ends at or before it counts as late
}

// Import makes the store in o.Dir what the exported one was: state, journal, counters, points, all as they were. The store must be empty:
// absent, or without a reading or point, where begun says of the agent's state whether readings have come. F becomes the larger one, on disk before the store
// is. An error or a cut leaves the store empty. No other process may have it open.
func Import(o Options, r io.Reader, begun func(state []byte) bool) (*Imported, error) {
	e, err := readExport(r)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	sum, err := s.importAll(e, begun)
	if err != nil {
		err = fmt.Errorf("import into %s: %w", s.path, classify(err))
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	return sum, nil
}

func (s *Store) importAll(e *exportReader, begun func([]byte) bool) (*Imported, error) {
	if empty, err := s.empty(begun); err != nil || !empty {
		return nil, errors.Join(err, ErrNotEmpty)
	}
	deadline := time.Now().Add(s.o.LockTimeout)
	dir, err := lock(s.o.Dir, deadline)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	own := s.floor.get()
	sum := &Imported{ExportHeader: e.ExportHeader, Floor: max(own, e.ExportHeader.Floor), Ahead: own > e.ExportHeader.Floor}
	err = s.replaceFile(func(db *bolt.DB) error {
		if err := s.fillFrom(db, e, sum); err != nil {
			return err
		}
		return s.floor.set(sum.Floor)
	}, deadline)
	sum.Records = e.records
	return sum, err
}

// empty reports whether nothing has happened in the store.
func (s *Store) empty(begun func([]byte) bool) (bool, error) {
	c := s.cur.Load()
	if c.Records > 0 || c.Rejected > 0 || c.Points.Made() > 0 {
		return false, nil
	}
	var state []byte
	err := s.view(func(tx *bolt.Tx) (err error) {
		state, err = getBlob(tx.Bucket([]byte(bucketState)), keyState)
		return err
	})
	return err == nil && (state == nil || !begun(state)), err
}

// fillFrom puts all records into a new file, brings it within this store's shares, and checks it.
func (s *Store) fillFrom(db *bolt.DB, e *exportReader, sum *Imported) error {
	err := db.Update(func(tx *bolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
	for more := err == nil; more; {
		err = db.Update(func(tx *bolt.Tx) error {
			more, err = putSome(tx, e)
			return err
		})
		more = more && err == nil
	}
	if err != nil {
		return err
	}
	if e.Schema < schema {
		if err := s.bringUp(db, e.Schema); err != nil {
			return err
		}
	}
	probe := &Store{o: s.o, path: db.Path(), db: db}
	if err := probe.view(probe.readHeader); err != nil {
		return fmt.Errorf("%w: %w", ErrNotExport, err)
	}
	if err := db.Update(func(tx *bolt.Tx) error { return s.fit(tx, *probe.cur.Load(), sum) }); err != nil {
		return err
	}
	return db.View(func(tx *bolt.Tx) error { return errors.Join(auditTx(tx)...) })
}

// putSome puts about carryStep bytes of records; false when there are no more.
func putSome(tx *bolt.Tx, e *exportReader) (more bool, err error) {
	for size := 0; size < carryStep; {
		name, k, v, err := e.next()
		if err != nil || name == "" {
			return false, err
		}
		b, err := tx.CreateBucketIfNotExists([]byte(name)) // the trace's is not there yet
		if err != nil {
			return false, err
		}
		b.FillPercent = 1
		if err := b.Put(append([]byte(nil), k...), append([]byte(nil), v...)); err != nil {
			return false, fmt.Errorf("%w: record %d: %w", ErrNotExport, e.records, err)
		}
		size += len(k) + len(v)
	}
	return true, nil
}

// fit brings imported data within the shares of this store, and notes its floor.
func (s *Store) fit(tx *bolt.Tx, c books, sum *Imported) error {
	w := writer{tx: tx, c: c, lim: s.lim}
	was := c.list()
	if err := errors.Join(w.trimSide(), w.evictToShare(), w.fitTrace(), w.trimParked(), w.trimRejected()); err != nil {
		return err
	}
	sum.Queued = w.c.Outbox
	for u, now := range w.c.list() {
		sum.Parked += now.points.Parked
		sum.Evicted = max(sum.Evicted, now.points.Evicted-was[u].points.Evicted)
	}
	if sum.Ahead {
		if err := putSealed(tx.Bucket([]byte(bucketState)), []byte(keyBorn), numberKey(uint64(sum.Floor))); err != nil {
			return err
		}
	}
	return w.putCounters(sum.Floor)
}
