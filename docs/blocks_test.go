package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"edgeagent/configs"
)

// Every block of every document is here: what is typed, asked or loaded is run by a test, with the program, servers and machines that
// are real; what is shown is held to what there is. Beside that commands and configurations of all documents are looked at by
// TestCommandsOfDocuments of cmd/edgeagent and by TestConfigurations below.
var doneBy = []struct {
	file, lang string
	begins     string // of the only block that is meant; "" is all of this language
	test       string // folder and function; "" where there is none
	why        string // there is no test; a block in a language for machines has these words in its document
}{
	{"README.md", "", "go run ./cmd/edgeagent demo", "e2e.TestReadme", ""},
	{"README.md", "", "[00:", "e2e.TestReadme", ""},
	{"README.md", "", "./scripts/test.sh", "", "it is what runs these tests"},
	{"README.md", "", "go build ./cmd/edgeagent", "e2e.TestReadme", ""},
	{"README.md", "toml", "", "e2e.TestReadme", ""},
	{"README.md", "sh", "", "e2e.TestReadme", ""},
	{"README.md", "", "temperature,gateway=gw-07", "e2e.TestReadme", ""},
	{"README.md", "", "$ edgeagent status", "e2e.TestReadmeStatus", ""},
	{"README.md", "", "20", "agent.TestSummaryOfReadme", ""},
	{"ARCHITECTURE.md", "", "broker -->", "", "a drawing"},
	{"guide.md", "sh", "", "packaging.TestGuide", ""},
	{"fleet.md", "sh", "", "packaging.TestFleet", ""},
	{"fleet.md", "toml", "", "packaging.TestFleet", ""},
	{"fleet.md", "", "GATEWAY_ID=", "packaging.TestFleet", ""},
	{"troubleshooting.md", "", "edgeagent doctor", "e2e.TestLooking", ""},
	{"status.md", "toml", "", "docs.TestConfigurations", ""},
	{"status.md", "", "edgeagent status", "e2e.TestLooking", ""},
	{"status.md", "", "edgeagent completion", "e2e.TestLooking", ""},
	{"configuration.md", "", "edgeagent check", "e2e.TestConfigurationExamples", ""},
	{"configuration.md", "", "edgeagent.toml:", "e2e.TestConfigurationExamples", ""},
	{"central.md", "influxql", "", "grafana.TestQueries", ""},
	{"central.md", "flux", "", "grafana.TestQueries", ""},
	{"semantics.md", "influxql", "", "grafana.TestQueries", ""},
	{"semantics.md", "", "arrives ", "e2e.TestSemanticsExample", ""},
	{"semantics.md", "", "event time M", "", "a drawing"},
	{"semantics.md", "", "finalized + ", "e2e.TestIdentityOfPoints", ""},
	{"reconcile.md", "toml", "", "docs.TestConfigurations", ""},
	{"reconcile.md", "influxql", "", "e2e.TestReconcile", ""},
	{"reconcile.md", "flux", "", "e2e.TestReconcile", ""},
	{"reconcile.md", "sql", "", "", "no InfluxDB 3 is among our tests"},
	{"reconcile.md", "", "late_readings,", "e2e.TestLateExamples", ""},
	{"reconcile.md", "", "{", "e2e.TestLateExamples", ""},
	{"scale-out.md", "toml", "", "docs.TestConfigurations", ""},
	{"scale-out.md", "influxql", "", "e2e.TestSharedSubscription", ""},
	{"scale-out.md", "flux", "", "e2e.TestSharedSubscription", ""},
	{"scale-out.md", "sql", "", "", "no InfluxDB 3 is among our tests"},
	{"operations.md", "", "edgeagent doctor", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent support", "e2e.TestOperations", ""},
	{"operations.md", "", "systemctl disable", "e2e.TestOperations", ""},
	{"operations.md", "", "03:12:07 ", "logs.TestLinesOfOperations", ""},
	{"operations.md", "", "edgeagent buffer stats", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent buffer parked", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent buffer readmit", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent buffer export points.lp", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent buffer export --readings", "e2e.TestOperations", ""},
	{"operations.md", "", "systemctl stop", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent buffer rewind", "e2e.TestOperations", ""},
	{"operations.md", "", "edgeagent advise", "e2e.TestOperations", ""},
	{"operations.md", "", "gw-07: how late", "cmd/edgeagent.TestAdviceOfDocuments", ""},
	{"metrics.md", "promql", "", "status.TestQueriesOfMetrics", ""},
	{"devices.md", "toml", "", "configs.TestDeviceExamples", ""},
	{"devices.md", "text", "", "configs.TestDeviceExamples", ""},
	{"uplink.md", "toml", "", "docs.TestUplinkExamples", ""},
	{"uplink.md", "", "the server's certificate", "uplink.TestCertificateOfDocuments", ""},
}

// Every block is done by one entry of doneBy, every entry does a block, and its test is there.
func TestBlocksAreRun(t *testing.T) {
	blocks := make([]int, len(doneBy))
	for _, d := range documents(t) {
		for _, b := range d.Blocks {
			n := 0
			for i, by := range doneBy {
				if by.file == filepath.Base(d.File) && by.lang == b.Lang && strings.HasPrefix(b.Text, by.begins) {
					blocks[i]++
					n++
				}
			}
			if n != 1 {
				first, _, _ := strings.Cut(b.Text, "\n")
				t.Errorf("%s: %d tests for the block of %q that begins with %q, want 1", d.Place(b.Line), n, b.Lang, first)
			}
		}
	}
	for i, by := range doneBy {
		if blocks[i] == 0 || by.begins != "" && blocks[i] > 1 {
			t.Errorf("%s has %d blocks of %q that begin with %q", by.file, blocks[i], by.lang, by.begins)
		}
		if by.test == "" {
			if by.why == "" || by.lang != "" && !strings.Contains(flat(t, by.file), by.why) {
				t.Errorf("%s does not say %q", by.file, by.why)
			}
			continue
		}
		at := strings.LastIndex(by.test, ".")
		if folder, name := by.test[:at], by.test[at+1:]; !holds(t, folder, "func "+name+"(t ") {
			t.Errorf("there is no test %s", by.test)
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
