package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeagent/docs"
	"edgeagent/testbed"
)

// A step is what becomes of a command line of a document.
type step struct {
	code    int
	prints  []string // all of these are in what it prints
	runs    func()   // of one that goes on until the test ends: waits until it does its work
	notHere string   // why it is not typed here, and where what it does is tried; nothing else then
}

// begins is how a block begins that people type.
var begins = regexp.MustCompile(`^(edgeagent|systemctl|journalctl|go|\./scripts/\S+)( |\n)`)

// follow types every line of the command blocks of a document in their order. A line that steps does not hold fails the test, and so
// does a step whose line is gone. do types one, and returns all that is printed and the exit code.
func follow(t *testing.T, d docs.Document, steps map[string]step, do func(line string) (string, int)) {
	t.Helper()
	left := map[string]bool{}
	for line := range steps {
		left[line] = true
	}
	for _, b := range d.Blocks {
		if b.Lang != "sh" && (b.Lang != "" || !begins.MatchString(b.Text)) {
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n") {
			command, _, _ := strings.Cut(line, " #")
			command = strings.TrimSpace(command)
			s, ok := steps[command]
			delete(left, command)
			switch {
			case !ok:
				t.Errorf("%s: nobody types %q, or says why not", d.Place(b.Line+i), command)
			case s.notHere == "":
				try(t, d.Place(b.Line+i), line, s, do)
			}
		}
	}
	for line := range left {
		t.Errorf("%s shows no %q any more", d.File, line)
	}
}

// try types one line.
func try(t *testing.T, place, line string, s step, do func(line string) (string, int)) {
	t.Helper()
	out, code := do(line)
	if s.runs != nil {
		s.runs()
		return
	}
	if code != s.code {
		t.Errorf("%s: %s: exit code %d, want %d\n%s", place, line, code, s.code, out)
	}
	for _, want := range s.prints {
		if !strings.Contains(out, want) {
			t.Errorf("%s: %s: no %q in\n%s", place, line, want, out)
		}
	}
}

// background starts a line that goes on until the test ends; dir and conf are as for typed.
func background(t *testing.T, dir, conf, line string) *testbed.Process {
	t.Helper()
	return testbed.Start(t, shell(t.Context(), dir, conf, "exec "+line), filepath.Join(t.TempDir(), "background.log"))
}

// What changes from run to run in what people see, and what stands for it.
var changes = []struct {
	what *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`\d[\d.,]* (s|min|h|d)\b( \d+ (s|min|h)\b)?`), "SPAN"},
	{regexp.MustCompile(`\d+(\.\d+)?`), "N"},
}

// shape is text in one line without what changes from run to run.
func shape(text string) string {
	for _, c := range changes {
		text = c.what.ReplaceAllString(text, c.name)
	}
	return strings.Join(strings.Fields(text), " ")
}

// document reads one of ours.
func document(t *testing.T, name string) docs.Document {
	t.Helper()
	d, err := docs.Read(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// block is the only block of a document that begins so.
func block(t *testing.T, d docs.Document, begins string) docs.Block {
	t.Helper()
	var found []docs.Block
	for _, b := range d.Blocks {
		if strings.HasPrefix(b.Text, begins) {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d blocks that begin with %q", d.File, len(found), begins)
	}
	return found[0]
}

// replaced puts what a test has in the place of what a document names; all of it must be there.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("no %q in\n%s", pairs[i], text)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
