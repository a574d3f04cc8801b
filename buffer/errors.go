package buffer

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"
)

// Errors of Open.
var (
	// ErrLocked is returned when another process holds the file.
	ErrLocked = errors.New("store is in use by another process")
	// ErrNewerSchema is returned when a newer edgeagent made the file. The file is left as it is.
	ErrNewerSchema = errors.New("store was made by a newer version")
	// ErrOlderSchema is returned by OpenReadOnly and CheckFile when an older edgeagent made the file: Open migrates it.
	ErrOlderSchema = errors.New("store was made by an older version")
)

// Errors of Open, Commit, Peek and Newest.
var (
	// ErrFull is returned when the disk, a quota or max_size leaves no room. Nothing was stored; try again later.
	ErrFull = errors.New("no space left for the store")
	// ErrReadOnly is returned when the file system is, or has become, read-only, or permission is missing.
	ErrReadOnly = errors.New("store is read-only")
)

// Errors after which the Store must be closed and opened again; they stay.
var (
	// ErrInDoubt is returned when the last sync of a commit failed and could not be repeated: the batch may
	// or may not be on disk. Opening the store again finds out, as after a crash.
	ErrInDoubt = errors.New("it is not known whether the last commit reached the disk")
	// ErrBroken is returned when bbolt panicked: the file is damaged, and the next Open finds out how far.
	ErrBroken = errors.New("store is broken")
)

// ErrDamaged is returned by OpenReadOnly, CheckFile and a check in a child process when the file is proven to be damaged. Open
// moves such a file aside rather than report it.
var ErrDamaged = errors.New("damaged")

// A RecordError tells of one record that could not be decoded.
type RecordError struct {
	Bucket string
	Key    string // number of the record, or name of the key
	Cause  error
}

// Error names bucket, key and cause.
func (e *RecordError) Error() string {
	return fmt.Sprintf("record %s in bucket %s is damaged: %v", e.Key, e.Bucket, e.Cause)
}

// Unwrap gives the cause.
func (e *RecordError) Unwrap() error { return e.Cause }

// sentinels pairs what the system or bbolt says with what callers of this package look for.
var sentinels = []struct{ cause, is error }{
	{syscall.ENOSPC, ErrFull},
	{syscall.EDQUOT, ErrFull},
	{syscall.EFBIG, ErrFull},
	{berrors.ErrMaxSizeReached, ErrFull},
	{syscall.EROFS, ErrReadOnly},
	{syscall.EACCES, ErrReadOnly},
	{syscall.EPERM, ErrReadOnly},
	{berrors.ErrDatabaseReadOnly, ErrReadOnly},
}

// classify adds ErrFull or ErrReadOnly to an error with such a cause. bbolt keeps only the text of the cause where it grows
// the file (db.go, grow), so the text is looked at too.
func classify(err error) error {
	if err == nil || errors.Is(err, ErrFull) || errors.Is(err, ErrReadOnly) {
		return err
	}
	for _, s := range sentinels {
		if errors.Is(err, s.cause) || strings.HasSuffix(err.Error(), ": "+s.cause.Error()) {
			return fmt.Errorf("%w: %w", s.is, err)
		}
	}
	return err
}
