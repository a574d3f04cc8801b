package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeagent/configs"
)

// Commands and configurations of every document are looked at by TestCommandsOfDocuments of cmd/edgeagent and by TestConfigurations
// below. These tests do what the blocks say, with the program, servers and machines that are real.
var doneBy = []struct {
	file, lang string
	test       string // folder and function; "" with the words of the document that say why there is none
	why        string
}{
	{"guide.md", "sh", "packaging.TestGuide", ""},
	{"fleet.md", "sh", "packaging.TestFleet", ""},
	{"fleet.md", "toml", "packaging.TestFleet", ""},
	{"central.md", "influxql", "grafana.TestQueries", ""},
	{"central.md", "flux", "grafana.TestQueries", ""},
	{"semantics.md", "influxql", "grafana.TestQueries", ""},
	{"reconcile.md", "influxql", "e2e.TestReconcile", ""},
	{"reconcile.md", "flux", "e2e.TestReconcile", ""},
	{"reconcile.md", "sql", "", "no InfluxDB 3 is among our tests"},
	{"scale-out.md", "influxql", "e2e.TestSharedSubscription", ""},
	{"scale-out.md", "flux", "e2e.TestSharedSubscription", ""},
	{"scale-out.md", "sql", "", "no InfluxDB 3 is among our tests"},
	{"operations.md", "", "e2e.TestOperations", ""},
	{"metrics.md", "promql", "status.TestQueriesOfMetrics", ""},
	{"devices.md", "toml", "configs.TestDeviceExamples", ""},
	{"devices.md", "text", "configs.TestDeviceExamples", ""},
	{"uplink.md", "toml", "docs.TestUplinkExamples", ""},
}

// Every block in a language for machines is run by a test that is there, or its document says that none does.
func TestBlocksAreRun(t *testing.T) {
	shown := map[string]string{} // place, by document and language
	for _, d := range documents(t) {
		for _, b := range d.Blocks {
			shown[filepath.Base(d.File)+" "+b.Lang] = d.Place(b.Line)
		}
	}
	known := map[string]bool{}
	for _, by := range doneBy {
		key := by.file + " " + by.lang
		known[key] = true
		if shown[key] == "" {
			t.Errorf("%s has no block of %s", by.file, by.lang)
		}
		if by.test == "" {
			if text := flat(t, by.file); !strings.Contains(text, by.why) {
				t.Errorf("%s does not say %q", by.file, by.why)
			}
			continue
		}
		if folder, name, _ := strings.Cut(by.test, "."); !holds(t, folder, "func "+name+"(t ") {
			t.Errorf("there is no test %s", by.test)
		}
	}
	looked := map[string]bool{"": true, "sh": true, "toml": true} // by the tests of all documents
	for key, place := range shown {
		if _, lang, _ := strings.Cut(key, " "); !known[key] && !looked[lang] {
			t.Errorf("%s: no test runs this block of %s", place, lang)
		}
	}
}

// holds reports whether the tests in a folder hold a text.
func holds(t *testing.T, folder, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(code), text) {
			return true
		}
	}
	return false
}

// flat is a document in one line.
func flat(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func documents(t *testing.T) []Document {
	t.Helper()
	all, err := All("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 15 {
		t.Fatalf("%d documents found", len(all))
	}
	return all
}

// needed is what a configuration cannot do without, by the line that its table begins with.
var needed = []struct{ table, key, value string }{
	{"[gateway]", "id", `"gw-07"`},
	{"[mqtt]", "brokers", `["tcp://127.0.0.1:1883"]`},
	{"[[source]]", "topic", `"sensors/{sensor}/temperature"`},
	{"[uplink]", "url", "\"http://127.0.0.1:8086\"\ndatabase = \"sensors\""},
}

// whole fills in what a piece of a configuration leaves out.
func whole(piece string) string {
	for _, n := range needed {
		table := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(n.table) + `.*\n`)
		at := table.FindStringIndex(piece)
		given := false
		if at != nil {
			body, _, _ := strings.Cut(piece[at[1]:], "\n[")
			given = regexp.MustCompile(`(?m)^(preset|` + n.key + `) = `).MatchString(body) // a preset has a topic
		}
		switch {
		case at == nil:
			piece += n.table + "\n" + n.key + " = " + n.value + "\n"
		case !given:
			piece = piece[:at[1]] + n.key + " = " + n.value + "\n" + piece[at[1]:]
		}
	}
	return piece
}

// Every configuration, or piece of one, that a document shows is one with which the agent starts.
func TestConfigurations(t *testing.T) {
	table := regexp.MustCompile(`(?m)^\[\[?[a-z]+`)
	env := func(name string) (string, bool) { return "from-" + name, true }
	n := 0
	for _, d := range documents(t) {
		for _, b := range d.Blocks {
			if b.Lang != "toml" && (b.Lang != "" || !table.MatchString(b.Text) || !strings.Contains(b.Text, " = ")) {
				continue
			}
			n++
			c, err := configs.Parse("block", []byte(whole(b.Text)), env)
			if err == nil {
				err = c.CheckRun()
			}
			if err != nil {
				t.Errorf("%s: %v", d.Place(b.Line), err)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d configurations found", n)
	}
}
