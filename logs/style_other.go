//go:build !linux

package logs

import "io"

// StyleOf is the style for lines that go to w. There is no journal on this system, and what a terminal is is not asked.
func StyleOf(io.Writer) Style { return Plain }
