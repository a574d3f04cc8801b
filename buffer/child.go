package buffer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"

	bolt "go.etcd.io/bbolt"
)

// exitDamaged is how a checking process says that damage is proven.
const exitDamaged = 3

// CheckFile checks a store file of which no other process is in the middle of a write: sizes and tree, bbolt's own check, the counters
// against what is there, and every record's checksum. Damage is an error that is ErrDamaged. Records that fail their checksum in a file that is
// else sound are only counted, since the next start puts them into quarantine. A file of another version whose tree is sound is ErrOlderSchema or
// ErrNewerSchema: what is in its records this version does not judge.
//
// What goes wrong within bbolt may end the process: see ChildCheck.
func CheckFile(path string) (badRecords int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("check: %w", err)
	}
	err = inspect(f)
	f.Close()
	if err != nil {
		return 0, fmt.Errorf("check %s: %w", path, err)
	}
	db, err := openBolt(path, &bolt.Options{ReadOnly: true, FreelistType: bolt.FreelistMapType, Timeout: time.Second})
	if err != nil {
		return 0, fmt.Errorf("check %s: %w", path, err)
	}
	s := &Store{o: Options{}.withDefaults(), path: path, db: db}
	defer db.Close()
	err = s.view(s.readHeader)
	if otherSchema(err) {
		if faults := s.treeFaults(); len(faults) > 0 {
			err = fmt.Errorf("%w: %w", ErrDamaged, errors.Join(faults...))
		}
	}
	if err != nil {
		return 0, fmt.Errorf("check %s: %w", path, err)
	}
	if err := s.sound(); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	err = s.view(func(tx *bolt.Tx) error { badRecords = badSeals(tx); return nil })
	return badRecords, err
}

// otherSchema reports whether err says that another version made the file.
func otherSchema(err error) bool {
	return errors.Is(err, ErrOlderSchema) || errors.Is(err, ErrNewerSchema)
}

// badSeals counts the records outside of the small state that fail their checksum.
func badSeals(tx *bolt.Tx) (n int) {
	for _, name := range [...]string{bucketOutbox, bucketParked, bucketMarks, bucketLate, bucketInputs, bucketUplinks, bucketLags} {
		_ = tx.Bucket([]byte(name)).ForEach(func(k, v []byte) error {
			if _, err := unseal(k, v); err != nil {
				n++
			}
			return nil
		})
	}
	for _, name := range [...]string{bucketJournal, bucketPackets, bucketRejected, bucketBad, bucketSide, bucketTrace} {
		b := tx.Bucket([]byte(name))
		if b == nil {
			continue // there is no trace
		}
		_ = eachRecord(b, ^uint64(0), func(_ uint64, _ []byte, bad error) error {
			if bad != nil {
				n++
			}
			return nil
		})
	}
	return n
}

// CheckMain is all that the process started by ChildCheck does: it checks the file at path, says on stderr what is wrong, and
// returns the exit code.
func CheckMain(path string, stderr io.Writer) int {
	_, err := CheckFile(path)
	if err == nil || otherSchema(err) {
		return 0
	}
	fmt.Fprintln(stderr, err)
	if errors.Is(err, ErrDamaged) {
		return exitDamaged
	}
	return 1
}

// ChildCheck makes a CheckFunc that runs argv with the file's path behind it, which must end as CheckMain does. Damage is proven if
// that process says so, or dies of a panic or memory fault; not if it is killed, runs out of memory or time, or does not start.
func ChildCheck(argv ...string) CheckFunc {
	return func(ctx context.Context, path string) error {
		var said head
		cmd := exec.CommandContext(ctx, argv[0], append(argv[1:len(argv):len(argv)], path)...)
		cmd.Stderr = &said
		cmd.WaitDelay = time.Second
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("check %s: %w", path, ctx.Err())
		case errors.As(err, &exit) && exit.ExitCode() == exitDamaged:
			return fmt.Errorf("%w: %s", ErrDamaged, said.line())
		case crash.Match(said.b) && !outOfMemory.Match(said.b):
			return fmt.Errorf("%w: the check crashed: %s", ErrDamaged, said.line())
		}
		return fmt.Errorf("check %s: %w: %s", path, err, said.line())
	}
}

// How Go says that a process died of what it read.
var (
	crash       = regexp.MustCompile(`(?m)^(panic: |fatal error: fault|unexpected fault address|\[signal SIG)`)
	outOfMemory = regexp.MustCompile(`out of memory|cannot allocate memory`)
)

// A head keeps the first bytes written to it.
type head struct{ b []byte }

func (h *head) Write(p []byte) (int, error) {
	const most = 4096
	h.b = append(h.b, p[:min(len(p), most-len(h.b))]...)
	return len(p), nil
}

// line is the first line, which says what it is about.
func (h *head) line() string {
	line, _, _ := bytes.Cut(h.b, []byte("\n"))
	return string(line)
}
