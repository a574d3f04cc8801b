package window

// Start is the start of the window of the given size in which t falls: windows are aligned to the Unix epoch and half
// open, [start, start+size). Division is by floor, so instants before 1970 fall into the window that holds them, not into
// the one after. All in ns; size must be above 0.
func Start(t, size int64) int64 {
	r := t % size
	if r < 0 {
		r += size
	}
	return t - r
}
