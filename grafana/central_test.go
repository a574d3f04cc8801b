package grafana

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// block is a query in a document.
var block = regexp.MustCompile("(?ms)^```(influxql|flux)\n(.*?)^```$")

// notIn18 is what the Flux of InfluxDB 1.8 lacks: tasks, and writing.
var notIn18 = regexp.MustCompile(`(?m)^option task = .*\n|^ *\|> to\(.*\n`)

// central runs every query of docs/central.md and then of docs/semantics.md in its order, and compares what some of them find with
// what is known.
func central(t *testing.T, influx *testbed.Influx, f *fleet) {
	var text []byte
	for _, file := range []string{"../docs/central.md", "../docs/semantics.md"} {
		more, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	known := []struct {
		words, key string
		fold       []string // each column over the days: max or sum; none is a single row
		want       string
		seen       bool
	}{
		{words: `tz('Europe/Berlin')`, key: "mute/cellar", fold: []string{"max", "sum"}, want: "12 360"},
		{words: "fn: max, createEmpty: false, timeSrc", key: "mute/attic", fold: []string{"max"}, want: "20"},
		{words: "fn: sum, createEmpty: false, timeSrc", key: "mute/cellar", fold: []string{"sum"}, want: "360"},
		{words: "r._value_late + r._value_good", key: "mute/cellar", want: "0.0625"}, // 24 of 384
		{words: `AS "windows"`, key: "mute/attic", want: "48"},
		{words: `SELECT sum("count") FROM "late_drops"`, key: "mute/cellar", want: "24"},
		{words: `last("parked")`, key: "queue", want: "3"},
	}
	blocks := block.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 14 {
		t.Fatalf("%d queries found", len(blocks))
	}
	a := asker{influx: influx, from: f.now.Add(-hours * time.Hour), to: f.now}
	for _, b := range blocks {
		a.flux = b[1] == "flux"
		rows := a.rows(t, notIn18.ReplaceAllString(b[2], ""))
		for i := range known {
			k := &known[i]
			if !k.seen && strings.Contains(b[2], k.words) {
				k.seen = true
				if got := summary(t, rows, k.key, k.fold); got != k.want {
					t.Errorf("%s: %s for %s, want %s", b[2], got, k.key, k.want)
				}
			}
		}
	}
	for _, k := range known {
		if !k.seen {
			t.Errorf("no query with %s", k.words)
		}
	}
	if got := len(influx.Query("sensors", `SELECT * FROM "sensors"."hourly"."temperature" GROUP BY *`)); got != 3 {
		t.Errorf("%d series downsampled, want 3", got)
	}
}

// summary is the values of one key, folded column by column.
func summary(t *testing.T, rows []row, key string, fold []string) string {
	t.Helper()
	var all []string
	folded := make([]float64, len(fold))
	for _, r := range rows {
		if r.key != key {
			continue
		}
		all = append(all, r.values...)
		for i, how := range fold {
			if x := parse(t, r.values[i]); how == "sum" {
				folded[i] += x
			} else {
				folded[i] = max(folded[i], x)
			}
		}
	}
	if fold == nil {
		return strings.Join(all, " ")
	}
	all = nil
	for _, x := range folded {
		all = append(all, value(x))
	}
	return strings.Join(all, " ")
}
