package buffer

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"

	"edgeagent/reading"
)

// A floorFile holds F, at or above the End of every point ever offered to an uplink. It lives beside the store, so that
// it outlives it: a fresh store must never send a fragment of a window whose true result is at the server already.
type floorFile struct {
	path  string
	step  int64 // how far F is raised beyond need, ns
	sync  bool
	still bool // the store is only looked at: nothing is offered, so raise does nothing

	// mu guards value, and is held while the file is written
	mu    sync.Mutex
	value int64 // F, ns; reading.NoTime, the lowest, while nothing was offered
}

func (f *floorFile) get() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.value
}

// raise makes F at least end, on disk before it returns. It goes a step further, so that the file is not written for
// every window.
func (f *floorFile) raise(end int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if end <= f.value || f.still {
		return nil
	}
	value := end + f.step
	if value < end {
		value = math.MaxInt64
	}
	if err := f.write(value); err != nil {
		return fmt.Errorf("raise floor %s: %w", f.path, classify(err))
	}
	f.value = value
	return nil
}

// write replaces the file. On a full disk, where uploads must go on, it writes over the line in place: all lines are equally
// long, and well within a sector.
func (f *floorFile) write(value int64) error {
	line := encodeFloor(value)
	err := replace(f.path, line, f.sync)
	if errors.Is(classify(err), ErrFull) && overwrite(f.path, line, f.sync) == nil {
		return nil
	}
	return err
}

func encodeFloor(value int64) []byte {
	line := fmt.Sprintf("floor %+020d", value)
	return fmt.Appendf(nil, "%s %08x\n", line, crc32.Checksum([]byte(line), castagnoli))
}

func decodeFloor(data []byte) (int64, error) {
	var value int64
	if _, err := fmt.Sscanf(string(data), "floor %d", &value); err != nil {
		return 0, errFormat
	}
	if string(encodeFloor(value)) != string(data) {
		return 0, errChecksum
	}
	return value, nil
}

// openFloor reads the floor file. One that cannot be understood is moved aside with a log line and counts as absent.
func openFloor(o Options) (*floorFile, error) {
	f := &floorFile{path: filepath.Join(o.Dir, floorName), step: max(o.FloorStep, 0), sync: !o.NoSync, value: reading.NoTime}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read floor: %w", err)
	}
	value, err := decodeFloor(data)
	if err == nil {
		f.value = value
		return f, nil
	}
	to, moveErr := setAside(f.path, o)
	if moveErr != nil {
		return nil, fmt.Errorf("move damaged floor aside: %w", moveErr)
	}
	o.Logger.Warn("store: floor file is damaged; moved aside, going on with what the store itself remembers of it",
		"file", f.path, "moved_to", to, "error", err)
	return f, nil
}

// lookAtFloor reads the floor file and leaves it as it is; one that is not there or cannot be understood is no floor.
func lookAtFloor(o Options) *floorFile {
	f := &floorFile{still: true, value: reading.NoTime}
	data, err := os.ReadFile(filepath.Join(o.Dir, floorName))
	if err != nil {
		return f
	}
	if value, err := decodeFloor(data); err == nil {
		f.value = value
	}
	return f
}

// ready makes up for a floor file that was lost, with the value that the last commit noted and a step for what may have been
// offered after it. It sees to it that there is a file, so that it can be written over when the disk is full.
func (f *floorFile) ready(noted int64) error {
	if noted > f.value {
		return f.raise(noted)
	}
	if _, err := os.Stat(f.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := f.write(f.value); err != nil && !errors.Is(classify(err), ErrFull) {
		return fmt.Errorf("make floor: %w", err)
	}
	return nil
}
