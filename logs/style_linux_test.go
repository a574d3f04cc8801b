package logs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A stream is the journal's if $JOURNAL_STREAM names its device and inode, which a child of a service may have inherited for another.
func TestStyleOf(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	mine, other := fmt.Sprintf("%d:%d", st.Dev, st.Ino), fmt.Sprintf("%d:%d", st.Dev, st.Ino+1)
	for _, c := range []struct {
		stream string
		got    func() Style
		want   Style
	}{
		{"", func() Style { return StyleOf(f) }, Plain},
		{mine, func() Style { return StyleOf(f) }, Journal},
		{other, func() Style { return StyleOf(f) }, Plain},
		{mine, func() Style { return StyleOf(terminal) }, Terminal},
		{mine, func() Style { return StyleOf(new(bytes.Buffer)) }, Plain},
	} {
		t.Setenv("JOURNAL_STREAM", c.stream)
		if got := c.got(); got != c.want {
			t.Errorf("stream %q: style %d, want %d", c.stream, got, c.want)
		}
	}
}
