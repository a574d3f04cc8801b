package logs

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// StyleOf is the style for lines that go to w: Journal if it is the stream that $JOURNAL_STREAM names (see systemd.exec(5)),
// Terminal if it is one, else Plain.
func StyleOf(w io.Writer) Style {
	f, ok := w.(*os.File)
	if !ok {
		return Plain
	}
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) == nil && isJournal(os.Getenv("JOURNAL_STREAM"), uint64(st.Dev), st.Ino) {
		return Journal
	}
	if isTerminal(f) {
		return Terminal
	}
	return Plain
}

// isTerminal reports whether a person reads and types there.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// isJournal reports whether stream, "DEVICE:INODE", names this file.
func isJournal(stream string, dev, ino uint64) bool {
	return stream != "" && stream == fmt.Sprintf("%d:%d", dev, ino)
}
