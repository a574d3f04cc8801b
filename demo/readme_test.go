package demo

import (
	"regexp"
	"strings"
	"testing"

	"edgeagent/docs"
)

// digits are what differs from one run to another, with the blanks that they are set with.
var digits = regexp.MustCompile(`[0-9]+|\s+`)

// checkFrontPage checks that what README.md shows of the demo is what it says, but for numbers and lines of the log.
func checkFrontPage(t *testing.T, text string) {
	t.Helper()
	plain := func(line string) string { return strings.Join(strings.Fields(digits.ReplaceAllString(line, " ")), " ") }
	said := map[string]bool{}
	for line := range strings.Lines(text) {
		said[plain(line)] = true
	}
	d, err := docs.Read("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range d.Blocks {
		if !strings.Contains(b.Text, "The link to the server is cut") {
			continue
		}
		for i, line := range strings.Split(b.Text, "\n") {
			if strings.Contains(line, "agent: ") || strings.Contains(line, "attempts=") || strings.Contains(line, "Rejected: ") || line == "..." {
				continue
			}
			if n++; !said[plain(line)] {
				t.Errorf("%s: the demo does not say %q", d.Place(b.Line+i), line)
			}
		}
	}
	if n < 12 {
		t.Errorf("README.md shows %d lines of the demo", n)
	}
}
