package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// points are fields as text by identity: what a server holds.
type points map[string]string

// identity is measurement, tags and time.
func identity(name string, at int64) string {
	return name + " at " + time.Unix(0, at).UTC().Format(time.RFC3339Nano)
}

// fieldText shows fields with their types, in the order of their names.
func fieldText(fields map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := fmt.Sprintf("%T", fields[name])
		switch v := fields[name].(type) {
		case int64:
			text = strconv.FormatInt(v, 10) + "i"
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case bool:
			text = strconv.FormatBool(v)
		}
		parts = append(parts, name+"="+text)
	}
	return strings.Join(parts, ",")
}

// decode parses line protocol.
func decode(t *testing.T, text []byte) []sim.Line {
	t.Helper()
	all, err := sim.ParseLines(text)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sequences are the fields of each identity, in the order of the lines.
func sequences(all []sim.Line) map[string][]string {
	s := map[string][]string{}
	for _, l := range all {
		id := identity(l.Name(), l.Time)
		s[id] = append(s[id], fieldText(l.Fields))
	}
	return s
}

// last is the last point of each identity.
func last(all []sim.Line) points {
	p := points{}
	for _, l := range all {
		p[identity(l.Name(), l.Time)] = fieldText(l.Fields)
	}
	return p
}

// held is what a database holds of windows and late reports.
func held(i *testbed.Influx, db string) points {
	p := points{}
	for _, measurement := range []string{"temperature", "late_drops"} {
		for _, q := range i.Points(db, measurement) {
			l := sim.Line{Measurement: measurement}
			name := l.Name()
			for _, key := range slices.Sorted(maps.Keys(q.Tags)) {
				name += "," + key + "=" + q.Tags[key]
			}
			p[identity(name, q.Time)] = fieldText(q.Fields)
		}
	}
	return p
}

// most is how many differences are shown.
const most = 10

// samePoints fails the test where got is not want, and says where.
func samePoints(t *testing.T, where string, got, want points) {
	t.Helper()
	var diffs []string
	for id, w := range want {
		if g, ok := got[id]; !ok {
			diffs = append(diffs, fmt.Sprintf("missing %s: want %s", id, w))
		} else if g != w {
			diffs = append(diffs, fmt.Sprintf("%s: got %s, want %s", id, g, w))
		}
	}
	for id, g := range got {
		if _, ok := want[id]; !ok {
			diffs = append(diffs, fmt.Sprintf("extra %s: got %s", id, g))
		}
	}
	if len(diffs) > 0 {
		slices.Sort(diffs)
		t.Errorf("%s: %d of %d points differ:\n%s", where, len(diffs), len(want), strings.Join(diffs[:min(most, len(diffs))], "\n"))
	}
}
