package status

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestScale(t *testing.T) {
	for _, tt := range []struct {
		name      string
		low, high float64
		rounds    []float64
		want      string // low, step, steps
	}{
		{"the usual delay", 0, 612, roundSpans(), "0 300 3"},
		{"a stall of hours", 0, 9000, roundSpans(), "0 3600 3"},
		{"an old recording", 63072000, 63072600, roundSpans(), "6.3072e+07 300 2"},
		{"ahead of the clock", -400, 200, roundSpans(), "-600 300 3"},
		{"nothing", 0, 0, roundSpans(), "0 1 1"},
		{"no points", 0, 0, roundCounts(), "0 1 1"},
		{"points", 0, 716, roundCounts(), "0 200 4"},
		{"many points", 0, 350_000, roundCounts(), "0 100000 4"},
		{"beyond all", 0, 1e20, roundSpans(), "0 2.5e+19 4"},
	} {
		s := scaleOf(tt.low, tt.high, false, tt.rounds)
		if got := fmt.Sprint(s.low, s.step, s.steps); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		for _, v := range []float64{tt.low, tt.high} {
			if y := s.y(v); y < -1e-6 || y > chartHeight+1e-6 {
				t.Errorf("%s: %v is drawn at %v", tt.name, v, y)
			}
		}
	}
}

func TestScaleTurned(t *testing.T) {
	if s := (scale{0, 300, 2, true}); s.y(0) != 0 || s.y(600) != chartHeight || s.y(150) != chartHeight/4 {
		t.Errorf("%v %v %v: the clock is not at the top", s.y(0), s.y(600), s.y(150))
	}
}

// samplesEvery makes n samples, the newest at 14:03, with what fn makes of each; its argument is the age.
func samplesEvery(step time.Duration, n int, fn func(age time.Duration) Sample) []Sample {
	now := time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)
	var list []Sample
	for i := n - 1; i >= 0; i-- {
		age := time.Duration(i) * step
		s := fn(age)
		s.At = now.Add(-age).Format(time.RFC3339)
		list = append(list, s)
	}
	return tidyHistory(list)
}

// A short fault is not lost in a long chart, and there are no more columns than asked for.
func TestTraceKeepsTheWorst(t *testing.T) {
	list := samplesEvery(10*time.Second, 3000, func(age time.Duration) Sample {
		s := Sample{Known: true, BehindS: 5, WatermarkBehind: 605}
		if age == 3*time.Hour {
			s = Sample{Known: true, BehindS: 500, WatermarkBehind: 1100, Queued: 42, BrokerAway: true, UplinkDown: true}
		}
		return s
	})
	tr := traceOf(list, chartSteps)
	if tr.span != chartSpan || len(tr.columns) > chartSteps+1 || len(tr.columns) < chartSteps {
		t.Errorf("%d columns over %v s, want some 180 over six hours", len(tr.columns), tr.span)
	}
	var worst Sample
	for _, c := range tr.columns {
		worst = worseOf(worst, c)
	}
	if worst.BehindS != 500 || worst.WatermarkBehind != 1100 || worst.Queued != 42 || !worst.BrokerAway || !worst.UplinkDown {
		t.Errorf("the worst is %+v", worst)
	}
	if n := len(traceOf(list[:1], chartSteps).columns); n != 0 {
		t.Errorf("%d columns of one sample", n)
	}
	if short := traceOf(list[len(list)-7:], chartSteps); short.span != chartLeast || len(short.columns) != 7 {
		t.Errorf("a minute: %d columns over %v s, want 7 over %v", len(short.columns), short.span, chartLeast)
	}
}

// chartText is what a chart writes.
func chartText(write func(page)) string {
	var b bytes.Buffer
	write(page{&b})
	return b.String()
}

// pathOf is the d of the path with a class.
func pathOf(t *testing.T, svg, class string) string {
	t.Helper()
	m := regexp.MustCompile(`<path class="` + class + `" d="([^"]*)"`).FindStringSubmatch(svg)
	if m == nil {
		t.Fatalf("no path %s in %s", class, svg)
	}
	return m[1]
}

// points reads a path of M and L.
func pathPoints(t *testing.T, d string) (all [][2]float64) {
	t.Helper()
	for _, part := range strings.FieldsFunc(strings.TrimSuffix(d, "Z"), func(r rune) bool { return r == 'M' || r == 'L' }) {
		x, y, _ := strings.Cut(part, " ")
		a, errA := strconv.ParseFloat(x, 64)
		b, errB := strconv.ParseFloat(y, 64)
		if errA != nil || errB != nil {
			t.Fatalf("point %q", part)
		}
		all = append(all, [2]float64{a, b})
	}
	return all
}

