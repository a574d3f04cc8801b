package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal opens both ends of a terminal of so many rows.
func terminal(t *testing.T, rows uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: 80}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// On a real terminal the text stays in its place, nothing is cleared before it is written anew, and the terminal is as
// before at the end, with the last text on it.
func TestScreenOnTerminal(t *testing.T) {
	master, slave := terminal(t, 3)
	s := newScreen(slave)
	for _, text := range []string{"one\ntwo\nthree\nfour\n", "five\n"} {
		if err := s.show([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	s.close()
	slave.Close()
	out, _ := io.ReadAll(master) // ends with an error when nobody has the other end
	got := strings.ReplaceAll(string(out), "\r\r\n", "\n")
	want := "\x1b[?1049h\x1b[?25l" + "\x1b[Hone\x1b[K\ntwo\x1b[K\n… 2 more lines: make the window larger\x1b[K\x1b[J" +
		"\x1b[Hfive\x1b[K\x1b[J" + "\x1b[?25h\x1b[?1049lfive\r\n"
	if got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}
