package status

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// The shape of a chart, in units of its own: it is stretched to the width of the screen.
const (
	chartWidth  = 720
	chartHeight = 140
	chartSpan   = 6 * 3600.0 // s shown at most
	chartLeast  = 10 * 60.0  // s shown at least
	chartSteps  = 180        // points of a line at most: the worst of each step is drawn
)

// A trace is the samples as a chart takes them: one column for each step of time, the newest last.
type trace struct {
	columns []Sample
	span    float64 // s from left to right
	end     time.Time
}

// tidyHistory works out the ages. It changes nothing that the caller has.
func tidyHistory(list []Sample) []Sample {
	out := slices.Clone(list)
	var newest time.Time
	if n := len(out); n > 0 {
		newest, _ = time.Parse(time.RFC3339Nano, out[n-1].At)
	}
	for i := range out {
		s := &out[i]
		at, _ := time.Parse(time.RFC3339Nano, s.At)
		s.age = max(0, newest.Sub(at).Seconds())
		s.At = clean(s.At, maxName)
		s.BehindS, s.WatermarkBehind = finite(s.BehindS), finite(s.WatermarkBehind)
	}
	return out
}

// traceOf takes the newest hours of the samples into columns, at most steps and one; what is worst in a column stands for it.
func traceOf(samples []Sample, steps int) trace {
	if len(samples) < 2 {
		return trace{}
	}
	t := trace{span: min(max(samples[0].age, chartLeast), chartSpan)}
	t.end, _ = time.Parse(time.RFC3339Nano, samples[len(samples)-1].At)
	step := t.span / float64(steps)
	last := math.Inf(1)
	for _, s := range samples {
		if s.age > t.span {
			continue
		}
		if k := math.Floor(s.age / step); k < last {
			last = k
			t.columns = append(t.columns, s)
			continue
		}
		c := &t.columns[len(t.columns)-1]
		*c = worseOf(*c, s)
	}
	return t
}

// worseOf is b with what is worse in a.
func worseOf(a, b Sample) Sample {
	if a.Known {
		b.BehindS, b.WatermarkBehind, b.Known = max(a.BehindS, b.BehindS), max(a.WatermarkBehind, b.WatermarkBehind), true
	}
	b.Queued = max(a.Queued, b.Queued)
	b.BrokerAway, b.UplinkDown = a.BrokerAway || b.BrokerAway, a.UplinkDown || b.UplinkDown
	return b
}

func (t trace) x(s Sample) float64 { return chartWidth * (1 - s.age/t.span) }

// A scale puts values on the height of a chart, low at the top if it is turned.
type scale struct {
	low, step float64
	steps     int
	turned    bool
}

// scaleOf is the scale with round numbers, from the given steps, that holds low to high.
func scaleOf(low, high float64, turned bool, rounds []float64) scale {
	for _, step := range rounds {
		from := math.Floor(low/step) * step
		if n := math.Ceil((high - from) / step); n <= 4 {
			return scale{from, step, int(max(1, n)), turned}
		}
	}
	return scale{low, max(1, (high-low)/4), 4, turned}
}

func (s scale) y(v float64) float64 {
	share := (v - s.low) / (s.step * float64(s.steps))
	if s.turned {
		return chartHeight * share
	}
	return chartHeight * (1 - share)
}

// roundSpans are the steps of a scale of time, s.
func roundSpans() []float64 {
	const m, h, d = 60, 3600, 86400
	return []float64{1, 2, 5, 10, 15, 30, m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h, d, 2 * d, 5 * d, 10 * d,
		30 * d, 100 * d, 365 * d, 1000 * d, 3650 * d, 36500 * d}
}

// roundCounts are the steps of a scale of numbers.
func roundCounts() []float64 {
	var all []float64
	for x := 1.0; x < 1e12; x *= 10 {
		all = append(all, x, 2*x, 5*x)
	}
	return all
}

// path joins the columns for which of gives a value; where it gives none the line is broken.
func (t trace) path(of func(Sample) (float64, bool)) string {
	var b strings.Builder
	pen := "M"
	for _, s := range t.columns {
		y, ok := of(s)
		if !ok {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.0f %.1f", pen, t.x(s), y)
		pen = "L"
	}
	return b.String()
}

// band is the area between two lines, over the longest newest stretch in which both are known.
func (t trace) band(upper, lower func(Sample) (float64, bool)) string {
	known := t.columns
	for i := len(known) - 1; i >= 0; i-- {
		if _, ok := upper(known[i]); !ok {
			known = known[i+1:]
			break
		}
	}
	if len(known) == 0 {
		return ""
	}
	top := trace{columns: known, span: t.span}.path(upper)
	back := slices.Clone(known)
	slices.Reverse(back)
	return top + "L" + trace{columns: back, span: t.span}.path(lower)[1:] + "Z"
}

// shades are the stretches of time for which a state held, as bars over the whole height.
func (t trace) shades(class string, of func(Sample) bool) string {
	var b strings.Builder
	for i, s := range t.columns {
		if !of(s) {
			continue
		}
		from, to := t.x(s), float64(chartWidth)
		if i > 0 {
			from = t.x(t.columns[i-1])
		}
		if i+1 < len(t.columns) {
			to = t.x(s)
		}
		fmt.Fprintf(&b, "M%.0f 0H%.0fV%dH%.0fZ", from, max(to, from+1), chartHeight, from)
	}
	if b.Len() == 0 {
		return ""
	}
	return `<path class="` + class + `" d="` + b.String() + `"/>`
}
