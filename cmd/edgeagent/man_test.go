package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		"plain words":      "plain words",
		"--json":           `\-\-json`,
		`a\nb`:             `a\enb`,
		".TH is a request": `\&.TH is a request`,
		"one\n'two'\n.x":   "one\n\\&'two'\n\\&.x",
	} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) is %q, want %q", text, got, want)
		}
	}
}

// TestManPage: the page has the sections that people look for, each once, and hides what --help hides.
func TestManPage(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"man"}, streams{strings.NewReader(""), &out, &errs}); code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	page := out.String()
	if !strings.HasPrefix(page, ".TH EDGEAGENT 1 \"") {
		t.Errorf("the page begins with %.60q", page)
	}
	for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "\"EXIT STATUS\"", "ENVIRONMENT", "SIGNALS", "FILES"} {
		section = strings.Trim(section, `"`)
		if n := strings.Count(page, "\n.SH "+section+"\n"); n != 1 {
			t.Errorf("section %s is there %d times", section, n)
		}
	}
	for text, want := range map[string]int{".SS edgeagent run\n": 1, ".SS edgeagent buffer requeue\n": 1, `.B \-c, \-\-config=FILE`: 14, "internal": 0, ".SS edgeagent man": 0} {
		if n := strings.Count(page, text); want == 0 && n > 0 || n < min(want, 10) {
			t.Errorf("%q is there %d times", text, n)
		}
	}
}
