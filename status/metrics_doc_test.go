package status

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"edgeagent/docs"
)

var updateDocs = flag.Bool("update-docs", false, "write the table of docs/metrics.md")

// unitOf is the unit that a metric's name tells.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"timestamp_seconds", "seconds", "bytes"} {
		if strings.HasSuffix(name, "_"+unit) {
			return strings.Replace(unit, "timestamp_seconds", "seconds since 1970", 1)
		}
	}
	return "–"
}

// labelsOf are the labels of a family, with the values they may have where these are few and known.
func labelsOf(f family) string {
	label := ""
	for _, s := range f.samples {
		label = s.label
	}
	for _, h := range f.histograms {
		label = h.label
	}
	if label == "" {
		return "–"
	}
	label = regexp.MustCompile(`="(\\.|[^"\\])*"`).ReplaceAllString(label, "") // the value of the first of two
	return "`" + strings.ReplaceAll(label, ",", "`, `") + "`"
}

func metricsTable(r Report) string {
	var b strings.Builder
	b.WriteString("| metric | type | unit | label | meaning |\n|---|---|---|---|---|\n")
	for _, f := range families(r) {
		fmt.Fprintf(&b, "| `edgeagent_%s` | %s | %s | %s | %s |\n", f.name, f.kind, unitOf(f.name), labelsOf(f), f.help)
	}
	return b.String()
}

// The table in the document holds each metric, with the words of its help, and no other.
func TestMetricsDocument(t *testing.T) {
	const path = "../docs/metrics.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?m)^\| metric(?s:.*?)\n\n`)
	want := metricsTable(sourcesReport("cellar/2", "no number")) + "\n"
	if *updateDocs {
		text = table.ReplaceAllLiteral(text, []byte(want))
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(table.Find(text)); got != want {
		t.Errorf("docs/metrics.md is not current (go test ./status -run MetricsDocument -update-docs); it has\n%s\nwant\n%s", got, want)
	}
}

// rules is the part of a file of alert rules that is checked.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// series are the names under which Prometheus stores what a report gives.
func series(r Report) map[string]bool {
	known := make(map[string]bool)
	for _, f := range families(r) {
		known["edgeagent_"+f.name] = true
		if f.kind == "histogram" {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				known["edgeagent_"+f.name+end] = true
			}
		}
	}
	return known
}

// The queries of the document ask for what there is. (No Prometheus is at hand to run them.)
func TestQueriesOfMetrics(t *testing.T) {
	d, err := docs.Read("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	known, queries := series(dayReport()), 0
	for _, b := range d.Blocks {
		if b.Lang != "promql" {
			continue
		}
		for i, line := range strings.Split(b.Text, "\n") {
			names := regexp.MustCompile(`edgeagent_\w+`).FindAllString(line, -1)
			if len(names) == 0 {
				continue
			}
			queries++
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s: there is no metric %s", d.Place(b.Line+i), name)
				}
			}
			if strings.Count(line, "(") != strings.Count(line, ")") || strings.Count(line, "[") != strings.Count(line, "]") {
				t.Errorf("%s: brackets of %q", d.Place(b.Line+i), line)
			}
		}
	}
	if queries < 5 {
		t.Errorf("%d queries found", queries)
	}
}

// Every alert names metrics that there are, has a severity and a summary.
func TestAlertRules(t *testing.T) {
	text, err := os.ReadFile("../docs/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file rules
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	known := series(dayReport())
	var names []string
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			names = append(names, r.Alert)
			used := regexp.MustCompile(`edgeagent_\w+`).FindAllString(r.Expr, -1)
			if len(used) == 0 && !strings.HasPrefix(r.Expr, "up{") {
				t.Errorf("%s: %q names no metric", r.Alert, r.Expr)
			}
			for _, name := range used {
				if !known[name] {
					t.Errorf("%s: there is no metric %s", r.Alert, name)
				}
			}
			if s := r.Labels["severity"]; s != "page" && s != "ticket" || r.Annotations["summary"] == "" {
				t.Errorf("%s: severity %q, summary %q", r.Alert, s, r.Annotations["summary"])
			}
			if strings.Count(r.Expr, "(") != strings.Count(r.Expr, ")") {
				t.Errorf("%s: brackets of %q", r.Alert, r.Expr)
			}
		}
	}
	if len(names) < 15 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("alerts %q: too few, or one twice", names)
	}
}

// The scrape example is YAML, and asks for the token as the server wants it.
func TestScrapeExample(t *testing.T) {
	text, err := os.ReadFile("../docs/prometheus/scrape.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Jobs []struct {
			Name          string `yaml:"job_name"`
			Authorization struct{ Type string }
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Jobs) != 1 || file.Jobs[0].Name != "edgeagent" || file.Jobs[0].Authorization.Type != "Bearer" {
		t.Errorf("%+v", file)
	}
}
