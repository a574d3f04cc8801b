package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// signalChildren sends a signal to the children of a process.
func signalChildren(pid int, sig syscall.Signal) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, name := range stats {
		text, _ := os.ReadFile(name) // it may have ended
		// pid (name) state ppid …
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			_ = syscall.Kill(child, sig)
		}
	}
}

// residentOf is the anonymous and the whole resident memory of a process in bytes; 0 once it has ended.
func residentOf(pid int) (anonymous, whole int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		kib, _ := strconv.ParseInt(f[1], 10, 64)
		switch f[0] {
		case "RssAnon:":
			anonymous = kib << 10
		case "VmRSS:":
			whole = kib << 10
		}
	}
	return anonymous, whole
}