// Level while event time advances, falling while it stands, and the band as wide as the gap.
func TestTimeChart(t *testing.T) {
	stands := samplesEvery(time.Minute, 120, func(age time.Duration) Sample {
		behind := 10.0
		if age <= 30*time.Minute { // nothing new for the last half hour
			behind += 1800 - age.Seconds()
		}
		return Sample{Known: true, BehindS: behind, WatermarkBehind: behind + 600}
	})
	svg := chartText(func(p page) { p.timeChart(stands) })
	newest, mark := pathPoints(t, pathOf(t, svg, "line newest")), pathPoints(t, pathOf(t, svg, "line mark"))
	if len(newest) != 120 || len(mark) != 120 {
		t.Fatalf("%d and %d points, want 120", len(newest), len(mark))
	}
	if newest[10][1] != newest[80][1] || newest[119][1] <= newest[100][1] || newest[100][1] <= newest[90][1] {
		t.Errorf("levels %v %v, then %v %v: want level, then falling", newest[10], newest[80], newest[100], newest[119])
	}
	if gap := mark[50][1] - newest[50][1]; gap < 20 || math.Abs(gap-mark[119][1]+newest[119][1]) > 0.11 {
		t.Errorf("gap %v, at the end %v", gap, mark[119][1]-newest[119][1])
	}
	for _, want := range []string{"newest event time: 30 min 10 s", "watermark: 40 min 10 s", "gap: 10 min 0 s", ">14:03<", ">12:04<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the chart does not say %q:\n%s", want, svg)
		}
	}
	if band := pathPoints(t, pathOf(t, svg, "gap")); len(band) != 240 {
		t.Errorf("the band has %d corners, want 240", len(band))
	}
}

// Before the first reading there is nothing to draw, and what comes after begins a line of its own.
func TestTimeChartUnknown(t *testing.T) {
	for _, list := range [][]Sample{nil, samplesEvery(time.Minute, 1, func(time.Duration) Sample { return Sample{} }),
		samplesEvery(time.Minute, 9, func(time.Duration) Sample { return Sample{} })} {
		if text := chartText(func(p page) { p.timeChart(list) }); strings.Contains(text, "<path") || !strings.Contains(text, "empty") {
			t.Errorf("%d samples: %s", len(list), text)
		}
	}
	later := samplesEvery(time.Minute, 20, func(age time.Duration) Sample {
		return Sample{Known: age < 5*time.Minute, BehindS: 1, WatermarkBehind: 601}
	})
	svg := chartText(func(p page) { p.timeChart(later) })
	if got := pathPoints(t, pathOf(t, svg, "line newest")); len(got) != 5 {
		t.Errorf("%d points, want the five known", len(got))
	}
}

// When the broker was away that time is shaded, and no other.
func TestShades(t *testing.T) {
	list := samplesEvery(time.Minute, 101, func(age time.Duration) Sample {
		return Sample{Known: true, WatermarkBehind: 600, BrokerAway: age >= 20*time.Minute && age < 30*time.Minute}
	})
	d := pathOf(t, chartText(func(p page) { p.timeChart(list) }), "away")
	from, to := float64(chartWidth), 0.0
	for _, m := range regexp.MustCompile(`M(\d+) 0H(\d+)`).FindAllStringSubmatch(d, -1) {
		a, _ := strconv.ParseFloat(m[1], 64)
		b, _ := strconv.ParseFloat(m[2], 64)
		from, to = min(from, a), max(to, b)
	}
	if from < 500 || from > 505 || to != 576 { // 30 and 20 of 100 minutes before the end, on 720
		t.Errorf("shaded from %v to %v, want 504 or a minute before, to 576", from, to)
	}
}

func TestQueueChart(t *testing.T) {
	list := samplesEvery(time.Minute, 60, func(age time.Duration) Sample { return Sample{Queued: int64(59 - age.Minutes()), UplinkDown: true} })
	svg := chartText(func(p page) { p.queueChart(list) })
	line := pathPoints(t, pathOf(t, svg, "line queued"))
	if first, last := line[0][1], line[len(line)-1][1]; first != chartHeight || last >= 10 {
		t.Errorf("from %v to %v, want from the ground to near the top", first, last)
	}
	if !strings.Contains(svg, "queued: 59") || !strings.Contains(svg, ">60<") {
		t.Errorf("words of %s", svg)
	}
}
