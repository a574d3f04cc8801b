package sim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// closeTo is the relative error allowed to a derived aggregate, which depends on the order of additions.
const closeTo = 1e-9

// Compare says where what a server holds differs from what it must hold: the last point of every identity of want, no
// other point of the same measurements, and the same fields in each. Lines of other measurements (health) are left out.
// got may hold several lines of one point; their fields overwrite in that order. One difference a line, in the order of
// time; none is nil.
func Compare(want Result, got []Line, n Naming) []string {
	wanted := map[key]Line{}
	for _, p := range want.Last() {
		l := n.Line(p)
		wanted[keyOf(l)] = l
	}
	held := map[key]Line{}
	for _, l := range got {
		if l.Measurement == cmp.Or(n.Measurement, "temperature") || l.Measurement == lateMeasurement {
			store(held, l)
		}
	}
	var diffs []string
	for _, k := range sortedKeys(wanted, held) {
		w, ok := wanted[k]
		g, stored := held[k]
		switch {
		case !stored:
			diffs = append(diffs, fmt.Sprintf("missing: %s: want %s", k, fieldText(w.Fields)))
		case !ok:
			diffs = append(diffs, fmt.Sprintf("extra: %s: got %s", k, fieldText(g.Fields)))
		case !sameFields(w.Fields, g.Fields):
			diffs = append(diffs, fmt.Sprintf("differs: %s: want %s, got %s", k, fieldText(w.Fields), fieldText(g.Fields)))
		}
	}
	return diffs
}

// A key is the identity of a point at the server.
type key struct {
	name string
	time int64
}

func keyOf(l Line) key { return key{l.Name(), l.Time} }

func (k key) String() string {
	return k.name + " at " + time.Unix(0, k.time).UTC().Format(time.RFC3339Nano)
}

// store puts l into points as InfluxDB does, field by field over an older line of the same point, and reports whether
// the point was there already.
func store(points map[key]Line, l Line) bool {
	k := keyOf(l)
	old, again := points[k]
	fields := maps.Clone(l.Fields)
	for name, v := range old.Fields {
		if _, ok := fields[name]; !ok {
			fields[name] = v
		}
	}
	l.Fields = fields
	points[k] = l
	return again
}

// sortedKeys are the keys of both maps, each once, by time and name.
func sortedKeys(maps ...map[key]Line) []key {
	var keys []key
	for _, m := range maps {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.time, b.time), strings.Compare(a.name, b.name))
	})
	return slices.Compact(keys)
}

func sameFields(want, got map[string]any) bool {
	if len(want) != len(got) {
		return false
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok || !sameValue(name, w, g) {
			return false
		}
	}
	return true
}

// sameValue compares type and value; only aggregates that add up may differ, in the last bits.
func sameValue(name string, want, got any) bool {
	w, isFloat := want.(float64)
	g, ok := got.(float64)
	if !isFloat || !ok {
		return want == got
	}
	switch name {
	case "mean", "sum", "stddev":
		return math.Abs(w-g) <= closeTo*max(1, math.Abs(w), math.Abs(g))
	}
	return w == g
}

// fieldText shows fields as line protocol does, in the order of their names.
func fieldText(fields map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch v := fields[name].(type) {
		case int64:
			parts = append(parts, fmt.Sprintf("%s=%di", name, v))
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	return strings.Join(parts, ",")
}
