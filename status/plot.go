package status

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A legend is one line of what a chart shows, and its value of now.
type legend struct{ class, text string }

// timeChart shows how far newest event time and watermark are behind the clock, the clock at the top.
func (p page) timeChart(samples []Sample) {
	t := traceOf(samples, chartSteps)
	low, high, known := 0.0, 0.0, false
	for _, s := range t.columns {
		if !s.Known {
			continue
		}
		if !known {
			low, high, known = s.BehindS, s.WatermarkBehind, true
		}
		low, high = min(low, s.BehindS), max(high, s.WatermarkBehind)
	}
	if low > 0 && low < 2*(high-low) || low < 0 && -low < (high-low)/20 {
		low = 0 // the clock itself is on the chart unless it is far away; what is a little ahead of it is drawn above
	}
	p.raw(`<figure class="card"><h2>Event time, behind the clock</h2>`)
	if !known {
		p.emptyChart(either(len(samples) < 2, "The chart begins some seconds after the start.", "No reading has been windowed yet."))
		return
	}
	y := scaleOf(low, high, true, roundSpans())
	newest := func(s Sample) (float64, bool) { return y.y(s.BehindS), s.Known }
	mark := func(s Sample) (float64, bool) { return y.y(s.WatermarkBehind), s.Known }
	now := t.columns[len(t.columns)-1]
	p.plot(t, y, spanLabel, fmt.Sprintf("newest event time %s behind the clock, watermark %s", span(now.BehindS), span(now.WatermarkBehind)),
		t.shades("away", func(s Sample) bool { return s.BrokerAway }),
		`<path class="gap" d="`+t.band(newest, mark)+`"/><path class="line newest" d="`+t.path(newest)+`"/><path class="line mark" d="`+t.path(mark)+`"/>`)
	p.legends([]legend{{"newest", "newest event time: " + span(now.BehindS)}, {"mark", "watermark: " + span(now.WatermarkBehind)},
		{"gap", "gap: " + span(now.WatermarkBehind-now.BehindS)}, {"away", "broker away"}})
	p.tag("figcaption", `class="soft"`, "Level lines: both advance with the clock. A line that falls: event time stands still. A band that widens: the watermark does not follow.")
	p.raw("</figure>")
}

// queueChart shows how many points wait.
func (p page) queueChart(samples []Sample) {
	t := traceOf(samples, chartSteps)
	p.raw(`<figure class="card"><h2>Points queued</h2>`)
	if len(t.columns) == 0 {
		p.emptyChart("The chart begins some seconds after the start.")
		return
	}
	most := int64(0)
	for _, s := range t.columns {
		most = max(most, s.Queued)
	}
	y := scaleOf(0, float64(most), false, roundCounts())
	queued := func(s Sample) (float64, bool) { return y.y(float64(s.Queued)), true }
	ground := func(Sample) (float64, bool) { return chartHeight, true }
	now := t.columns[len(t.columns)-1].Queued
	p.plot(t, y, func(v float64) string { return grouped(int64(v)) }, fmt.Sprintf("%s queued, at most %s in this time", count(now, "point"), grouped(most)),
		t.shades("away", func(s Sample) bool { return s.UplinkDown }),
		`<path class="fill" d="`+t.band(queued, ground)+`"/><path class="line queued" d="`+t.path(queued)+`"/>`)
	p.legends([]legend{{"queued", "queued: " + grouped(now)}, {"", "most in this time: " + grouped(most)}, {"away", "uplink down"}})
	p.raw("</figure>")
}

func (p page) emptyChart(words string) {
	p.tag("p", `class="soft empty"`, words)
	p.raw("</figure>")
}

// plot writes a drawing with its scales as text beside it, so that they keep their size on every screen.
func (p page) plot(t trace, y scale, label func(float64) string, words string, drawing ...string) {
	p.raw(`<div class="plot"><div class="ys">`)
	for i := range y.steps + 1 {
		k := i
		if !y.turned {
			k = y.steps - i
		}
		p.tag("span", "", label(y.low+float64(k)*y.step))
	}
	p.raw(fmt.Sprintf(`</div><svg viewBox="0 0 %d %d" preserveAspectRatio="none" role="img"><title>`, chartWidth, chartHeight))
	p.text(words)
	p.raw("</title>" + gridOf(y) + strings.Join(drawing, "") + `</svg></div><div class="xs">`)
	for i := range 5 {
		ago := t.span * float64(4-i) / 4
		p.tag("span", "", t.end.Add(-time.Duration(ago*float64(time.Second))).UTC().Format(either(t.span < 1200, "15:04:05", "15:04")))
	}
	p.raw("</div>")
}

func gridOf(y scale) string {
	var b strings.Builder
	for i := range y.steps + 1 {
		fmt.Fprintf(&b, "M0 %.0fH%d", math.Round(float64(i)*chartHeight/float64(y.steps)), chartWidth)
	}
	return `<path class="grid" d="` + b.String() + `"/>`
}

func (p page) legends(all []legend) {
	p.raw(`<p class="legend">`)
	for _, l := range all {
		p.raw("<span>" + either(l.class == "", "", `<i class="`+l.class+`"></i>`))
		p.text(l.text)
		p.raw("</span>")
	}
	p.raw("</p>")
}

// spanLabel is a round span of time in as few words as it takes.
func spanLabel(s float64) string {
	switch a := math.Abs(s); {
	case s == 0:
		return "0"
	case a < 60 || a < 600 && math.Mod(a, 60) != 0:
		return fmt.Sprintf("%.0f s", s)
	case a < 3600 || math.Mod(a, 3600) != 0:
		return fmt.Sprintf("%.0f min", s/60)
	case a < 86400 || math.Mod(a, 86400) != 0:
		return fmt.Sprintf("%.0f h", s/3600)
	}
	return fmt.Sprintf("%.0f d", s/86400)
}
