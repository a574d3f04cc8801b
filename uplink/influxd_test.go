package uplink

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/testbed"
)

// freeAddr is a local address that nobody listens on.
func freeAddr(t testing.TB) string { return fmt.Sprintf("127.0.0.1:%d", testbed.FreePort(t)) }

// influxd is a real InfluxDB 1.8 of its own, with a database db.
type influxd struct {
	t   testing.TB
	url string
}

func startInfluxd(t testing.TB) *influxd {
	t.Helper()
	i := testbed.StartInfluxd(t, testbed.InfluxOptions{})
	i.CreateDB("db")
	return &influxd{t, i.URL()}
}

// query runs InfluxQL and gives the rows of all series, each with its series' tags in front.
func (s *influxd) query(db, q string) (rows [][]string) {
	s.t.Helper()
	res, err := http.PostForm(s.url+"/query", url.Values{"db": {db}, "q": {q}, "epoch": {"ns"}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		Results []struct {
			Error  string
			Series []struct {
				Tags   map[string]string
				Values [][]any
			}
		}
	}
	d := json.NewDecoder(res.Body)
	d.UseNumber()
	if err := d.Decode(&answer); err != nil || len(answer.Results) != 1 || answer.Results[0].Error != "" {
		s.t.Fatalf("%s: %v, %+v", q, err, answer)
	}
	for _, series := range answer.Results[0].Series {
		for _, values := range series.Values {
			row := []string{series.Tags["sensor"]}
			for _, v := range values {
				row = append(row, fmt.Sprint(v))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// Trials D1, D2, D3, D10, D11 against the real server, with both APIs it serves.
func TestRealServer(t *testing.T) {
	s := startInfluxd(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	s.query("", `CREATE RETENTION POLICY year ON db DURATION 52w REPLICATION 1`)
	s.trial(Config{API: "v1", Database: "db"}, "autogen", t0)
	s.trial(Config{API: "v2", Bucket: "db/year", Gzip: true}, "year", time.Now().UnixNano(),
		"temperature,sensor=old max=1,count=1i "+fmt.Sprint(t0), "points beyond retention policy")
	if got := s.query("db", `SELECT count FROM temperature WHERE time = '2023-11-14T22:15:00Z'`); len(got) != 1 {
		t.Errorf("T0 reads back as %v", got)
	}
}

// trial delivers windows of awkward sensors at the time at, and lines that the server refuses: some, and those given as
// pairs of line and part of the reason.
func (s *influxd) trial(cfg Config, policy string, at int64, refused ...string) {
	s.t.Helper()
	cfg.URL, cfg.Timeout, cfg.RetryMin, cfg.RetryMax = s.url, 20*time.Second, time.Millisecond, 10*time.Millisecond
	lines, want := realLines(s.t, at)
	lines = append(lines, "conflict max=1i,count=1i "+fmt.Sprint(at))
	refused = append(refused, "conflict max=1.5 "+fmt.Sprint(at+1), "field type conflict", "not a line", "unable to parse")
	for i := 0; i < len(refused); i += 2 {
		lines = append(lines, refused[i])
	}
	m := newMemory(s.t, lines...)
	_, stop := start(s.t, cfg, m)
	m.drained()
	m.add("conflict max=3i " + fmt.Sprint(at+2))
	m.drained()
	stop()
	s.wantParked(m, refused...)
	got := s.query("db", `SELECT max, count FROM `+policy+`.temperature GROUP BY sensor`)
	slices.SortFunc(got, slices.Compare)
	slices.SortFunc(want, slices.Compare)
	if !reflect.DeepEqual(got, want) {
		s.t.Errorf("%s:\ngot  %q\nwant %q", policy, got, want)
	}
	if got, want := s.query("db", `SELECT max FROM `+policy+`.conflict`), fmt.Sprintf("[[ %d 1] [ %d 3]]", at, at+2); fmt.Sprint(got) != want {
		s.t.Errorf("%s: got %v, want %s", policy, got, want)
	}
}

// realLines encodes a window of every awkward sensor, and gives what the server should tell of them.
func realLines(t testing.TB, at int64) (lines []string, want [][]string) {
	e := newTestEncoder(t, Identity{})
	for i, name := range slices.Concat(awkward, []string{"s1", "s2"}) {
		line, err := e.Window(nil, reading.Series(name), at+int64(i), 0, fold(float64(i), -5), false, false)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
		want = append(want, []string{name, fmt.Sprint(at + int64(i)), fmt.Sprint(i), "2"})
	}
	return lines, want
}

// wantParked compares what is parked with pairs of a line's beginning and a part of its reason.
func (s *influxd) wantParked(m *memory, pairs ...string) {
	s.t.Helper()
	if len(m.parked) != len(pairs)/2 {
		s.t.Errorf("parked %q", m.parked)
	}
	for i := 0; i < len(pairs); i += 2 {
		found := false
		for line, reason := range m.parked {
			found = found || strings.HasPrefix(line, pairs[i]) && strings.Contains(reason, pairs[i+1])
		}
		if !found {
			s.t.Errorf("%s… is not parked for %q: %q", pairs[i], pairs[i+1], m.parked)
		}
	}
}
