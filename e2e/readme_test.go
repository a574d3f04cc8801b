package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// TestReadme types the commands of README.md on a checkout: the demo prints what is shown of it; the program is built, and run with the
// configuration that is shown, a broker and a server. What arrives there is of the kind that is shown.
func TestReadme(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("sensors")
	d, dir := document(t, "README.md"), t.TempDir()
	conf := filepath.Join(dir, "edgeagent.toml")
	writeFile(t, filepath.Join(dir, "token"), "anybody:may\n")
	writeFile(t, conf, replaced(t, block(t, d, "[gateway]").Text, "tcp://127.0.0.1:1883", b.URL(), "https://influx.example.com", server.URL(),
		"/etc/edgeagent/secrets/token", filepath.Join(dir, "token"))+
		fmt.Sprintf("health_interval = \"1s\"\n[buffer]\ndir = %q\n%s\n[http]\nlisten = \"\"\n", filepath.Join(dir, "data"), quick))
	writeFile(t, filepath.Join(dir, "FILE"), `{"topic": "sensors/kitchen/temperature", "payload": `+commentOf(t, conf)+"}\n")
	if out, code := typed(t, dir, conf, strings.ReplaceAll(tools, "PROGRAM", filepath.Join(dir, "built", "edgeagent"))); code != 0 {
		t.Fatal(out)
	}
	begun := func() {
		waitFor(t, soon, "the agent that README.md starts", nil, func() bool { _, code := typed(t, dir, conf, "edgeagent status"); return code == 0 })
		awaitSubscription(t, b, "gw-07")
		newPublisher(t, b.URL()).publish(anHour()...)
	}
	var demo *testbed.Process
	follow(t, d, map[string]step{
		"go run ./cmd/edgeagent demo":          {runs: func() {}}, // half a minute: the others need not wait
		"./scripts/test.sh":                    {notHere: "it is what runs this test"},
		"go build ./cmd/edgeagent":             {},
		"./scripts/cross-build.sh":             {notHere: "scripts/test.sh runs it, for one board"},
		"./scripts/package.sh":                 {notHere: "the tests of packaging/ run it"},
		"edgeagent check -c edgeagent.toml":    {prints: []string{`id = "gw-07"`}},
		"edgeagent try -c edgeagent.toml FILE": {prints: []string{"kitchen", "27.22", "2026-06-01T08:00:03.805Z"}},
		"edgeagent doctor -c edgeagent.toml":   {prints: []string{"OK    broker", "OK    uplink", "OK    disk"}},
		"edgeagent run -c edgeagent.toml":      {runs: begun},
		"edgeagent status -c edgeagent.toml":   {prints: []string{"edgeagent gw-07, version ", "the books balance"}},
		"edgeagent advise -c edgeagent.toml":   {code: 1, prints: []string{"how late readings come"}}, // of so few
	}, func(line string) (string, int) {
		switch {
		case strings.HasPrefix(line, "go run "):
			demo = background(t, "..", conf, "env GOFLAGS=-buildvcs=false "+line)
			return "", 0
		case strings.HasPrefix(line, "go build "):
			return typed(t, "..", conf, "GOFLAGS='-buildvcs=false -o="+filepath.Join(dir, "built")+"/' "+line)
		case strings.HasPrefix(line, "edgeagent run "):
			background(t, dir, conf, line)
			return "", 0
		}
		return typed(t, dir, conf, line)
	})
	arrives(t, server, block(t, d, "temperature,gateway=gw-07").Text)
	code, ok := demo.Wait(inTheEnd)
	if !ok || code != 0 {
		t.Fatalf("the demo ended with %d, in time %v", code, ok)
	}
	demonstrates(t, demo.Log(), block(t, d, "[00:").Text)
}

// commentOf is the payload that the comment of a configuration shows.
func commentOf(t *testing.T, conf string) string {
	t.Helper()
	payload := regexp.MustCompile(`# (\{.*\})`).FindStringSubmatch(string(readFile(t, conf)))
	if payload == nil {
		t.Fatal("the configuration shows no payload")
	}
	return payload[1]
}

