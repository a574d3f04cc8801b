package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"edgeagent/agent"
)

// nameWidth is the column of names; the lines have at most 80 columns.
const nameWidth = 20

// printAdvice writes an advice for people.
func printAdvice(out io.Writer, a *agent.Advice) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: how late readings come\n\n", a.Gateway)
	fmt.Fprintf(&b, "%-*s%12s%12s%12s%12s%12s\n", nameWidth, "arrival - time", "readings", "median", "95 %", "99 %", "largest")
	for i := range a.Sources {
		s := &a.Sources[i]
		fmt.Fprintf(&b, "%-*s%12d%s\n", nameWidth, column(s.Source), s.Readings, spanColumns(s.Timed, s.Lag))
	}
	if a.All.Readings > 0 && a.All.Timed == 0 {
		fmt.Fprintln(&b, "arrivals are not known: the gateway's clock was not trusted (is NTP reachable?)")
	}
	printLate(&b, a)
	printDelay(&b, a)
	printSensors(&b, a)
	_, err := out.Write(b.Bytes())
	if err != nil {
		return fmt.Errorf("print advice: %w", err)
	}
	return nil
}

func spanColumns(n int64, s agent.Spans) string {
	if n == 0 {
		return fmt.Sprintf("%12s%12s%12s%12s", "-", "-", "-", "-")
	}
	return fmt.Sprintf("%12s%12s%12s%12s", lapse(s.P50S), lapse(s.P95S), lapse(s.P99S), lapse(s.MaxS))
}

// printLate writes what share would have been late at each delay.
func printLate(b *bytes.Buffer, a *agent.Advice) {
	fmt.Fprintf(b, "\n%-*s", nameWidth, "late, %, at a delay")
	for _, l := range a.All.Late {
		fmt.Fprintf(b, "%7s", lapse(l.DelayS))
	}
	fmt.Fprintln(b)
	rows := a.Sources
	if len(rows) > 1 {
		all := a.All
		all.Source = "all"
		rows = append(rows[:len(rows):len(rows)], all)
	}
	for i := range rows {
		fmt.Fprintf(b, "%-*s", nameWidth, column(rows[i].Source))
		for _, l := range rows[i].Late {
			text := strings.TrimSuffix(percent(l.Share), " %")
			if rows[i].Readings == 0 {
				text = "-"
			}
			fmt.Fprintf(b, "%7s", text)
		}
		fmt.Fprintln(b)
	}
}

// printDelay writes the delay to set, and what the present one does.
func printDelay(b *bytes.Buffer, a *agent.Advice) {
	if a.All.Readings == 0 {
		return
	}
	fmt.Fprintf(b, "\nnow      delay = %q: %s of these readings would have been late\n", setting(a.ConfiguredS), atMost(a.ConfiguredShare))
	if !a.Enough {
		return
	}
	fmt.Fprintf(b, "advised  delay = %q: %s (--loss %s)\n", setting(a.DelayS), atMost(a.Share), percent(a.Loss))
	switch {
	case a.DelayS == a.ConfiguredS:
		fmt.Fprintln(b, "         nothing to change")
	case a.DelayS > a.ConfiguredS:
		fmt.Fprintf(b, "         points then come %s later; set it in [watermark]\n", lapse(a.DelayS-a.ConfiguredS))
	default:
		fmt.Fprintf(b, "         points then come %s sooner; set it in [watermark]\n", lapse(a.ConfiguredS-a.DelayS))
	}
}

func atMost(x float64) string {
	if x == 0 {
		return "none"
	}
	return "at most " + percent(x)
}

// printSensors names the sensors to look after, and says what to do.
func printSensors(b *bytes.Buffer, a *agent.Advice) {
	kind := ""
	for _, s := range a.Sensors {
		if s.Kind != kind {
			kind = s.Kind
			fmt.Fprintf(b, "\n%s\n", headings[kind])
		}
		what := lapse(math.Abs(s.MedianS)) + " off" + zoneHint(s)
		if kind == agent.Bulk {
			what = "within " + lapse(s.SpreadS) + ", mostly " + lapse(s.MedianS) + " old"
		}
		fmt.Fprintf(b, "  %-38s%s\n", cut(strconv.Quote(s.Sensor), 36), cut(what, 40))
	}
	if a.More > 0 {
		fmt.Fprintf(b, "\nand %d more sensors\n", a.More)
	}
}

// headings say what the kinds are, and what to do.
var headings = map[string]string{
	agent.ClockAhead: "Clocks that are ahead: they make the readings of all others look late.\nMend these first (NTP, zone, time_format), then ask again.",
	agent.ClockBehind: "Clocks that are behind, or stamps of the start of an interval:\n" +
		"mend them (NTP, zone, time_format), then ask again.",
	agent.Bulk: "Sensors that deliver many readings at once: the delay must span them,\nor give each sensor its own watermark (scope = \"sensor\"), or keep late\nreadings (late_readings).",
}

// zoneHint tells an offset that looks like a wrong zone: whole half hours, to the minute.
func zoneHint(s agent.SensorAdvice) string {
	half := math.Round(s.MedianS / 1800)
	if half == 0 || math.Abs(half) > 28 || math.Abs(s.MedianS-1800*half) > 60 {
		return ""
	}
	return "; a wrong zone?"
}

// column is a name that fits its column.
func column(name string) string { return cut(name, nameWidth-1) }

// cut shortens text to so many characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// setting is a span as the configuration writes it.
func setting(s float64) string {
	text := (time.Duration(s*1e3) * time.Millisecond).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}

// lapse is a span in one or two units.
func lapse(s float64) string {
	d := time.Duration(s * 1e9)
	switch a := d.Abs(); {
	case a < 10*time.Second:
		return strconv.FormatFloat(s, 'f', 1, 64) + "s"
	case a < time.Minute:
		return strconv.FormatFloat(s, 'f', 0, 64) + "s"
	case a < time.Hour:
		return setting(d.Round(time.Second).Seconds())
	case a < 48*time.Hour:
		return setting(d.Round(time.Minute).Seconds())
	}
	return fmt.Sprintf("%dd%dh", int(d.Round(time.Hour)/(24*time.Hour)), int(d.Round(time.Hour).Abs()%(24*time.Hour)/time.Hour))
}
