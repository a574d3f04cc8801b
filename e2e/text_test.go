package e2e

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// logText collects what a process writes.
type logText = bytes.Buffer

// changing are the parts of a log line that differ from run to run, or that say nothing where there is one uplink.
var changing = regexp.MustCompile(`^\S+Z |\b(time|took|next_try_in|retry_in|after|since|uplink)=("[^"]*"|\S+) ?`)

// ourLine is how each line of the log begins.
var ourLine = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (DEBUG|INFO |WARN |ERROR) `)

// lines are the lines of a log without times, durations and the name of the uplink, those that hold text only.
func lines(log, text string) []string {
	var all []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, text) {
			all = append(all, strings.TrimSpace(changing.ReplaceAllString(line, "")))
		}
	}
	return all
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
