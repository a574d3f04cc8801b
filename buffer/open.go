package buffer

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// Open opens the store in o.Dir, or makes it. After an unclean stop the file is checked. One that is damaged as a whole is moved aside, with one
// log line, and a fresh one takes its place with all that could still be read in the old one. Errors name the file; errors.Is tells
// ErrLocked, ErrReadOnly, ErrNewerSchema and ErrFull.
func Open(o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{o: o, lim: o.limits(), path: Path(o.Dir)}
	if err := s.open(time.Now().Add(o.LockTimeout)); err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.path, classify(err))
	}
	return s, nil
}

// OpenReadOnly opens the store in o.Dir to look at it: nothing in the folder is changed. A store that is not there or is damaged
// is an error. Methods that write return ErrReadOnly, and points may be peeked at without being offered: the floor stays.
func OpenReadOnly(o Options) (*Store, error) {
	o = o.withDefaults()
	o.readOnly = true
	s := &Store{o: o, lim: o.limits(), path: Path(o.Dir)}
	deadline := time.Now().Add(o.LockTimeout)
	err := s.inspect(deadline)
	if err == nil {
		s.floor = lookAtFloor(o)
		err = s.attach(deadline)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.path, classify(err))
	}
	return s, nil
}

// open holds a lock on the folder, so that of two agents that start at once the second finds what the first has made.
func (s *Store) open(deadline time.Time) error {
	if err := makeDir(s.o.Dir); err != nil {
		return err
	}
	dir, err := lock(s.o.Dir, deadline)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := s.returnFormer(); err != nil {
		return err
	}
	clean := s.isClean()
	found := s.inspect(deadline)
	if found == nil {
		found = s.doubt()
	}
	if found != nil && !errors.Is(found, fs.ErrNotExist) && !errors.Is(found, ErrDamaged) {
		return found
	}
	if err := removeTemps(s.o.Dir); err != nil {
		return err
	}
	if s.floor, err = openFloor(s.o); err != nil {
		return err
	}
	if found == nil {
		found = s.attach(deadline)
	}
	if older := errOlder(0); errors.As(found, &older) {
		found = s.migrate(uint64(older), deadline)
	}
	if found != nil {
		err = s.remake(found, deadline)
	} else {
		err = s.compact(deadline)
	}
	if err != nil {
		return err
	}
	if s.o.rescue != nil {
		if err := s.rescueInto(deadline); err != nil {
			return errors.Join(err, s.db.Close())
		}
	}
	if err := s.setUplinks(s.o.Uplinks); err != nil {
		return errors.Join(err, s.db.Close())
	}
	s.unready = s.o.ByHand && (s.migrated || !clean)
	if err := errors.Join(s.floor.ready(s.cur.Load().Floor), s.dropFormers(clean), s.markInUse()); err != nil {
		return errors.Join(err, s.db.Close())
	}
	return nil
}

// inspect looks at the file under its lock: while another agent has it open, what is in it is in motion.
func (s *Store) inspect(deadline time.Time) error {
	f, err := lock(s.path, deadline)
	if err != nil {
		return err
	}
	defer f.Close()
	return inspect(f)
}

// remake puts a fresh file in the place of one that is missing or damaged, and attaches it.
func (s *Store) remake(found error, deadline time.Time) error {
	place := func(temp string) error { return rename(temp, s.path, !s.o.NoSync) }
	switch {
	case errors.Is(found, ErrDamaged):
		return s.replaceDamaged(found, deadline)
	case !errors.Is(found, fs.ErrNotExist):
		return s.wayBack(found)
	}
	if err := s.create(nil, place); err != nil {
		return fmt.Errorf("make it: %w", err)
	}
	s.fresh = true
	return s.attach(deadline)
}

// create makes a file whole under another name, with what fill puts into it, and then has it put in its place.
func (s *Store) create(fill func(*bolt.DB) error, place func(temp string) error) (err error) {
	f, err := os.CreateTemp(s.o.Dir, fileName+tempMark+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	o := s.o.bolt(time.Now().Add(time.Second), 0)
	o.NoSync, o.NoGrowSync = true, true // synced once, when it is whole
	db, err := bolt.Open(f.Name(), 0o600, o)
	if err != nil {
		return err
	}
	db.AllocSize = int(s.o.allocSize())
	if fill == nil {
		fill = func(db *bolt.DB) error { return db.Update(s.layOut) }
	}
	err = fill(db)
	if err == nil && !s.o.NoSync {
		err = db.Sync()
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return place(f.Name())
}

// layOut writes the first transaction of a file.
func (s *Store) layOut(tx *bolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	state := tx.Bucket([]byte(bucketState))
	c := firstCounters()
	return errors.Join(
		putSealed(state, []byte(keySchema), numberKey(schema)),
		putSealed(state, []byte(keyBorn), numberKey(uint64(s.floor.get()))),
		putSealed(state, []byte(keyResets), numberKey(0)),
		putSealed(state, []byte(keyLine), []byte(rand.Text())),
		putSealed(state, []byte(keyCounters), c.encode()),
	)
}

// attach opens the file with bbolt and reads the store's own numbers.
func (s *Store) attach(deadline time.Time) error {
	s.stopped = nil // what came of a damaged file that has been replaced
	db, err := openBolt(s.path, s.o.bolt(deadline, s.o.MaxSize))
	if err != nil {
		return err
	}
	db.AllocSize = int(s.o.allocSize())
	s.db = db
	if err := s.view(s.readHeader); err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

func (o Options) bolt(deadline time.Time, mapped int64) *bolt.Options {
	return &bolt.Options{
		Timeout:         max(time.Until(deadline), 2*lockPause),
		PageSize:        pageSize,
		NoFreelistSync:  true, // a stored free list is written whole with each commit: 300 KiB after a long outage
		FreelistType:    bolt.FreelistMapType,
		InitialMmapSize: int(mapped), // mapped once: growing it would wait for readers, and can fail
		MaxSize:         int(o.MaxSize),
		NoSync:          o.NoSync,
		ReadOnly:        o.readOnly,
		PreLoadFreelist: true,
	}
}

// openBolt turns what bbolt says of a damaged file, or its panic, into ErrDamaged. A panic leaves bbolt's mapping behind, but not its lock.
func openBolt(path string, o *bolt.Options) (db *bolt.DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var file *os.File
	o.OpenFile = func(name string, flag int, perm os.FileMode) (f *os.File, err error) {
		file, err = os.OpenFile(name, flag, perm)
		return file, err
	}
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, errors.Join(fmt.Errorf("%w: %v", ErrDamaged, p), file.Close())
		}
	}()
	db, err = bolt.Open(path, 0o600, o)
	switch {
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrChecksum), errors.Is(err, berrors.ErrVersionMismatch):
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	case errors.Is(err, berrors.ErrTimeout):
		return nil, fmt.Errorf("%w: is another edgeagent running on this folder?", ErrLocked)
	}
	return db, err
}
