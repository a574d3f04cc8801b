package configs

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
)

const devicesFile = "../docs/devices.md"

// deviceExample matches a block to copy, and the block of messages below it.
var deviceExample = regexp.MustCompile("(?s)```toml\n(.*?)```\n\n```text\n(.*?)```\n")

// Every block of docs/devices.md is a configuration that checks, and reads its messages as the text says.
func TestDeviceExamples(t *testing.T) {
	text := readString(t, devicesFile)
	shown := map[string]bool{}
	blocks := deviceExample.FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "```") / 4; len(blocks) != n {
		t.Fatalf("%d blocks with messages, of %d", len(blocks), n)
	}
	for _, block := range blocks {
		c := mustParse(t, "[gateway]\nid = \"gw\"\n"+block[1])
		d, err := reading.Compile(c.Sources, c.Watermark.NotBefore)
		if err != nil {
			t.Fatalf("%s: %v", block[1], err)
		}
		shown[c.Sources[0].Preset] = true
		if got := readExamples(t, d, block[2]); got != block[2] {
			t.Errorf("%s\nsays\n%s\nbut it is\n%s", block[1], block[2], got)
		}
		if !strings.Contains(block[2], " °C  ") {
			t.Errorf("%s: no reading", block[1])
		}
	}
	for _, p := range reading.Presets() {
		if !shown[p.Name] {
			t.Errorf("preset %s has no block", p.Name)
		}
		if !strings.Contains(text, "]("+p.Link+")") {
			t.Errorf("preset %s: its link is missing", p.Name)
		}
	}
}

// readExamples is a block of messages, with what becomes of each written below it.
func readExamples(t *testing.T, d *reading.Decoder, block string) string {
	var b strings.Builder
	var res reading.Result
	for line := range strings.Lines(block) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, " ") || line == "?" {
			continue
		}
		fmt.Fprintln(&b, line)
		d.Decode(exampleMessage(t, line), &res)
		fmt.Fprint(&b, exampleOutcome(d, strings.HasPrefix(line, "retained "), &res))
	}
	return b.String()
}

// exampleMessage reads "topic  payload"; a payload may be base64, and ⏎ in it is a line end.
func exampleMessage(t *testing.T, line string) reading.Message {
	line, retained := strings.CutPrefix(line, "retained ")
	topic, payload, _ := strings.Cut(line, "  ")
	arrival := time.Date(2026, 11, 4, 8, 1, 12, 0, time.UTC).UnixNano()
	m := reading.Message{Topic: topic, Retained: retained, Arrival: arrival}
	if binary, ok := strings.CutPrefix(payload, "base64:"); ok {
		var err error
		if m.Payload, err = base64.StdEncoding.DecodeString(binary); err != nil {
			t.Fatal(err)
		}
		return m
	}
	m.Payload = []byte(strings.ReplaceAll(payload, "⏎", "\n"))
	return m
}

func exampleOutcome(d *reading.Decoder, retained bool, res *reading.Result) string {
	var lines []string
	for _, r := range res.Readings {
		when := time.Unix(0, r.Time).UTC().Format(time.RFC3339Nano)
		if r.ArrivalTimed {
			when = "arrival"
		}
		if retained && r.ArrivalTimed && d.Retained(r.Source) == reading.DropUntimed {
			lines = append(lines, "    retained")
			continue
		}
		value := strconv.FormatFloat(r.Value, 'f', -1, 64)
		if len(value) > 9 {
			value = strconv.FormatFloat(r.Value, 'f', 4, 64)
		}
		lines = append(lines, fmt.Sprintf("    %s  %s °C  %s", r.Series.Sensor(), value, when))
	}
	for _, r := range res.Refusals {
		lines = append(lines, "    refused: "+r.Reason.String())
	}
	if len(lines) == 0 {
		return "    ignored: the topic fits no source\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// The families are sorted, so that one finds them.
func TestDevicesAreSorted(t *testing.T) {
	var titles []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(readString(t, devicesFile), -1) {
		titles = append(titles, strings.ToLower(m[1]))
	}
	if !slices.IsSorted(titles) {
		t.Errorf("not in order: %q", titles)
	}
}
