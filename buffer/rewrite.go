package buffer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Rewrite makes the file anew without its free pages while the store stays open, and reports its size before and after in bytes. Commit waits until it
// returns; Peek, Stats and all that only looks goes on. It needs room on the disk, and, where int has 32 bits, address space, for a second file. Points keep
// their numbers.
//
// On an error the old file stays in use and nothing has changed, but for ErrInDoubt, after which the Store must be opened again. errors.Is tells ErrFull,
// ErrReadOnly and the error of ctx, which calls it off. A cut at any time leaves the old file or the new one, which hold the same.
func (s *Store) Rewrite(ctx context.Context) (from, to int64, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	from = s.fileBytes()
	if err := s.refusal(); err != nil {
		return from, from, err
	}
	dir, err := lock(s.o.Dir, time.Now().Add(s.o.LockTimeout)) // no start may take what is half made for the rest of a cut
	if err == nil {
		defer dir.Close()
		err = s.create(func(db *bolt.DB) error { return s.copyTo(ctx, db) }, s.exchange)
	}
	if err != nil {
		return from, from, fmt.Errorf("rewrite %s: %w", s.path, classify(err))
	}
	return from, s.fileBytes(), nil
}

// exchange puts a whole new file in the place of the one in use. It is opened first, so that the store is locked and mapped at every instant.
func (s *Store) exchange(temp string) error {
	if err := inspectFile(temp); err != nil {
		return err
	}
	db, err := openBolt(temp, s.o.bolt(time.Now().Add(s.o.LockTimeout), s.o.MaxSize))
	if err != nil {
		return err
	}
	db.AllocSize = int(s.o.allocSize())
	if err := s.samePlace(db); err != nil {
		return errors.Join(err, db.Close())
	}
	old, err := s.rename(temp, db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if !s.o.NoSync {
		if err := syncDir(s.o.Dir); err != nil { // after a cut the old file might be back, without what would be committed now
			return errors.Join(s.stop(fmt.Errorf("%w: %w", ErrInDoubt, err)), old.Close())
		}
	}
	return old.Close()
}

// rename gives the new file the name of the store and makes it the one in use; it returns the one before, which nobody reads any more.
func (s *Store) rename(temp string, db *bolt.DB) (old *bolt.DB, err error) {
	s.file.Lock()
	defer s.file.Unlock()
	if err := os.Rename(temp, s.path); err != nil { // under the lock: Examine opens by name what it has a transaction of
		return nil, err
	}
	old, s.db = s.db, db
	b := old.Stats().TxStats
	s.written += b.GetPageAlloc()
	return old, nil
}

// samePlace checks that a copy is of the last commit.
func (s *Store) samePlace(db *bolt.DB) error {
	return db.View(func(tx *bolt.Tx) error {
		c, err := readCounters(tx)
		if err == nil && c.Commits != s.cur.Load().Commits {
			err = fmt.Errorf("BUG: the copy is of commit %d, the store at %d", c.Commits, s.cur.Load().Commits)
		}
		return err
	})
}

// copyTo copies every key and value into an empty file, until ctx is done. A panic of bbolt over a page that cannot be read is an error.
func (s *Store) copyTo(ctx context.Context, db *bolt.DB) error {
	return s.view(func(from *bolt.Tx) error {
		return from.ForEach(func(name []byte, b *bolt.Bucket) error {
			c := b.Cursor()
			for k, v := c.First(); ; {
				err := db.Update(func(tx *bolt.Tx) (err error) {
					k, v, err = copySome(tx, name, c, k, v)
					return err
				})
				if err := errors.Join(err, ctx.Err()); err != nil {
					return err
				}
				if k == nil {
					return nil
				}
			}
		})
	})
}

// copySome copies about carryStep bytes from where c stands, k and v, and returns what comes after them.
func copySome(tx *bolt.Tx, name []byte, c *bolt.Cursor, k, v []byte) (nextK, nextV []byte, err error) {
	to, err := tx.CreateBucketIfNotExists(name)
	if err != nil {
		return nil, nil, err
	}
	to.FillPercent = 0.9 // full, but for what a page gets when something in it changes
	for size := 0; k != nil && size < carryStep; k, v = c.Next() {
		if err := to.Put(k, v); err != nil {
			return nil, nil, err
		}
		size += len(k) + len(v)
	}
	return k, v, nil
}
