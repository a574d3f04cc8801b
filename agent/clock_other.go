//go:build !linux

package agent

// synchronised is not known on this system; nothing speaks against the clock.
func synchronised() bool { return true }
