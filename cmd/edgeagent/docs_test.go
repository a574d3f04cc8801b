package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeagent/docs"
)

const root = "../.."

// Every command that a document shows or names is one that the command line, or the checkout, has. That it does what the text says
// is for the tests named in docs/blocks_test.go.
func TestCommandsOfDocuments(t *testing.T) {
	all, err := docs.All(root)
	if err != nil {
		t.Fatal(err)
	}
	shown, named := 0, 0
	for _, d := range all {
		for _, b := range d.Blocks {
			if b.Lang != "" && b.Lang != "sh" {
				continue
			}
			for _, c := range b.Commands() {
				if args, ours := ours(c.Line); ours {
					shown++
					if _, err := model(t).Parse(args); err != nil {
						t.Errorf("%s: %s: %v", c.Place, c.Line, err)
					}
				}
				isThere(t, c)
			}
		}
		for _, c := range d.Named() {
			args, _ := ours(c.Line)
			named++
			if _, err := model(t).Parse(args); err != nil && !incomplete.MatchString(err.Error()) {
				t.Errorf("%s: %s: %v", c.Place, c.Line, err)
			}
		}
	}
	if shown < 40 || named < 45 {
		t.Errorf("%d commands shown and %d named: too few", shown, named)
	}
}

// incomplete is what is said of a command that lacks an argument or a flag, as one named in a sentence may: "edgeagent buffer …".
var incomplete = regexp.MustCompile(`^(missing flags: |expected )|unexpected argument …$`)

// ours reports whether a line is a command of the program, and with which arguments.
func ours(line string) ([]string, bool) {
	line = strings.Replace(line, "go run ./cmd/edgeagent ", "edgeagent ", 1)
	args, ok := strings.CutPrefix(line, "edgeagent ")
	return strings.Fields(args), ok
}

// isThere fails the test if the command names a script or folder of the checkout that is not there.
func isThere(t *testing.T, c docs.Command) {
	t.Helper()
	for word := range strings.FieldsSeq(c.Line) {
		if strings.HasPrefix(word, "./") && !strings.Contains(word, "*") || strings.HasPrefix(word, "scripts/") {
			if _, err := os.Stat(filepath.Join(root, word)); err != nil {
				t.Errorf("%s: %s: %v", c.Place, c.Line, err)
			}
		}
	}
}
