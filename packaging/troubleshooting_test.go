package packaging

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// said is a heading with words of the program.
var said = regexp.MustCompile("(?m)^### `(.*)`$")

// TestTroubleshooting: the words that docs/troubleshooting.md explains are words that the program says.
func TestTroubleshooting(t *testing.T) {
	text, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		code, err := os.ReadFile(path)
		source.Write(code)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := said.FindAllStringSubmatch(string(text), -1)
	if len(all) < 15 {
		t.Errorf("%d headings found", len(all))
	}
	for _, words := range all {
		want := words[1]
		if state, ok := strings.CutPrefix(want, "uplink "); ok { // put together when it is said
			want = `= "` + state + `"`
		}
		if !strings.Contains(source.String(), want) {
			t.Errorf("the program never says %q", words[1])
		}
	}
}

// warned is a line of the log that somebody should look at.
var warned = regexp.MustCompile(`\.(?:Warn|Error)\("([^"]+)"`)

// stop is where the words end that lines of a kind have in common: at a semicolon, at a second colon, and behind "BUG".
var stop = regexp.MustCompile(`^(BUG|configuration): .*|^([^;:]*(?:: [^;:]*)?)[;:].*$`)

// TestWarningsExplained: the page explains every warning and error that the program logs, by its words up to the first stop.
func TestWarningsExplained(t *testing.T) {
	text, err := os.ReadFile("../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, folder := range []string{"agent", "buffer", "mqtt", "uplink", "status", "cmd/edgeagent"} {
		found, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	n := 0
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range warned.FindAllStringSubmatch(string(code), -1) {
			if strings.HasSuffix(file, "_test.go") || m[1] == "mqtt: " { // what follows is what paho says
				continue
			}
			n++
			words := stop.ReplaceAllString(m[1], "$1$2")
			if !strings.Contains(string(text), "`"+words) {
				t.Errorf("%s: troubleshooting.md does not explain %q", file, words)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d warnings found", n)
	}
}

// inText are the other words and commands of the program in the same page.
var inText = regexp.MustCompile("`(edgeagent [a-z]+(?: [a-z]+)?)")

// TestCommandsInDocs: the commands that the pages name are there.
func TestCommandsInDocs(t *testing.T) {
	help := command(t, nil, "go", "run", "./cmd/edgeagent", "--help")
	for _, name := range []string{"troubleshooting.md", "guide.md", "fleet.md", "central.md"} {
		text, err := os.ReadFile(filepath.Join("../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range inText.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(found[1])
			command := words[1]
			if command == "buffer" && len(words) > 2 {
				command += " " + words[2]
			}
			if !strings.Contains(help, "\n  "+command+" ") {
				t.Errorf("%s names edgeagent %s, which is not there", name, command)
			}
		}
	}
}
