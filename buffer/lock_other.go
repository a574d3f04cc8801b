//go:build !unix

package buffer

import "os"

// lockedElsewhere knows no locks of folders on this system; bbolt's own lock on its file is all there is.
func lockedElsewhere(*os.File) bool { return false }
