package uplink

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// words are the outcomes as docs/uplink.md calls them.
var words = map[string]outcome{"stored": settled, "refused": refused, "too large": tooLarge, "denied": denied,
	"blocked": blocked, "portal": portal, "busy": busy, "down": down}

// A sample is an answer but for its code.
type sample struct {
	header map[string]string
	body   string
}

// samples are the answers that the table's second column speaks of.
var samples = map[string][]sample{
	"anything":                              {{nil, ""}, {nil, "<html>"}, {nil, `{"error":"x"}`}, {influxHeader, ""}, {nil, "text"}},
	"anything but a page":                   {{nil, ""}, {influxHeader, ""}, {map[string]string{"Content-Type": "application/json"}, ""}},
	"anything else":                         {{nil, ""}, {nil, "<html>our retention"}, {nil, "text"}, {map[string]string{"Location": "/"}, ""}},
	"a page":                                {{map[string]string{"Content-Type": "text/html"}, ""}, {map[string]string{"Content-Length": "7"}, ""}},
	"the header of InfluxDB":                {{influxHeader, ""}, {map[string]string{"X-Influxdb-Build": "OSS"}, "{}"}},
	"an error of InfluxDB":                  {{nil, `{"error":"x"}`}, {nil, `{"code":"invalid","message":"x"}`}, {nil, `{"error":"partial wri`}},
	"an error of InfluxDB that names lines": {{nil, `{"code":"invalid","line":2,"message":"x"}`}},
	"an error about retention":              {{nil, `{"error":"partial write: points beyond retention policy"}`}, {nil, "outside of retention"}},
}

// The table of docs/uplink.md says what the switch does.
func TestDocumentedOutcomes(t *testing.T) {
	text, err := os.ReadFile("../docs/uplink.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## What each answer means")
	table, _, _ = strings.Cut(table, "\n## ")
	var seen []int
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || cells[1] == " answer " || cells[1] == " none " || cells[1] == "---" {
			continue
		}
		with, want := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])
		outcome, known := words[want]
		if !known || samples[with] == nil {
			t.Errorf("unknown words: %s", line)
		}
		for code := range strings.SplitSeq(cells[1], ",") {
			status, err := strconv.Atoi(strings.TrimSpace(code))
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			seen = append(seen, status)
			for _, s := range samples[with] {
				if a := respond(status, s.header, s.body); a.outcome != outcome {
					t.Errorf("%d with %s (%v %q) is %v, the document says %s", status, with, s.header, s.body, a.outcome, want)
				}
			}
		}
	}
	slices.Sort(seen)
	if seen = slices.Compact(seen); len(seen) < 50 {
		t.Errorf("only %d codes are documented: %v", len(seen), seen)
	}
}
