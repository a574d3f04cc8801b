package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/status"
)

// TestConfigurationExamples types the command of docs/configuration.md on its own smallest file, and then puts the faults that the page
// shows into the lines that it names: check says of them what the page says.
func TestConfigurationExamples(t *testing.T) {
	t.Parallel()
	d, dir := document(t, "docs/configuration.md"), t.TempDir()
	if out, code := typed(t, dir, "", strings.ReplaceAll(tools, "PROGRAM", native(t)[0])); code != 0 {
		t.Fatal(out)
	}
	right := string(readFile(t, "../configs/minimal.toml"))
	writeFile(t, filepath.Join(dir, "FILE"), right)
	follow(t, d, map[string]step{
		"edgeagent check -c FILE": {prints: []string{`commit_interval = "5s"`, `delay = "10m"`}},
	}, func(line string) (string, int) { return typed(t, dir, "", line) })

	shown := block(t, d, "edgeagent.toml:").Text
	faults := regexp.MustCompile(`(?m)^edgeagent\.toml:(\d+):1: (\w+)\.(\w+): .*?(?:\(got (.*)\))?$`).FindAllStringSubmatch(shown, -1)
	lines := regexp.MustCompile(`(?m)^[^#\n]+`).FindAllString(right, -1)
	if len(faults) != 2 || len(lines) > 12 {
		t.Fatalf("%d faults shown, %d lines before them", len(faults), len(lines))
	}
	for i, f := range faults {
		value := f[4]
		if value == "" {
			value = `["max"]`
		}
		for fmt.Sprint(len(lines)+2) != f[1] { // the table, and then the key
			if lines = append(lines, "#"); len(lines) > 50 {
				t.Fatalf("fault %d cannot be in line %s", i+1, f[1])
			}
		}
		lines = append(lines, "["+f[2]+"]", f[3]+" = "+value)
	}
	writeFile(t, filepath.Join(dir, "edgeagent.toml"), strings.Join(lines, "\n")+"\n")
	out, code := typed(t, dir, "", "edgeagent check -c edgeagent.toml")
	if code != 2 || !strings.Contains(out, shown) {
		t.Errorf("exit code %d, and\n%swant 2, and\n%s", code, out, shown)
	}
}

// aDay is that of the examples which name none.
const aDay = "2026-03-01T"

// replayConfig is that of an example: one source, whose topic names a room too.
const replayConfig = `[gateway]
id = "gw-07"
[mqtt]
brokers = ["tcp://127.0.0.1:1"]
[[source]]
topic = "sensors/{room}/{sensor}/temperature"
sensor = "{sensor}"
value = "temperature"
time = "ts"
%s
[watermark]
late_readings = %q
[buffer]
dir = %q
[uplink]
url = "http://127.0.0.1:1"
database = "sensors"
`

// lineOf is a recorded message.
func lineOf(topic, at, value, arrival string) string {
	if arrival != "" {
		arrival = fmt.Sprintf(`, "time": %q`, arrival)
	}
	return fmt.Sprintf("{\"topic\": %q, \"payload\": {\"ts\": %q, \"temperature\": %s}%s}\n", topic, at, value, arrival)
}

// TestLateExamples makes the late reading that docs/reconcile.md shows, as it is uploaded and as it is exported.
func TestLateExamples(t *testing.T) {
	t.Parallel()
	d, dir := document(t, "docs/reconcile.md"), t.TempDir()
	point, object := block(t, d, "late_readings,").Text, block(t, d, `{"sensor"`).Text
	var late struct {
		Sensor        string
		Tags          map[string]string
		Time, Arrival string
		Value         json.Number
		LatenessS     float64 `json:"lateness_s"`
	}
	if err := json.Unmarshal([]byte(object), &late); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, late.Time)
	if err != nil {
		t.Fatal(err)
	}
	newest := at.Add(time.Duration(late.LatenessS * 1e9)).Format(time.RFC3339Nano)
	conf, state := filepath.Join(dir, "edgeagent.toml"), filepath.Join(dir, "state")
	writeFile(t, conf, fmt.Sprintf(replayConfig, `tags = { room = "{room}" }`, "uplink", state))
	writeFile(t, filepath.Join(dir, "record"), lineOf("sensors/1/terrace/temperature", newest, "20", "")+
		lineOf("sensors/"+late.Tags["room"]+"/"+late.Sensor+"/temperature", late.Time, late.Value.String(), late.Arrival))
	out, errs, code := native(t).output(t, "replay", "-c", conf, "--state", state, filepath.Join(dir, "record"))
	if code != 0 || out != point {
		t.Errorf("exit code %d, %s%swant\n%s", code, errs, out, point)
	}
	out, errs, code = native(t).output(t, "buffer", "export", "-c", conf, "--late", "--out", "-")
	if code != 0 || out != object {
		t.Errorf("exit code %d, %s%swant\n%s", code, errs, out, object)
	}
}

