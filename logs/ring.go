package logs

import "sync"

// ringLines is how many lines a Ring keeps, and ringBytes how much of each; it takes 200 KiB at most.
const (
	ringLines = 200
	ringBytes = 1024
)

// A Ring keeps the newest 200 lines that were written to it, each cut to 1 KiB. The zero Ring is ready. It is safe for use by several
// goroutines.
type Ring struct {
	mu    sync.Mutex // guards what follows
	lines []string
	next  int // of the oldest, once it is full
}

// Write takes one line. It never fails.
func (r *Ring) Write(line []byte) (int, error) {
	n := len(line)
	for len(line) > 0 && line[len(line)-1] == '\n' {
		line = line[:len(line)-1]
	}
	text := cut(string(line), ringBytes)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) < ringLines {
		r.lines = append(r.lines, text)
		return n, nil
	}
	r.lines[r.next] = text
	r.next = (r.next + 1) % ringLines
	return n, nil
}

// Lines are those kept, oldest first.
func (r *Ring) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(append([]string(nil), r.lines[r.next:]...), r.lines[:r.next]...)
}
