package status

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A family is one metric: its name without the prefix, its kind, what it means, and its values.
type family struct {
	name, kind, help string
	samples          []sample
	histograms       []labelled // in place of samples, for the kind histogram
}

// A sample is a value, with a label or none, and the name of its uplink if there are several.
type sample struct{ label, labelValue, value, uplink string }

// A labelled histogram has its label and value, or none.
type labelled struct {
	label, labelValue string
	h                 Histogram
}

// writeMetrics writes the report in Prometheus' text format, version 0.0.4. r must be tidy.
func writeMetrics(b *bytes.Buffer, r Report) error {
	for _, f := range families(r) {
		f.write(b)
	}
	return nil
}

func (f family) write(b *bytes.Buffer) {
	name := "edgeagent_" + f.name
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, f.help, name, f.kind)
	for _, s := range f.samples {
		b.WriteString(name + s.labels() + " " + s.value + "\n")
	}
	for _, l := range f.histograms {
		l.write(b, name)
	}
}

// labels are those that a sample has, "" for none.
func (s sample) labels() string {
	var all []string
	if s.label != "" {
		all = append(all, fmt.Sprintf(`%s="%s"`, s.label, labelEscaper().Replace(s.labelValue)))
	}
	if s.uplink != "" {
		all = append(all, fmt.Sprintf(`uplink="%s"`, labelEscaper().Replace(s.uplink)))
	}
	if len(all) == 0 {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

// write writes the ranges summed up, as the format wants them.
func (l labelled) write(b *bytes.Buffer, name string) {
	own := ""
	if l.label != "" {
		own = fmt.Sprintf(`%s="%s"`, l.label, labelEscaper().Replace(l.labelValue))
	}
	n := int64(0)
	for i, bound := range l.h.Bounds {
		if i < len(l.h.Counts) {
			n += l.h.Counts[i]
		}
		fmt.Fprintf(b, "%s_bucket{%s%sle=\"%s\"} %d\n", name, own, either(own == "", "", ","), float(bound), n)
	}
	n = l.h.count()
	fmt.Fprintf(b, "%s_bucket{%s%sle=\"+Inf\"} %d\n", name, own, either(own == "", "", ","), n)
	if own != "" {
		own = "{" + own + "}"
	}
	fmt.Fprintf(b, "%s_sum%s %s\n%s_count%s %d\n", name, own, float(l.h.SumS), name, own, n)
}

// count is how many durations were counted.
func (h Histogram) count() (n int64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

func labelEscaper() *strings.Replacer { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`) }

func counter(name, help string, n int64) family {
	return family{name: name, kind: "counter", help: help, samples: []sample{{value: strconv.FormatInt(n, 10)}}}
}

func gauge(name, help string, n int64) family {
	return family{name: name, kind: "gauge", help: help, samples: []sample{{value: strconv.FormatInt(n, 10)}}}
}

func gaugeFloat(name, help string, x float64) family {
	return family{name: name, kind: "gauge", help: help, samples: []sample{{value: float(x)}}}
}

// gaugeTime is an instant in seconds since the Unix epoch, NaN if rfc3339 holds none.
func gaugeTime(name, help, rfc3339 string) family {
	value := "NaN"
	if t, err := time.Parse(time.RFC3339Nano, rfc3339); err == nil {
		value = float(seconds(t))
	}
	return family{name: name, kind: "gauge", help: help, samples: []sample{{value: value}}}
}

func float(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
