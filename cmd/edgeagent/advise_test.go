package main

import (
	"bytes"
	"strings"
	"testing"

	"edgeagent/agent"
	"edgeagent/docs"
)

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0: "0 %", 1e-9: "<0.001 %", 0.00001: "0.001 %", 0.001: "0.1 %", 0.0252: "2.52 %", 0.1: "10 %", 0.255: "25.5 %", 1: "100 %"} {
		if got := percent(x); got != want {
			t.Errorf("%v is written as %q, want %q", x, got, want)
		}
	}
}

func TestShareOnTheCommandLine(t *testing.T) {
	for text, want := range map[string]float64{"0.1%": 0.001, "1 %": 0.01, "50%": 0.5, "0.001%": 0.00001, "1": -1, "0%": -1, "51%": -1, "x%": -1, "nan%": -1, "": -1} {
		var s share
		if err := s.UnmarshalText([]byte(text)); err != nil && want != -1 || err == nil && (want == -1 || !(float64(s) > want*0.999 && float64(s) < want*1.001)) {
			t.Errorf("%q: %v, %v; want %v", text, s, err, want)
		}
	}
}

func TestSpans(t *testing.T) {
	for s, want := range map[float64]string{0: "0.0s", 1.24: "1.2s", -3: "-3.0s", 42.4: "42s", 60: "1m", 300: "5m", 725: "12m5s", 3600: "1h", 7500: "2h5m", 100000: "27h47m", 273.5 * 86400: "273d12h"} {
		if got := lapse(s); got != want {
			t.Errorf("%v s is written as %q, want %q", s, got, want)
		}
	}
	for s, want := range map[float64]string{600: "10m", 1380: "23m", 3600: "1h", 5400: "1h30m", 30: "30s", 86400: "24h", 0: "0s"} {
		if got := setting(s); got != want {
			t.Errorf("a delay of %v s is written as %q, want %q", s, got, want)
		}
	}
}

// The text has at most 80 columns whatever the names, and says what to do for each kind of sensor.
func TestAdviceInText(t *testing.T) {
	long := strings.Repeat("temperature \x1b of the hall ", 9)
	late := []agent.LateShare{{DelayS: 60, Share: 0.0414}, {DelayS: 300, Share: 1}, {DelayS: 600}, {DelayS: 1200, Share: 1e-7}, {DelayS: 1800}, {DelayS: 3600}, {DelayS: 7200}, {DelayS: 21600}}
	a := agent.Advice{Gateway: "gw", Loss: 0.001, Enough: true, DelayS: 1380, Share: 0.0009, ConfiguredS: 600, ConfiguredShare: 0.0252, More: 3,
		All: agent.SourceAdvice{Readings: 1 << 33, Late: late},
		Sources: []agent.SourceAdvice{{Source: strings.Repeat("hall ", 30), Readings: 1 << 33, Timed: 5, Lag: agent.Spans{P50S: 1.24, P95S: 725, P99S: -1e5, MaxS: 2.6e7}, Late: late},
			{Source: "empty", Late: late}},
		Sensors: []agent.SensorAdvice{{Sensor: long, Kind: agent.ClockAhead, MedianS: -3605}, {Sensor: "b", Kind: agent.ClockBehind, MedianS: 90},
			{Sensor: "c", Kind: agent.Bulk, MedianS: 1700, SpreadS: 3400}}}
	var b bytes.Buffer
	if err := printAdvice(&b, &a); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 || strings.Contains(line, "\x1b") {
			t.Errorf("line of %d columns: %q", n, line)
		}
	}
	for _, want := range []string{`now      delay = "10m": at most 2.52 %`, `advised  delay = "23m": at most 0.09 % (--loss 0.1 %)`, "points then come 13m later",
		"1h off; a wrong zone?", "1m30s off\n", "within 56m40s, mostly 28m20s old", "and 3 more sensors", "   4.14    100      0 <0.001      0",
		"arrivals are not known: the gateway's clock was not trusted (is NTP reachable?)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// The advice that docs/operations.md shows is what the program prints of such readings.
func TestAdviceOfDocuments(t *testing.T) {
	d, err := docs.Read(root + "/docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	late := func(percents ...float64) (all []agent.LateShare) {
		for i, minutes := range []float64{1, 5, 10, 20, 30, 60, 120, 360} {
			all = append(all, agent.LateShare{DelayS: 60 * minutes, Share: percents[i] / 100})
		}
		return all
	}
	source := agent.SourceAdvice{Source: "thermometers", Readings: 14407, Timed: 14407, Lag: agent.Spans{P50S: 1.2, P95S: 4, P99S: 730, MaxS: 1503},
		Late: late(4.14, 3.21, 2.52, 0.57, 0, 0, 0, 0)}
	a := agent.Advice{Gateway: "gw-07", Loss: 0.001, Enough: true, DelayS: 1380, Share: 0.0009, ConfiguredS: 600, ConfiguredShare: 0.0252,
		All: source, Sources: []agent.SourceAdvice{source}}
	var want bytes.Buffer
	if err := printAdvice(&want, &a); err != nil {
		t.Fatal(err)
	}
	for _, b := range d.Blocks {
		if strings.HasPrefix(b.Text, "gw-07: how late") {
			if b.Text != want.String() {
				t.Errorf("docs/operations.md shows\n%s\nthe program prints\n%s", b.Text, want.String())
			}
			return
		}
	}
	t.Error("docs/operations.md shows no advice")
}
