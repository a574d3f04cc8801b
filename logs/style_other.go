//go:build !linux

package logs

import (
	"io"
	"os"
)

// StyleOf is the style for lines that go to w. There is no journal on this system, and what a terminal is is not asked.
func StyleOf(io.Writer) Style { return Plain }

// IsTerminal reports whether a person reads and types there, which is not asked on this system: false.
func IsTerminal(*os.File) bool { return false }
