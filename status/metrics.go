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
}

type sample struct{ label, labelValue, value string }

// writeMetrics writes the report in Prometheus' text format, version 0.0.4. r must be tidy.
func writeMetrics(b *bytes.Buffer, r Report) error {
	for _, part := range [][]family{agentFamilies(r), intakeFamilies(r), pointFamilies(r), uplinkFamilies(r)} {
		for _, f := range part {
			f.write(b)
		}
	}
	return nil
}

func (f family) write(b *bytes.Buffer) {
	name := "edgeagent_" + f.name
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, f.help, name, f.kind)
	for _, s := range f.samples {
		b.WriteString(name)
		if s.label != "" {
			fmt.Fprintf(b, `{%s="%s"}`, s.label, labelEscaper().Replace(s.labelValue))
		}
		b.WriteString(" " + s.value + "\n")
	}
}

func labelEscaper() *strings.Replacer { return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`) }

func counter(name, help string, n int64) family {
	return family{name, "counter", help, []sample{{value: strconv.FormatInt(n, 10)}}}
}

func gauge(name, help string, n int64) family {
	return family{name, "gauge", help, []sample{{value: strconv.FormatInt(n, 10)}}}
}

func gaugeFloat(name, help string, x float64) family {
	return family{name, "gauge", help, []sample{{value: float(x)}}}
}

// gaugeTime is an instant in seconds since the Unix epoch, NaN if rfc3339 holds none.
func gaugeTime(name, help, rfc3339 string) family {
	value := "NaN"
	if t, err := time.Parse(time.RFC3339Nano, rfc3339); err == nil {
		value = float(seconds(t))
	}
	return family{name, "gauge", help, []sample{{value: value}}}
}

func float(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
