package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// What a terminal is told. It knows these since the VT100, but for the second screen, which older ones ignore.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // a screen of our own, no cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
)

// A screen shows one text after the other in the same place. Where its output is no terminal, texts follow each other.
type screen struct {
	out  io.Writer
	rows func() int // lines that fit; 0 if that is not known; nil if out is no terminal
	last []byte
}

// newScreen takes a terminal's second screen, if out is a terminal: what was on it before comes back with close.
func newScreen(out io.Writer) *screen {
	s := &screen{out: out}
	f, ok := behind(out).(*os.File)
	if !ok || !isTerminal(f) {
		return s
	}
	s.rows = func() int { return terminalRows(f) }
	fmt.Fprint(out, enterScreen)
	return s
}

// show puts text in the place of the one before, in one write and without clearing first, so that nothing flickers. What
// does not fit is cut, and the last line says so.
func (s *screen) show(text []byte) error {
	s.last = text
	if s.rows != nil {
		text = frame(text, s.rows())
	}
	_, err := s.out.Write(text)
	return err
}

// frame is what draws text over an earlier one, on a terminal of so many rows.
func frame(text []byte, rows int) []byte {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	if rows > 1 && len(lines) > rows {
		more := len(lines) - rows + 1
		lines = append(lines[:rows-1:rows-1], fmt.Appendf(nil, "… %d more lines: make the window larger", more))
	}
	var b bytes.Buffer
	b.WriteString(home)
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.Write(line)
		b.WriteString(clearLine)
	}
	b.WriteString(clearRest)
	return b.Bytes()
}

// close gives the terminal back as it was, and leaves the last text on it.
func (s *screen) close() {
	if s.rows == nil {
		return
	}
	fmt.Fprint(s.out, leaveScreen)
	_, _ = s.out.Write(s.last)
}
