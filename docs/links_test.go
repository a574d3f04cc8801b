package docs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code    = regexp.MustCompile("`[^`]*`")
	page    = regexp.MustCompile(`[A-Za-z][A-Za-z-]*\.md\b`)
	outside = regexp.MustCompile(`https?://[^)\s]+`)
	heading = regexp.MustCompile(`^#+ (.*)$`)
)

// Every link leads to a file that is there, and to a heading in it if it names one; and every document that is named is there.
func TestLinks(t *testing.T) {
	links := 0
	for _, d := range documents(t) {
		for i, line := range d.Prose {
			for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				links++
				if problem := follow(t, d.File, m[1]); problem != "" {
					t.Errorf("%s: %s", d.Place(i), problem)
				}
			}
			for _, name := range page.FindAllString(outside.ReplaceAllString(line, ""), -1) {
				if !isFile(filepath.Join("..", name)) && !isFile(name) && !isFile(filepath.Join("..", "sim", "testdata", "golden", name)) {
					t.Errorf("%s: there is no document %s", d.Place(i), name)
				}
			}
		}
	}
	if links < 40 {
		t.Errorf("%d links found", links)
	}
}

// follow says what is wrong with a link of a document, "" if nothing.
func follow(t *testing.T, from, to string) string {
	t.Helper()
	name, anchor, _ := strings.Cut(to, "#")
	file := from
	if name != "" {
		file = filepath.Join(filepath.Dir(from), name)
	}
	if _, err := os.Stat(file); err != nil {
		return fmt.Sprintf("the link to %s leads nowhere: %v", to, err)
	}
	if anchor == "" {
		return ""
	}
	d, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range d.Prose {
		if m := heading.FindStringSubmatch(line); m != nil && anchorOf(m[1]) == anchor {
			return ""
		}
	}
	return fmt.Sprintf("%s has no heading #%s", file, anchor)
}

// anchorOf is what a heading is called in links: small letters, digits, hyphens for blanks.
func anchorOf(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func isFile(name string) bool {
	s, err := os.Stat(name)
	return err == nil && s.Mode().IsRegular()
}

// The front page leads to every document.
func TestFrontPage(t *testing.T) {
	front := flat(t, "../README.md")
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for _, file := range files {
		if !strings.Contains(front, "](docs/"+file+")") {
			t.Errorf("README.md has no link to docs/%s", file)
		}
	}
	for _, want := range []string{"](docs/status.png)", "](ARCHITECTURE.md)", "](CHANGELOG.md)", "](LICENSE)"} {
		if !strings.Contains(front, want) {
			t.Errorf("README.md has no link %s", want)
		}
	}
}

var testName = regexp.MustCompile(`\bTest[A-Z]\w*\b\*?`)

// Every test that a document names is there.
func TestNamedTests(t *testing.T) {
	there := testsOfAll(t)
	n := 0
	for _, d := range documents(t) {
		for i, line := range d.Prose {
			for _, name := range testName.FindAllString(line, -1) {
				n++
				prefix, some := strings.CutSuffix(name, "*")
				if !some && name != "TestX" && !strings.Contains(there, " "+name+" ") || some && !strings.Contains(there, " "+prefix) {
					t.Errorf("%s: there is no test %s", d.Place(i), name)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("%d names of tests found", n)
	}
}

// testsOfAll is the names of all tests of the checkout, each between blanks.
func testsOfAll(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../*/*_test.go")
	more, err2 := filepath.Glob("../*/*/*_test.go")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	names := " "
	for _, file := range append(files, more...) {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(code), -1) {
			names += m[1] + " "
		}
	}
	return names
}

// Blocks and sentences are told apart, and commands are taken out of blocks without what is round them.
func TestRead(t *testing.T) {
	const text = "# A\n\nUse `edgeagent status`:\n\n    $ edgeagent check -c F   # comment\n    out edgeagent x\n\n    $ sudo edgeagent run 2> log\n\ntext\n    more text\n\n```sh\ncat x | edgeagent try -\n\n    in\n```\nend\n"
	file := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, b := range d.Blocks {
		got += fmt.Sprintf("%d %q %q\n", b.Line, b.Lang, b.Text)
		for _, c := range b.Commands() {
			got += strings.TrimPrefix(c.Place, file) + " " + c.Line + "\n"
		}
	}
	for _, c := range d.Named() {
		got += strings.TrimPrefix(c.Place, file) + " " + c.Line + "\n"
	}
	want := "5 \"\" \"$ edgeagent check -c F   # comment\\nout edgeagent x\\n\\n$ sudo edgeagent run 2> log\\n\"\n" +
		":5 edgeagent check -c F\n:8 edgeagent run\n" +
		"14 \"sh\" \"cat x | edgeagent try -\\n\\n    in\\n\"\n:14 cat x\n:14 edgeagent try -\n:15 \n:16 in\n:17 \n" +
		":3 edgeagent status\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
