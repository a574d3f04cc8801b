package discover

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"edgeagent/reading"
)

// maxDepth is how deep a payload is searched for a temperature.
const maxDepth = 4

// clocks are the keys that usually hold the time of a reading, the likeliest first.
var clocks = []string{"timestamp", "time", "ts", "datetime", "date", "measured_at", "created_at", "last_seen", "dt", "tst", "t"}

// search makes a candidate for a topic that no preset reads: a plain number on a topic that speaks of temperature, or a
// number under a key that does. What it finds it has tried.
func search(t *topic) (verdict, bool) {
	if strings.ContainsAny(t.name, "{}+#") || len(t.samples) == 0 {
		return verdict{}, false
	}
	base := reading.Rule{Topic: t.name, Sensor: "x", QoS: 1, NotBefore: reading.NoTime}
	payload := t.samples[len(t.samples)-1].Payload
	if speaks(t.name) {
		base.Format = "text"
		if v, ok := tried(base, t); ok {
			return v, true
		}
	}
	base.Format = ""
	for _, preset := range []string{"senml", "influx", "cloudevents", "king-pigeon", "opc-ua", "opc-ua-samples", "kura", "edgex"} {
		r := base
		r.Preset = preset
		if saysWho(preset) {
			r.Sensor = ""
		}
		if v, ok := tried(r, t); ok {
			return v, true
		}
	}
	for _, path := range append(numbersIn(payload), plainKeys(t.name)...) {
		r := base
		r.Value = path
		if key := path[strings.LastIndexByte(path, '.')+1:]; strings.HasSuffix(key, "F") || strings.HasSuffix(key, "_f") {
			r.Unit = "F"
		}
		if v, ok := tried(r, t); ok {
			return withTime(v, t), true
		}
	}
	return verdict{}, false
}

// plainKeys are the keys of a value that only its topic calls a temperature, as in {"val":21.5,"ts":1793779270}.
func plainKeys(topic string) []string {
	if !speaks(topic) {
		return nil
	}
	return []string{"value", "val", "v"}
}

// tried compiles a rule and has it decode the samples of t.
func tried(r reading.Rule, t *topic) (verdict, bool) {
	d, err := reading.Compile([]reading.Rule{r}, notBefore)
	if err != nil {
		return verdict{}, false
	}
	v := (&candidate{rule: r, decoder: d}).try(t)
	return v, len(v.readings) > 0
}

// withTime looks beside the value, and at the root, for a time within a day of the arrival.
func withTime(v verdict, t *topic) verdict {
	const day = 24 * 3600e9
	prefixes := []string{""}
	if i := strings.LastIndexByte(v.c.rule.Value, '.'); i >= 0 {
		prefixes = []string{v.c.rule.Value[:i+1], ""}
	}
	for _, prefix := range prefixes {
		for _, clock := range clocks {
			r := v.c.rule
			r.Time = prefix + clock
			if timed, ok := tried(r, t); ok && timed.timed == len(timed.readings) && max(timed.shift, -timed.shift) < day {
				return timed
			}
		}
	}
	return v
}

// numbersIn are the paths to what may be numbers, under keys that speak of temperature, in the order of the keys.
func numbersIn(payload []byte) []string {
	var v any
	if json.Unmarshal(payload, &v) != nil {
		return nil
	}
	var paths []string
	var walk func(v any, path string, depth int)
	walk = func(v any, path string, depth int) {
		object, ok := v.(map[string]any)
		if !ok || depth == maxDepth {
			return
		}
		for _, key := range keysOf(object) {
			at := strings.TrimPrefix(path+"."+escape(key), ".")
			if isNumber(object[key]) && speaks(key) {
				paths = append(paths, at)
			}
			walk(object[key], at, depth+1)
		}
	}
	walk(v, "", 0)
	return paths
}

func keysOf(object map[string]any) []string {
	var keys []string
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func isNumber(v any) bool {
	switch v := v.(type) {
	case float64:
		return true
	case string:
		_, err := strconv.ParseFloat(strings.Replace(v, ",", ".", 1), 64)
		return err == nil
	}
	return false
}

// escape makes a key a step of a path.
func escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		if strings.IndexByte(`.|[]{}\=`, key[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(key[i])
	}
	return b.String()
}
