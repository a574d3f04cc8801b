//go:build !linux

package doctor

// room is not known on this system.
func room(string) (free int64, readOnly bool) { return -1, false }