// A row of the example in docs/semantics.md.
var exampleRow = regexp.MustCompile(`^\d+ +(\d\d:\d\d) +([\d.]+) +(\d\d:\d\d) +(\d+:\d\d) +`)

// TestSemanticsExample replays the example of docs/semantics.md row by row: M and W are those that its table says, and each row puts out
// what stands below it.
func TestSemanticsExample(t *testing.T) {
	t.Parallel()
	conf := filepath.Join(t.TempDir(), "edgeagent.toml")
	writeFile(t, conf, fmt.Sprintf(replayConfig, "", "drop", filepath.Join(t.TempDir(), "none")))
	record, newest, rows, out := "", "", 0, []string(nil)
	for line := range strings.SplitSeq(block(t, document(t, "docs/semantics.md"), "arrives ").Text, "\n") {
		row := exampleRow.FindStringSubmatch(line)
		if row != nil || line == "" { // the row before is complete
			putsOut(t, conf, rows, record, out)
		}
		if row != nil {
			rows++
			record += lineOf("sensors/1/s/temperature", aDay+row[1]+":00Z", row[2], "")
			newest = max(newest, row[1])
			m, err := time.Parse("15:04", newest)
			if err != nil {
				t.Fatal(err)
			}
			if w := strings.TrimPrefix(m.Add(-10*time.Minute).Format("15:04"), "0"); row[3] != newest || row[4] != w {
				t.Errorf("row %d says M = %s and W = %s, not %s and %s", rows, row[3], row[4], newest, w)
			}
		}
		if _, point, ok := strings.Cut(line, "-> "); ok {
			out = append(out, examplePoint(t, point))
		}
	}
	if rows != 9 || len(out) != 3 {
		t.Errorf("%d rows and %d points in the example", rows, len(out))
	}
}

// putsOut fails the test unless a replay of the first rows of the example puts out these points.
func putsOut(t *testing.T, conf string, rows int, record string, want []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "record")
	writeFile(t, file, record)
	out, errs, code := native(t).output(t, "replay", "-c", conf, file)
	if got := strings.Fields(strings.ReplaceAll(out, " ", "_")); code != 0 || !slices.Equal(got, want) {
		t.Errorf("after %d rows replay has put out\n%s%swant\n%s", rows, out, errs, strings.Join(want, "\n"))
	}
}

// examplePoint is a point of the example as the program writes it, but without blanks.
func examplePoint(t *testing.T, short string) string {
	t.Helper()
	f := strings.Fields(short)
	at, err := time.Parse(time.RFC3339, aDay+f[len(f)-1]+":00Z")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s,gateway=gw-07,sensor=s_%s_%d", f[0], f[1], at.UnixNano())
}

// TestIdentityOfPoints: the sum that docs/semantics.md writes down has every column of a report once.
func TestIdentityOfPoints(t *testing.T) {
	text, err := json.Marshal(status.Points{})
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]any{}
	if err := json.Unmarshal(text, &columns); err != nil {
		t.Fatal(err)
	}
	delete(columns, "balanced")
	shown := strings.FieldsFunc(block(t, document(t, "docs/semantics.md"), "finalized + ").Text, func(r rune) bool { return strings.ContainsRune(" +=\n", r) })
	slices.Sort(shown)
	if want := slices.Sorted(maps.Keys(columns)); !slices.Equal(shown, want) {
		t.Errorf("docs/semantics.md has the columns %q, a report %q", shown, want)
	}
}
