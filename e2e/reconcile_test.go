package e2e

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// reconcileDoc holds the queries that are under test.
const reconcileDoc = "../docs/reconcile.md"

// queries are the blocks of one language in the documentation.
func queries(t *testing.T, language string) (list []string) {
	t.Helper()
	block := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, m := range block.FindAllStringSubmatch(string(readFile(t, reconcileDoc)), -1) {
		list = append(list, m[1])
	}
	return list
}

// A whole is what a window of a sensor comes to with all its readings.
type whole struct {
	Max   float64
	Count int64
}

// windowKey names a window: sensor and start in ns.
type windowKey struct {
	sensor string
	start  int64
}

// TestReconcile runs the queries of the documentation on what the agent uploads of a fleet with late readings, and wants the
// windows that there would be if the watermark waited for all of them.
func TestReconcile(t *testing.T) {
	t.Parallel()
	server := testbed.StartInfluxd(t, testbed.InfluxOptions{Flux: true})
	server.CreateDB("sensors")
	record := lateFleet(t)
	want := map[windowKey]whole{}
	truth := sim.Oracle(sim.Params{Size: 5 * time.Minute, Delay: 240 * time.Hour, Close: true}, sim.Items(record, false))
	for _, p := range truth.Last() {
		want[windowKey{p.Series.Sensor(), p.Start}] = whole{p.Max, p.Count}
	}
	late := upload(t, server, record)

	statements := queries(t, "influxql")
	if len(statements) != 5 {
		t.Fatalf("%d InfluxQL statements in %s, want 5", len(statements), reconcileDoc)
	}
	for range 2 { // again changes nothing
		server.Query("sensors", statements[0])
		server.Query("sensors", statements[1])
		sameWhole(t, "InfluxQL", fromInfluxQL(t, server.Query("sensors", statements[2])), want)
	}
	for i, statement := range statements[3:] {
		got := map[string]int64{}
		for _, s := range server.Query("sensors", statement) {
			n, err := s.Values[0][1].(json.Number).Int64()
			if err != nil {
				t.Fatal(err)
			}
			got[s.Tags["sensor"]] = n
		}
		if !maps.Equal(got, late) {
			t.Errorf("statement %d: late readings by sensor %v, want %v", 4+i, got, late)
		}
	}
	scripts := queries(t, "flux")
	if len(scripts) != 1 {
		t.Fatalf("%d Flux scripts in %s, want 1", len(scripts), reconcileDoc)
	}
	sameWhole(t, "Flux", fromFlux(t, server, scripts[0]), want)
}

// lateFleet is the record of a fleet of which a tenth is late and nothing is repeated.
func lateFleet(t *testing.T) (record []sim.Record) {
	t.Helper()
	seed := testbed.Random(t).Uint64()
	fleet, err := sim.NewFleet(sim.FleetParams{Sensors: 6, Rate: 0.2, Late: 0.1, For: 6 * time.Hour, Seed: seed,
		Start: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).UnixNano()})
	if err != nil {
		t.Fatal(err)
	}
	for m, ok := fleet.Next(); ok; m, ok = fleet.Next() {
		record = append(record, m.Record())
	}
	return record
}

// upload has the agent make points of a record and writes them to the server; it reports how many readings of each sensor were late.
func upload(t *testing.T, server *testbed.Influx, record []sim.Record) map[string]int64 {
	t.Helper()
	home := t.TempDir()
	conf, file := filepath.Join(home, "edgeagent.toml"), filepath.Join(home, "record.ndjson")
	writeFile(t, conf, "[gateway]\nid = \"gw\"\n[mqtt]\nbrokers = [\"tcp://127.0.0.1:1\"]\n[[source]]\ntopic = \"sensors/{sensor}/temperature\"\nvalue = \"temperature\"\n"+
		"time = \"ts\"\ntime_format = \"unix_ms\"\n[watermark]\nlate_readings = \"uplink\"\n[uplink]\nurl = \"http://127.0.0.1:1\"\ndatabase = \"sensors\"\n")
	var text []byte
	for _, r := range record {
		text = append(text, r.Line()...)
	}
	writeFile(t, file, string(text))
	lines, stderr, code := native(t).output(t, "replay", "-c", conf, "--close", file)
	if code != 0 {
		t.Fatalf("replay ended with %d: %s", code, stderr)
	}
	late := map[string]int64{}
	run := sim.Oracle(sim.Params{Size: 5 * time.Minute, Delay: 10 * time.Minute, Close: true}, sim.Items(record, false))
	for _, l := range run.Late {
		late[l.Reading.Series.Sensor()]++
	}
	if n := strings.Count("\n"+lines, "\nlate_readings,"); n != len(run.Late) || n < 20 {
		t.Fatalf("%d late readings were put out, want %d, and at least 20", n, len(run.Late))
	}
	resp, err := http.Post(server.URL()+"/write?db=sensors", "text/plain", strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("write: %s %s", resp.Status, body)
	}
	return late
}

// fromInfluxQL reads the tables of the last statement.
func fromInfluxQL(t *testing.T, tables []testbed.Series) map[windowKey]whole {
	t.Helper()
	got := map[windowKey]whole{}
	for _, s := range tables {
		if !slices.Equal(s.Columns, []string{"time", "max", "count"}) || s.Tags["gateway"] != "gw" {
			t.Fatalf("table %v of %v", s.Columns, s.Tags)
		}
		for _, row := range s.Values {
			put(t, got, s.Tags["sensor"], fmt.Sprint(row[0]), fmt.Sprint(row[1]), fmt.Sprint(row[2]))
		}
	}
	return got
}

// fromFlux runs a script and reads its table.
func fromFlux(t *testing.T, server *testbed.Influx, script string) map[windowKey]whole {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, server.URL()+"/api/v2/query", strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/vnd.flux")
	req.Header.Set("Accept", "application/csv")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := csv.NewReader(resp.Body)
	in.Comment, in.FieldsPerRecord = '#', -1
	rows, err := in.ReadAll()
	if err != nil || resp.StatusCode != http.StatusOK || len(rows) < 2 {
		t.Fatalf("Flux: %s, %v, %v", resp.Status, err, rows)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	got := map[windowKey]whole{}
	for _, row := range rows[1:] {
		at, err := time.Parse(time.RFC3339, row[column("_time")])
		if err != nil {
			t.Fatal(err)
		}
		put(t, got, row[column("sensor")], fmt.Sprint(at.UnixNano()), row[column("max")], row[column("count")])
	}
	return got
}

// put adds one window as a server wrote it; none may come twice.
func put(t *testing.T, got map[windowKey]whole, sensor, start, highest, count string) {
	t.Helper()
	var w whole
	at, err := strconv.ParseInt(start, 10, 64)
	if err == nil {
		w.Max, err = strconv.ParseFloat(highest, 64)
	}
	if err == nil {
		w.Count, err = strconv.ParseInt(count, 10, 64)
	}
	key := windowKey{sensor, at}
	if _, double := got[key]; err != nil || double {
		t.Fatalf("window %v twice: %v, or %v", key, double, err)
	}
	got[key] = w
}

func sameWhole(t *testing.T, what string, got, want map[windowKey]whole) {
	t.Helper()
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s: %s at %s: %+v, want %+v", what, key.sensor, time.Unix(0, key.start).UTC(), got[key], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d windows, want %d", what, len(got), len(want))
	}
}
