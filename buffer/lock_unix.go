//go:build unix

package buffer

import (
	"errors"
	"os"
	"syscall"
)

// lockedElsewhere takes the lock of an open file or folder unless another holds it, which it reports. Where the file system
// has no locks there is none to take: bbolt will say so for its own file.
func lockedElsewhere(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
