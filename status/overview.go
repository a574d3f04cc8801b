package status

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/url"
	"strconv"
	"strings"
)

// An Overview is what the status command shows: the report, and of the details what fits a terminal. It is what the page
// shows, without the whole table of sensors.
type Overview struct {
	Report  Report
	History []Sample // oldest first; empty if the agent keeps none
	Late    []Sensor // those with the most late drops, the most first
	Parked  []Parked // newest first
}

// AskOverview is Ask with details. Those that the agent does not give, being of another version, are left out.
func AskOverview(ctx context.Context, path string) (Overview, error) {
	r, err := Ask(ctx, path)
	if err != nil {
		return Overview{}, err
	}
	o := Overview{Report: r}
	var table sensorPage
	if askJSON(ctx, path, "/history", &o.History) == nil {
		o.History = tidyHistory(o.History)
	}
	if askJSON(ctx, path, "/sensors?sort=late&dir=down&limit="+strconv.Itoa(lateShown), &table) == nil {
		for _, s := range mostLate(tidySensors(table.Sensors)) {
			o.Late = append(o.Late, *s)
		}
	}
	if r.Points.Parked > 0 && askJSON(ctx, path, "/parked", &o.Parked) == nil {
		o.Parked = tidyParked(o.Parked)
	}
	return o, nil
}

// sensorPage is what /sensors answers.
type sensorPage struct {
	Total    int      `json:"total"`
	Matching int      `json:"matching"`
	Sensors  []Sensor `json:"sensors"`
}

// sensorsAtOnce is how many sensors AskSensors asks for at once.
const sensorsAtOnce = 1000

// SensorKeys are the columns that AskSensors and the page can sort by.
func SensorKeys() []string {
	var keys []string
	for _, c := range sensorColumns() {
		keys = append(keys, c.key)
	}
	return keys
}

// AskSensors gets the sensors of the agent that listens at path whose name holds find, whatever the case, sorted by one of
// SensorKeys; what is of most interest comes first unless reverse is set. All text is safe to show. The error is as for Ask.
func AskSensors(ctx context.Context, path, key, find string, reverse bool) ([]Sensor, error) {
	c := columnOf(key)
	if c == nil {
		return nil, fmt.Errorf("sensors cannot be sorted by %q; there are %s", key, strings.Join(SensorKeys(), ", "))
	}
	v := url.Values{"sort": {key}, "find": {find}, "limit": {strconv.Itoa(sensorsAtOnce)}}
	if c.down != reverse {
		v.Set("dir", "down")
	}
	var all []Sensor
	for page := 0; ; page++ {
		v.Set("page", strconv.Itoa(page))
		var got sensorPage
		if err := askJSON(ctx, path, "/sensors?"+v.Encode(), &got); err != nil {
			return nil, err
		}
		for i := range got.Sensors {
			tidy := tidySensors(got.Sensors[i : i+1])
			all = append(all, tidy...)
		}
		if len(got.Sensors) < sensorsAtOnce {
			return all, nil
		}
	}
}

// askJSON gets one of the agent's JSON answers.
func askJSON(ctx context.Context, path, address string, v any) error {
	body, err := fetch(ctx, path, address)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode the agent's answer: %w", err)
	}
	return nil
}

// Text writes the overview for people, in lines of at most 80 columns: first what is wrong, then everything else. It is one
// write; the error is w's.
func (o Overview) Text(w io.Writer) error {
	r := o.Report.tidy()
	var b bytes.Buffer
	r.writeHead(&b)
	notices := r.notices()
	if len(notices) == 0 {
		writeWords(&b, "", []string{"All is well."})
	}
	for _, n := range notices {
		writeWords(&b, either(n.bad, "WRONG", "look"), []string{n.text})
	}
	b.WriteByte('\n')
	r.writeParts(&b)
	o.writeCharts(&b)
	r.writeBooks(&b)
	o.writeDetails(&b)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}

// sparkWidth is how many characters a chart takes.
const sparkWidth = 48

// writeCharts draws what the page's charts show, a line for each.
func (o Overview) writeCharts(b *bytes.Buffer) {
	t := traceOf(o.History, sparkWidth)
	if len(t.columns) == 0 {
		return
	}
	line := func(label string, of func(Sample) (float64, bool), say func(float64) string) {
		most := 0.0
		for _, s := range t.columns {
			if v, ok := of(s); ok {
				most = max(most, v)
			}
		}
		fmt.Fprintf(b, "%-*s%s  up to %s\n", labelWidth, label, t.spark(of, most), say(most))
	}
	fmt.Fprintf(b, "\n%-*slast %s\n", labelWidth, "", spanLabel(t.span))
	line("behind", func(s Sample) (float64, bool) { return s.BehindS, s.Known }, span)
	line("watermark", func(s Sample) (float64, bool) { return s.WatermarkBehind, s.Known }, span)
	line("queued", func(s Sample) (float64, bool) { return float64(s.Queued), true }, func(v float64) string { return grouped(int64(v)) })
}

// spark draws one character for each step of time, from " " for none to "█" for the most.
func (t trace) spark(of func(Sample) (float64, bool), most float64) string {
	cells := []rune(strings.Repeat(" ", sparkWidth))
	levels := []rune("▁▂▃▄▅▆▇█")
	for _, s := range t.columns {
		v, ok := of(s)
		if !ok {
			continue
		}
		level := 0
		if most > 0 {
			level = int(math.Ceil(float64(len(levels)) * min(1, max(0, v/most))))
		}
		at := sparkWidth - 1 - int(s.age*sparkWidth/t.span)
		cells[max(0, at)] = levels[max(1, level)-1]
	}
	return string(cells)
}

// writeDetails lists the sensors with late drops and the points that the server refused.
func (o Overview) writeDetails(b *bytes.Buffer) {
	label := "late"
	for _, s := range o.Late {
		if label != "" {
			b.WriteByte('\n')
		}
		writeWords(b, label, []string{grouped(s.Late) + " of " + s.Name})
		label = ""
	}
	label = "parked"
	for _, p := range o.Parked[:min(len(o.Parked), parkedInText)] {
		if label != "" {
			b.WriteByte('\n')
		}
		writeWords(b, label, []string{p.Time + " " + p.Line, "refused: " + p.Reason})
		label = ""
	}
}

// parkedInText is how many refused points the text shows; "buffer parked" lists all.
const parkedInText = 3
