package discover

import (
	"cmp"
	"slices"
	"strings"

	"edgeagent/reading"
)

// A candidate is a source that may be right for topics.
type candidate struct {
	rule     reading.Rule
	decoder  *reading.Decoder
	literals int  // levels of its topic that are plain text
	vague    bool // any number on its topics would do
}

// notBefore keeps times of clocks that were never set from counting as times: 2020-01-01.
const notBefore = 1577836800e9

// anyNumber is the preset whose topics carry whatever a device measures.
const anyNumber = "esphome"

// presets are candidates for all presets that name a topic.
func presets() []candidate {
	var all []candidate
	for _, p := range reading.Presets() {
		if p.Rule.Topic == "" {
			continue
		}
		r := reading.Rule{Preset: p.Name, QoS: 1, NotBefore: reading.NoTime}
		if p.Rule.Sensor == "" {
			r.Sensor = "change-me"
		}
		trial := r
		if p.Rule.Format == "sparkplug" {
			trial.Each, trial.Sensor = "metrics[*]", "{name}"
		}
		d, err := reading.Compile([]reading.Rule{trial}, notBefore)
		if err != nil {
			continue // needs more of the user than a guess can know
		}
		c := candidate{rule: r, decoder: d, vague: p.Name == anyNumber}
		for level := range strings.SplitSeq(p.Rule.Topic, "/") {
			if !strings.ContainsAny(level, "{+#") {
				c.literals++
			}
		}
		all = append(all, c)
	}
	return all
}

// A verdict is what a candidate makes of a topic.
type verdict struct {
	c        *candidate
	readings []reading.Reading
	timed    int
	shift    int64 // of the first timed reading: its time minus the arrival, ns
}

// try decodes the samples of t.
func (c *candidate) try(t *topic) verdict {
	v := verdict{c: c}
	var res reading.Result
	for _, m := range t.samples {
		c.decoder.Decode(m, &res)
		for _, r := range res.Readings {
			if !r.ArrivalTimed {
				if v.timed == 0 {
					v.shift = r.Time - m.Arrival
				}
				v.timed++
			}
			v.readings = append(v.readings, r)
		}
	}
	return v
}

// best is the candidate that makes most of a topic: with times of the readings' own, then by the plain levels of its topic,
// then by the number of readings.
func best(t *topic, all []candidate) (verdict, bool) {
	var top verdict
	for i := range all {
		if v := all[i].try(t); len(v.readings) > 0 && (top.c == nil || v.beats(&top)) {
			top = v
		}
	}
	return top, top.c != nil
}

// beats reports whether v is more likely than w.
func (v *verdict) beats(w *verdict) bool {
	return cmp.Or(cmp.Compare(min(v.timed, 1), min(w.timed, 1)), cmp.Compare(v.c.literals, w.c.literals),
		cmp.Compare(len(v.readings), len(w.readings))) > 0
}

// speaks reports whether a text speaks of temperature.
func speaks(s string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc([]string{"temp", "celsius", "fahrenheit", "kelvin", "suhu", "°c"}, func(word string) bool { return strings.Contains(s, word) })
}
