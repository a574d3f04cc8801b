package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeagent/docs"
)

// The table of docs/operations.md has every check by its name, and no other.
func TestChecksDocumented(t *testing.T) {
	d, err := docs.Read("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(strings.Join(d.Prose, "\n"), "| line | what is looked at |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	shown := map[string]bool{}
	for row := range strings.Lines(table) {
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			shown[m[1]] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil || !found || len(shown) < 20 {
		t.Fatalf("%v; %d checks in docs/operations.md", err, len(shown))
	}
	var code string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			code += string(text)
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:ok|warn|fail)\("([a-z]+)"`).FindAllStringSubmatch(code, -1) {
		if !shown[m[1]] {
			t.Errorf("docs/operations.md does not tell of the check %s", m[1])
		}
	}
	for name := range shown {
		if !strings.Contains(code, `"`+name+`"`) {
			t.Errorf("docs/operations.md tells of a check %s, which is not there", name)
		}
	}
}
