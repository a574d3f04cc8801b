package status

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// sourcesReport has a source that is well, and one of which nearly all is refused.
func sourcesReport(topic, detail string) Report {
	r := dayReport()
	r.Sources = map[string]SourceTable{
		"ruuvi":     {Readings: 12, Rejected: map[string]int64{"decode": 0, "value": 0}},
		`cellar "2`: {Readings: 3, Rejected: map[string]int64{"decode": 1200, "no_value": 2, "value": 0}, LastRefusal: &Refusal{Time: "2026-03-01T14:02:00Z", Topic: topic, Reason: "decode", Detail: detail}},
	}
	return r
}

func TestRefusedInText(t *testing.T) {
	var got []string
	for line := range strings.Lines(text(t, sourcesReport("cellar/2", "value is an object"))) {
		if strings.HasPrefix(line, "refused") || len(got) > 0 && strings.HasPrefix(line, strings.Repeat(" ", labelWidth)) {
			got = append(got, strings.TrimSpace(strings.TrimPrefix(line, "refused")))
		} else if len(got) > 0 {
			break
		}
	}
	want := []string{
		`cellar "2: decode 1,200, no_value 2 since the start, beside 3`, "readings",
		"last 2026-03-01T14:02:00Z, 1 min 0 s ago, decode on cellar/2: value",
		"is an object",
	}
	if !slices.Equal(got, want) {
		t.Errorf("text says %q, want %q", got, want)
	}
	if all := text(t, dayReport()); strings.Contains(all, "refused") {
		t.Errorf("refusals are told of where there are none:\n%s", all)
	}
}

func TestSourcesInMetrics(t *testing.T) {
	all := exposition(t, sourcesReport("x", "y"))
	got := values(all)
	for name, want := range map[string]string{
		`source_readings_total{source="ruuvi"}`:                      "12",
		`source_rejected_total{source="ruuvi",reason="decode"}`:      "0",
		`source_rejected_total{source="cellar \"2",reason="decode"}`: "1200",
	} {
		if got["edgeagent_"+name] != want {
			t.Errorf("%s = %q, want %s", name, got["edgeagent_"+name], want)
		}
	}
	problems, err := promlint.New(strings.NewReader(all)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", err, problems)
	}
}

// What a device wrote reaches a terminal escaped and cut, and stays valid JSON.
func TestRefusalsOfAHostileDevice(t *testing.T) {
	evil := "\x1b[2J<script>\u202e\r\n\x00\xff" + strings.Repeat(" 温度", 400)
	r := sourcesReport(evil, evil)
	r.Sources[evil] = r.Sources[`cellar "2`]
	for line := range strings.Lines(text(t, r)) {
		line = strings.TrimSuffix(line, "\n")
		if columns(line) > 80 || strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("line %q", line)
		}
	}
	js, err := json.Marshal(r.tidy())
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(js, &back); err != nil {
		t.Fatal(err)
	}
	l := back.Sources[`cellar "2`].LastRefusal
	if l == nil || len([]rune(l.Topic)) > maxError+1 || len([]rune(l.Detail)) > maxError+1 || strings.ContainsAny(l.Detail, "\x1b\n\u202e") {
		t.Errorf("last refusal %+v", l)
	}
	if r.Sources[`cellar "2`].LastRefusal.Topic != evil {
		t.Error("tidy has changed what it was given")
	}
}
