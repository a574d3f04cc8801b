package buffer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tempMark is in the name of every file that is not whole yet.
const tempMark = ".tmp-"

// makeDir makes the data folder if it is not there, and tries whether files can be made in it. A full disk is no
// error: the agent still has points to send.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o750); err == nil {
			err = syncDir(filepath.Dir(dir))
		}
		if err != nil {
			return fmt.Errorf("make data folder: %w", err)
		}
	}
	f, err := os.CreateTemp(dir, "probe"+tempMark+"*")
	if errors.Is(classify(err), ErrFull) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write to data folder: %w", err)
	}
	return errors.Join(f.Close(), remove(f.Name()))
}

// remove removes a temp, which another agent that starts at the same time may have done already.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const lockPause = 50 * time.Millisecond

// lock takes an exclusive lock on a file or folder, at the latest at deadline. Closing the file lets go of it.
func lock(path string, deadline time.Time) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for {
		if !lockedElsewhere(f) {
			return f, nil
		}
		if !time.Now().Before(deadline) {
			f.Close()
			return nil, fmt.Errorf("%w: is another edgeagent running on this folder?", ErrLocked)
		}
		time.Sleep(lockPause)
	}
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // some file systems cannot sync a folder
	}
	return errors.Join(err, d.Close())
}

// replace makes the file at path hold data: the old content or the new, never half of one. With sync it is on disk
// when replace returns.
func replace(path string, data []byte, sync bool) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+tempMark+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, data, sync); err != nil {
		return err
	}
	return rename(f.Name(), path, sync)
}

// overwrite writes data over the start of the file at path, which must be as long already. It takes no new room on
// most file systems.
func overwrite(path string, data []byte, sync bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return fill(f, data, sync)
}

// fill writes data to f and closes it.
func fill(f *os.File, data []byte, sync bool) error {
	_, err := f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func rename(from, to string, sync bool) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if !sync {
		return nil
	}
	return syncDir(filepath.Dir(to))
}

// removeTemps removes what a cut left half made. The caller holds the lock on the store.
func removeTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.Contains(e.Name(), tempMark) {
			continue
		}
		if err := remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
