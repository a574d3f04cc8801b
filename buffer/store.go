package buffer

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
)

// The buckets of the file; doc.go says what is in them.
const (
	bucketState    = "state"
	bucketJournal  = "journal"
	bucketPackets  = "packets"
	bucketOutbox   = "outbox"
	bucketParked   = "parked"
	bucketRejected = "rejected"
	bucketMarks    = "marks"
	bucketLate     = "late"
	bucketInputs   = "inputs"
	bucketBad      = "quarantine"
	bucketUplinks  = "uplinks"
	bucketSide     = "side"
	bucketLags     = "lags"
	bucketTrace    = "trace" // only where readings are kept for tracing
)

// buckets are all there are but bucketTrace, in the order in which they came; the first firstBuckets were there from schema 1 on.
var buckets = [...]string{bucketState, bucketJournal, bucketPackets, bucketOutbox, bucketParked, bucketRejected,
	bucketMarks, bucketLate, bucketInputs, bucketBad, bucketUplinks, bucketSide, bucketLags}

const firstBuckets = 10

// The keys of the state bucket; the last three have parts.
const (
	keySchema   = "schema"
	keyBorn     = "born"
	keyPartial  = "partial" // salvaged in part, and no state has been committed since
	keyResets   = "resets"
	keyCounters = "counters"
	keyTrace    = "trace" // numbers of the trace
	keyState    = "state"
	keyHeld     = "held"
	keyAliases  = "aliases"
)

// A Store is an open store. One goroutine writes; the package comment says which methods are safe beside it.
type Store struct {
	o        Options
	lim      limits
	path     string
	db       *bolt.DB     // exchanged by Rewrite
	file     sync.RWMutex // guards db and written: held for reading through each read transaction, for writing while the file is exchanged
	written  int64        // by files that Rewrite has replaced since Open, bytes
	floor    *floorFile
	fresh    bool
	migrated bool  // this Open brought it up from an older schema
	unready  bool  // opened by hand after an upgrade, of which the agent has not made an orderly stop yet
	born     int64 // the floor when the file was made

	resets  int64    // times that a damaged file was moved aside
	carried *Salvage // what this Open saved from a damaged file; nil if none was

	writing sync.Mutex // held through each write transaction
	cur     atomic.Pointer[books]

	// mu guards the fields below; no callback or I/O under it
	mu      sync.Mutex
	stopped error                // why the store refuses further work
	bad     map[uint64]badRecord // damaged points met by Peek, for the next commit to move
}

// Close lets go of the file. What Commit returned nil for is on disk already. It waits for calls of Peek to end.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if errors.Is(s.refusal(), ErrBroken) {
		return nil // the panic left bbolt's locks held: Close would wait for ever
	}
	doubt := s.refusal()
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close store %s: %w", s.path, err)
	}
	if doubt == nil && !(s.unready && len(s.formers()) > 0) {
		s.markClean()
	}
	return nil
}

// Counts are the points identity of the first uplink as of the last commit; Books gives all.
func (s *Store) Counts() PointCounts { return s.cur.Load().Points }

// write runs fn in one write transaction and publishes the counters it leaves. The caller holds s.writing.
func (s *Store) write(fn func(*writer) error) error {
	bad := s.damagedPoints()
	w := s.writer()
	err := s.update(w, func() error {
		for _, r := range bad {
			if err := w.quarantine(r); err != nil {
				return err
			}
		}
		return fn(w)
	})
	if err != nil {
		err = s.settleDoubt(w, err)
	}
	if err != nil {
		return classify(err)
	}
	s.cur.Store(&w.c)
	s.damageMoved(bad)
	return nil
}

// writer begins with the numbers of now, and the uplinks in memory of its own.
func (s *Store) writer() *writer {
	w := &writer{c: *s.cur.Load(), lim: s.lim, now: s.o.Now().UnixNano()}
	w.c.uplinks = slices.Clone(w.c.uplinks)
	return w
}

// update runs fn and stores w's counters in one bbolt transaction. A panic of bbolt becomes an error that stays.
func (s *Store) update(w *writer, fn func() error) (err error) {
	if err := s.refusal(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a page that cannot be read in from a bad card
	defer func() {
		if p := recover(); p != nil {
			err = s.stop(fmt.Errorf("%w: %v", ErrBroken, p))
		}
	}()
	return s.db.Update(func(tx *bolt.Tx) error {
		w.tx = tx
		if err := fn(); err != nil {
			return err
		}
		return w.putCounters(s.floor.get())
	})
}

// settleDoubt looks, after a commit failed with cause, whether it is in the file all the same: then the write or sync
// of the meta page failed half-way. Its data pages are on disk, so one more transaction makes it certain.
func (s *Store) settleDoubt(w *writer, cause error) error {
	if s.refusal() != nil || w.c.Commits == s.cur.Load().Commits || !s.landed(w.c.Commits) {
		return cause // in the first case it failed before it came to write
	}
	err := s.update(w, func() error { return nil })
	if err != nil {
		return s.stop(fmt.Errorf("%w: %w", ErrInDoubt, cause))
	}
	return nil
}

// landed reports whether the file shows transaction n.
func (s *Store) landed(n uint64) bool {
	var c counters
	err := s.view(func(tx *bolt.Tx) (err error) {
		c, err = readCounters(tx)
		return err
	})
	return err == nil && c.Commits == n
}

// view runs fn in a read transaction. fn must copy out what is to outlive it. A panic of bbolt becomes an error that stays, so that
// the file is opened again, and with that checked.
func (s *Store) view(fn func(*bolt.Tx) error) (err error) {
	if err := s.refusal(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = s.stop(fmt.Errorf("%w: read %s: %w: %v", ErrBroken, s.path, ErrDamaged, p))
		}
	}()
	s.file.RLock()
	defer s.file.RUnlock()
	return s.db.View(fn)
}

func (s *Store) refusal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

func (s *Store) stop(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = err
	return err
}

// noteBad remembers a damaged point for the next commit.
func (s *Store) noteBad(seq uint64, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad == nil {
		s.bad = make(map[uint64]badRecord)
	}
	s.bad[seq] = badRecord{bucketOutbox, seq, cause}
}

func (s *Store) damagedPoints() []badRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]badRecord, 0, len(s.bad))
	for _, r := range s.bad {
		list = append(list, r)
	}
	return list
}

// damageMoved logs and forgets damaged points that a commit has moved to quarantine.
func (s *Store) damageMoved(list []badRecord) {
	for _, r := range list {
		s.logBad(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range list {
		delete(s.bad, r.n)
	}
}

func (s *Store) logBad(r badRecord) {
	err := &RecordError{Bucket: r.bucket, Key: strconv.FormatUint(r.n, 10), Cause: r.cause}
	s.o.Logger.Warn("store: record moved to quarantine", "error", err)
}

// fileBytes is the size of the file, 0 if it cannot be told.
func (s *Store) fileBytes() int64 {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0
	}
	return info.Size()
}
