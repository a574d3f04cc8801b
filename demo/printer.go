package demo

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// columns is the width of the story.
const columns = 80

// A printer tells the story. Paragraphs, uploaded lines and the agent's log come from different goroutines; each is
// written whole. Safe for concurrent use.
type printer struct {
	now func() time.Time

	mu      sync.Mutex // guards what follows
	w       io.Writer
	chapter int
	err     error // the first of w
}

func newPrinter(w io.Writer) *printer { return &printer{now: time.Now, w: w} }

// failure is the first error of writing.
func (p *printer) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return fmt.Errorf("write the story: %w", p.err)
	}
	return nil
}

// title begins a chapter.
func (p *printer) title(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chapter++
	p.writeLocked(fmt.Sprintf("\n[%s] %d. %s\n", p.now().Format(time.TimeOnly), p.chapter, text))
}

// text writes a paragraph, broken into lines.
func (p *printer) text(format string, args ...any) {
	p.write(wrap(fmt.Sprintf(format, args...), "  ", "  "))
}

// note writes a paragraph further to the right, about the line before it.
func (p *printer) note(text string) { p.write(wrap(text, "      ", "      ")) }

// lines writes lines as they are, further to the right.
func (p *printer) lines(lines ...string) {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(strings.TrimRight("      "+l, " ") + "\n")
	}
	p.write(b.String())
}

// uploaded writes a line that the server has stored. One that is too wide is broken before its fields.
func (p *printer) uploaded(line []byte) {
	text := "> " + string(line)
	if at := strings.IndexByte(text[2:], ' ') + 2; len(text) > columns && at > 2 {
		text = text[:at] + "\n      " + text[at+1:]
	}
	p.write(text + "\n")
}

func (p *printer) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writeLocked(text)
}

func (p *printer) writeLocked(text string) {
	if _, err := io.WriteString(p.w, text); err != nil && p.err == nil {
		p.err = err
	}
}

// wrap breaks text at blanks; the first line begins with first, the others with rest.
func wrap(text, first, rest string) string {
	var b strings.Builder
	line, prefix := "", first
	for _, word := range strings.Fields(text) {
		if line != "" && len(prefix)+len(line)+1+len(word) > columns {
			b.WriteString(prefix + line + "\n")
			line, prefix = "", rest
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	b.WriteString(prefix + line + "\n")
	return b.String()
}
