package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgeagent/status"
	"edgeagent/testbed"
)

// A reader asks the status server with the token, as a browser does.
type reader struct {
	t      *testing.T
	url    string
	client *http.Client
}

func (r reader) get(path string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.SetBasicAuth("", "s3cret")
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { res.Body.Close() })
	return res
}

func (r reader) text(path string) string {
	r.t.Helper()
	text, err := io.ReadAll(r.get(path).Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// metric is the value of a metric with its labels, -1 if it is not there.
func metric(text, name string) float64 {
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return -1
	}
	return v
}

// checkWork compares the metrics of what the process has done.
func checkWork(t *testing.T, text string) {
	t.Helper()
	commits := metric(text, "edgeagent_commit_duration_seconds_count")
	uploads := metric(text, `edgeagent_upload_duration_seconds_count{outcome="settled"}`)
	if commits < 2 || uploads < 1 || metric(text, "edgeagent_store_syncs_total") != 2*commits || metric(text, "edgeagent_store_written_bytes_total") < 16384 {
		t.Errorf("%v commits, %v uploads in\n%s", commits, uploads, text)
	}
}

// TestStatusPage looks at an agent that has uploaded: the page, its table, the metrics and the command say the same.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: v1(server.URL(), "edge") + "health_interval = \"0s\"\n", buffer: quick})
	token := filepath.Join(t.TempDir(), "token")
	writeFile(t, token, "s3cret\n")
	port := testbed.FreePort(t)
	w.reconfigure(`listen = ""`, fmt.Sprintf("listen = \"127.0.0.1:%d\"\ntoken_file = %q", port, token))
	w.start()
	awaitSubscription(t, b, "gw")
	p := newPublisher(t, b.URL())
	p.publish(windowed(20)...)
	late := windowed(1)[:1]
	late[0].Payload = []byte(strings.Replace(string(late[0].Payload), ": 0.5", ": 9.5", 1)) // no repeat, but late
	p.publish(late...)
	w.await(soon, "delivery", func(r status.Report) bool { return r.Points.Uploaded == 20 && r.Ledger.Late == 1 && queued(0)(r) })

	transport := &http.Transport{DisableKeepAlives: true}
	r := reader{t, fmt.Sprintf("http://127.0.0.1:%d/", port), &http.Client{Transport: transport}}
	if res, err := r.client.Get(r.url); err != nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %v, %v, want 401", res, err)
	} else {
		res.Body.Close()
	}
	page := r.text("")
	for _, want := range []string{"the books balance", `<th scope="row">a</th>`, "22.5 °C", `<p class="word good">connected</p>`, "1 reading came when their window was final."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page[strings.Index(page, "<body>"):])
		}
	}
	var table struct{ Sensors []status.Sensor }
	if err := json.Unmarshal([]byte(r.text("sensors")), &table); err != nil || len(table.Sensors) != 1 {
		t.Fatalf("sensors: %v, %+v", err, table)
	}
	if s := table.Sensors[0]; s.Name != "a" || s.Value == nil || *s.Value != 22.5 || s.Late != 1 || s.Open != 3 || s.LagS == nil || s.Last == "" {
		t.Errorf("sensor %+v", s)
	}
	checkWork(t, r.text("metrics"))
	out, _, code := w.prog.output(t, "status", "-c", w.conf)
	if code != 0 || !strings.Contains(out, "late       1 of a\n") || !strings.Contains(out, "queued ") {
		t.Errorf("status: exit code %d, %s", code, out)
	}
	out, _, code = w.prog.output(t, "status", "-c", w.conf, "--sensors")
	if code != 0 || !regexp.MustCompile(`(?m)^a +22\.5 °C .* 3 +1 +-$`).MatchString(out) {
		t.Errorf("status --sensors: exit code %d, %s", code, out)
	}
	// A page that is looked at does not keep the agent from stopping.
	events := bufio.NewReader(r.get("events").Body)
	if line, err := events.ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: {") {
		t.Errorf("first event %.80q, %v", line, err)
	}
	w.stop()
	if _, err := io.ReadAll(events); err != nil && !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream ended with %v", err)
	}
}