// anHour is an hour of ten sensors up to now, one reading each minute, and one that comes half an hour too late.
func anHour() (all []sim.Record) {
	from := time.Now().Add(-time.Hour)
	put := func(sensor int, at time.Time) {
		all = append(all, sim.Record{Topic: fmt.Sprintf("sensors/s%d/temperature", sensor), Payload: fmt.Appendf(nil, `{"temperature": 2%d.25, "ts": %d}`, sensor, at.UnixMilli())})
	}
	for minute := range 60 {
		for sensor := range 10 {
			put(sensor, from.Add(time.Duration(minute)*time.Minute))
		}
		if minute == 45 {
			put(0, from.Add(90*time.Second))
		}
	}
	return all
}

// more stands at the end of a line of which not all is shown.
var more = regexp.MustCompile(`,\.\.\. `)

// arrives fails the test unless the server gets a point like each of the lines shown: measurement, tags, and fields with their types.
func arrives(t *testing.T, server *testbed.Influx, shown string) {
	t.Helper()
	for line := range strings.Lines(shown) {
		want := decode(t, []byte(more.ReplaceAllString(line, " ")))[0]
		tags := map[string]string{}
		for _, tag := range want.Tags {
			tags[tag.Key] = tag.Value
		}
		all := kinds(tags, want.Fields)
		var got []string
		waitFor(t, soon, "a point as README.md shows: "+line, func() string { return fmt.Sprint(got) }, func() bool {
			for _, p := range server.Points("sensors", want.Measurement) {
				got = kinds(p.Tags, p.Fields)
				if slices.Equal(got, all) || more.MatchString(line) && !slices.ContainsFunc(all, func(k string) bool { return !slices.Contains(got, k) }) {
					return true
				}
			}
			return false
		})
	}
}

// kinds are the tags and fields of a point with their types, in the order of their names.
func kinds(tags map[string]string, fields map[string]any) (all []string) {
	for name := range tags {
		all = append(all, name+" tag")
	}
	for name, value := range fields {
		all = append(all, fmt.Sprintf("%s %T", name, value))
	}
	slices.Sort(all)
	return all
}

// demonstrates fails the test unless the demo has printed each line that is shown of it, but for times, numbers and causes.
func demonstrates(t *testing.T, out, shown string) {
	t.Helper()
	cause := regexp.MustCompile(`cause=("[^"]*"|\S+)|retry_in=\S+`)
	said := cause.ReplaceAllString(shape(out), "$")
	shown = regexp.MustCompile(`\n +attempts=`).ReplaceAllString(shown, " attempts=") // one line, broken
	n := 0
	for line := range strings.SplitSeq(shown, "\n") {
		if line == "" || line == "..." {
			continue
		}
		if n++; !strings.Contains(said, cause.ReplaceAllString(shape(line), "$")) {
			t.Errorf("the demo does not say %q\n%s", line, out)
		}
	}
	if n < 14 {
		t.Errorf("README.md shows %d lines of the demo", n)
	}
}

// TestReadmeStatus makes the fault of which README.md shows the status, and asks until the answer has the shape of what it shows.
func TestReadmeStatus(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	slow := strings.Replace(v1(server.URL(), "edge"), `retry_max = "1s"`, `retry_max = "1h"`, 1)
	g := newGateway(t, native(t), config{id: "gw-07", broker: b.URL(), uplink: slow, buffer: quick})
	g.start()
	awaitSubscription(t, b, "gw-07")
	newPublisher(t, b.URL()).publish(anHour()...)
	g.await(soon, "the refusal", func(r status.Report) bool { return r.Uplink.State == "blocked" && r.Points.Queued > 50 })
	want, got := block(t, document(t, "README.md"), "$ edgeagent status").Text, ""
	want = strings.TrimPrefix(want, "$ edgeagent status\n")
	waitFor(t, soon, "a status like that of README.md", func() string { return got }, func() bool {
		got, _, _ = g.prog.output(t, "status", "-c", g.conf)
		return strings.HasPrefix(shape(got), shape(want))
	})
	labels := func(text string) []string { return regexp.MustCompile(`(?m)^\S+`).FindAllString(text, -1) }
	shown := labels(want)
	if said := labels(got); len(said) < len(shown) || strings.Join(said[:len(shown)], " ") != strings.Join(shown, " ") {
		t.Errorf("the status begins its lines with %q, README.md with %q", said, shown)
	}
	g.stop()
}
