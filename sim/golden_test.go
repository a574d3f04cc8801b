package sim

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"edgeagent/reading"

	"github.com/pelletier/go-toml/v2"
)

// goldenConfig is what a case's config.toml says that the oracle must know.
type goldenConfig struct {
	Window struct {
		Size            string `toml:"size"`
		AllowedLateness string `toml:"allowed_lateness"`
	} `toml:"window"`
	Watermark struct {
		Delay string `toml:"delay"`
		Scope string `toml:"scope"`
		Late  string `toml:"late"`
	} `toml:"watermark"`
}

// goldenNaming is what all cases have in common.
var goldenNaming = Naming{Tags: []reading.Tag{{Key: "gateway", Value: "gw"}}}

func TestGolden(t *testing.T) {
	configs, err := filepath.Glob("testdata/golden/*/config.toml")
	if err != nil || len(configs) != 20 {
		t.Fatalf("golden cases: got %d, %v, want 20", len(configs), err)
	}
	for _, config := range configs {
		dir := filepath.Dir(config)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			p := goldenParams(t, config)
			want := goldenLines(t, dir)
			got := Oracle(p, goldenItems(t, dir))
			checkSequences(t, got, want)
			if diffs := Compare(got, want, goldenNaming); diffs != nil {
				t.Errorf("last of each point: %q", diffs)
			}
			checkGoldenLedger(t, dir, got)
			if p.Allowed == 0 && got.Count(Updated) != 0 {
				t.Errorf("%d points updated without an allowance", got.Count(Updated))
			}
		})
	}
}

func goldenParams(t *testing.T, file string) Params {
	t.Helper()
	var c goldenConfig
	if err := toml.Unmarshal(readFile(t, file), &c); err != nil {
		t.Fatal(err)
	}
	duration := func(s string) time.Duration {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	return Params{
		Size: duration(c.Window.Size), Delay: duration(c.Watermark.Delay), Allowed: duration(c.Window.AllowedLateness),
		PerSensor: c.Watermark.Scope == "sensor", Strict: c.Watermark.Late == "event",
	}
}

// goldenItems are the messages of all runs of a case, in order.
func goldenItems(t *testing.T, dir string) []Item {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "messages-*.ndjson"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no messages in %s: %v", dir, err)
	}
	slices.Sort(files)
	var items []Item
	for _, file := range files {
		records, err := ReadRecords(bytes.NewReader(readFile(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, Items(records, true)...)
	}
	return items
}

func goldenLines(t *testing.T, dir string) []Line {
	t.Helper()
	lines, err := ParseLines(readFile(t, filepath.Join(dir, "expect.lp")))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// checkSequences compares what is put out for each point, one after another.
func checkSequences(t *testing.T, got Result, want []Line) {
	t.Helper()
	bySeries := func(lines []Line) map[key][]string {
		m := map[key][]string{}
		for _, l := range lines {
			m[keyOf(l)] = append(m[keyOf(l)], fieldText(l.Fields))
		}
		return m
	}
	var lines []Line
	for _, p := range got.Points {
		lines = append(lines, goldenNaming.Line(p))
	}
	g, w := bySeries(lines), bySeries(want)
	for _, k := range slices.Collect(maps.Keys(w)) {
		if !slices.Equal(g[k], w[k]) {
			t.Errorf("%s: got %q, want %q", k, g[k], w[k])
		}
	}
	if len(g) != len(w) {
		t.Errorf("got %d points, want %d", len(g), len(w))
	}
}

func checkGoldenLedger(t *testing.T, dir string, got Result) {
	t.Helper()
	var want Ledger
	if err := json.Unmarshal(readFile(t, filepath.Join(dir, "expect-ledger.json")), &want); err != nil {
		t.Fatal(err)
	}
	g := got.Ledger
	if !maps.Equal(g.Rejected, want.Rejected) {
		t.Errorf("rejected: got %v, want %v", g.Rejected, want.Rejected)
	}
	if g.Received != want.Received || g.Windowed != want.Windowed || g.Late != want.Late ||
		g.Duplicate != want.Duplicate || g.Retained != want.Retained {
		t.Errorf("ledger: got %+v, want %+v", g, want)
	}
	if !g.Balanced() {
		t.Errorf("ledger does not balance: %+v", g)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
