package buffer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

// When a start rewrites the file: it is large, most of it is free, and what is not free is soon written. A file above the cap, which has been
// lowered, is rewritten too.
const (
	compactAbove = 16 << 20
	compactShare = 4
	compactMost  = 16 << 20
)

// Compact rewrites the store in o.Dir, which no other process may have open, without its free pages, and reports the size of the file before
// and after. A cut at any time leaves the old file or the new one.
func Compact(o Options) (from, to int64, err error) {
	info, err := os.Stat(Path(o.Dir))
	if err != nil {
		return 0, 0, fmt.Errorf("compact store: %w", err)
	}
	o.compact = true
	s, err := Open(o)
	if err != nil {
		return 0, 0, err
	}
	return info.Size(), s.fileBytes(), s.Close()
}

func (s *Store) compactPays() bool {
	st := s.Stats()
	if st.FileBytes > s.o.MaxSize {
		return st.UsedBytes < s.o.MaxSize
	}
	return st.FileBytes > compactAbove && st.FileBytes > compactShare*st.UsedBytes && st.UsedBytes <= compactMost
}

// compact rewrites the file if that pays, or was asked for. Where it merely pays and there is no room for it the file stays as it is. The caller
// holds the lock on the folder.
func (s *Store) compact(deadline time.Time) error {
	if !s.o.compact && !s.compactPays() {
		return nil
	}
	from := s.fileBytes()
	err := s.replaceFile(func(db *bolt.DB) error { return s.copyTo(context.Background(), db) }, deadline)
	if err == nil {
		s.o.Logger.Info("store: file rewritten without its free pages", "file", s.path, "bytes_before", from, "bytes_after", s.fileBytes())
		return nil
	}
	if s.db.Path() == "" || s.o.compact {
		return errors.Join(fmt.Errorf("compact: %w", err), s.db.Close())
	}
	s.o.Logger.Warn("store: file could not be rewritten without its free pages; it is used as it is", "file", s.path, "error", err)
	return nil
}

// replaceFile makes a new file with fill and puts it in the place of the present one, which stays open until then. The present one is attached
// again if that fails.
func (s *Store) replaceFile(fill func(*bolt.DB) error, deadline time.Time) error {
	closed := false
	err := s.create(fill, func(temp string) error {
		if err := inspectFile(temp); err != nil {
			return err
		}
		closed = true
		if err := s.db.Close(); err != nil {
			return err
		}
		return rename(temp, s.path, !s.o.NoSync)
	})
	if closed {
		return errors.Join(err, s.attach(deadline))
	}
	return err
}

func inspectFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return inspect(f)
}
