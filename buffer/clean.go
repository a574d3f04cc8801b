package buffer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// checkTime is how long the check after an unclean stop may take. It is a part of the ten seconds in which a start must be done.
const checkTime = 5 * time.Second

// A CheckFunc checks the store file at path, which nobody writes meanwhile. It returns an error that is ErrDamaged if damage is
// proven; nil, or any other error, lets the file be used.
type CheckFunc func(ctx context.Context, path string) error

// The file named clean is there while the store is not in use and was closed in order. Its absence is what counts: to remove it
// takes no room on a full disk, and where it cannot be made, or is lost, the file is checked once more than need be.
func (s *Store) cleanPath() string { return filepath.Join(s.o.Dir, cleanName) }

// markClean notes that the store was closed in order. Where that cannot be written the next start checks the file.
func (s *Store) markClean() {
	if s.o.readOnly {
		return
	}
	f, err := os.Create(s.cleanPath())
	if err != nil {
		return
	}
	if fill(f, nil, !s.o.NoSync) == nil && !s.o.NoSync {
		_ = syncDir(s.o.Dir)
	}
}

// isClean reports whether the store was closed in order.
func (s *Store) isClean() bool {
	_, err := os.Stat(s.cleanPath())
	return err == nil
}

// markInUse takes the mark away, on disk before the first commit. With it the names of files are certain that an earlier process gave and could
// not sync.
func (s *Store) markInUse() error {
	err := os.Remove(s.cleanPath())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && !s.o.NoSync {
		err = syncDir(s.o.Dir)
	}
	if err != nil {
		return fmt.Errorf("mark store as in use: %w", err)
	}
	return nil
}

// doubt has the file checked if the last stop was not clean, and gives the proof if it is damaged.
func (s *Store) doubt() error {
	if _, err := os.Stat(s.cleanPath()); err == nil || s.o.Check == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTime)
	defer cancel()
	err := s.o.Check(ctx, s.path)
	if errors.Is(err, ErrDamaged) {
		return err
	}
	if err != nil {
		s.o.Logger.Warn("store: the check after an unclean stop proved nothing; the file is used", "error", err)
	}
	return nil
}
