package discover

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"edgeagent/reading"
)

// A Group is a source to start from, and the topics that it would read.
type Group struct {
	Rule     reading.Rule // as the user would write it
	Topics   []string     // sorted
	Messages int64
	Readings int // made of the messages that were kept
	Example  string
	Hint     string // what is to be looked at, "" if nothing
}

// A Stranger is a topic that no source was found for.
type Stranger struct {
	Topic    string
	Messages int64
	Payload  string // of the latest message, cut
}

// A member is a topic with what its best candidate makes of it.
type member struct {
	t *topic
	v verdict
}

// Groups guesses sources for what was seen, in the order of their first topics, and gives the topics that remain.
func (s *Survey) Groups() ([]Group, []Stranger) {
	all := presets()
	var strangers []Stranger
	var members []member
	for _, t := range s.sorted() {
		v, ok := best(t, all)
		if ok && v.c.vague && !speaks(t.name) {
			ok = false
		} else if !ok {
			v, ok = search(t)
		}
		if !ok {
			strangers = append(strangers, t.stranger())
			continue
		}
		members = append(members, member{t, v})
	}
	var groups []Group
	for _, g := range gather(members) {
		made := makeGroups(g)
		groups = append(groups, made...)
		if len(made) == 0 {
			for _, m := range g {
				strangers = append(strangers, m.t.stranger())
			}
		}
	}
	return groups, strangers
}

func (t *topic) stranger() Stranger {
	s := Stranger{Topic: t.name, Messages: t.messages}
	if n := len(t.samples); n > 0 {
		payload := t.samples[n-1].Payload
		s.Payload = fmt.Sprintf("%.60q", payload)
	}
	return s
}

// gather puts topics together that one source can read: those of a preset, and those of one rule whose topics are alike
// behind their first level, or begin alike.
func gather(members []member) [][]member {
	count := map[string]int{}
	for _, m := range members {
		head, tail := m.keys()
		count[head]++
		count[tail]++
	}
	at := map[string]int{}
	var groups [][]member
	for _, m := range members {
		key, tail := m.keys()
		if count[tail] > count[key] {
			key = tail
		}
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

// keys are what m may be gathered by: its rule with its first level, and its rule with all levels but the first.
func (m *member) keys() (head, tail string) {
	r := m.v.c.rule
	if r.Topic == "" && !m.v.c.vague {
		return r.Preset, r.Preset
	}
	first, rest, _ := strings.Cut(m.t.name, "/")
	rule := fmt.Sprintf("%s %s %s %s %s %d ", r.Preset, r.Format, r.Value, r.Time, r.Unit, strings.Count(m.t.name, "/"))
	return "head " + rule + first, "tail " + rule + rest
}

// makeGroups makes the group of some topics; one for each metric with Sparkplug, none if no rule can be written.
func makeGroups(members []member) []Group {
	c := members[0].v.c
	g := Group{Rule: c.rule}
	for _, m := range members {
		g.Topics = append(g.Topics, m.t.name)
		g.Messages += m.t.messages
		g.Readings += len(m.v.readings)
	}
	first := members[0].v.readings[0]
	g.Example = fmt.Sprintf("%.4g °C at %s", first.Value, time.Unix(0, first.Time).UTC().Format(time.RFC3339))
	g.Hint = hint(members)
	switch {
	case strings.HasPrefix(g.Rule.Preset, "sparkplug"):
		return perMetric(g, members)
	case g.Rule.Topic == "" && !c.vague:
		return []Group{g}
	case c.vague:
		g.Rule.Preset, g.Rule.Format = "", "text"
	}
	if !g.settleTopic() {
		return nil
	}
	return []Group{g}
}

// settleTopic gives the rule a topic for all topics of g, and a sensor if neither that has a capture nor the messages say
// who measured. It reports whether the rule is right.
func (g *Group) settleTopic() bool {
	g.Rule.Topic = pattern(g.Topics)
	if g.Rule.Sensor = ""; !saysWho(g.Rule.Preset) && !strings.Contains(g.Rule.Topic, "{") {
		g.Rule.Sensor = sensorOf(g.Topics[0])
	}
	return len(g.Rule.Check()) == 0
}

// saysWho reports whether a preset has the sensor from the message.
func saysWho(preset string) bool {
	return slices.ContainsFunc(reading.Presets(), func(p reading.Preset) bool { return p.Name == preset && p.Rule.Sensor != "" })
}

// generic are levels of topics that name no sensor.
var generic = []string{"", "temperature", "temp", "state", "value", "data", "status", "sensor", "sensors"}

// sensorOf are the levels of a topic that may name a sensor, or all of them.
func sensorOf(topic string) string {
	levels := slices.DeleteFunc(strings.Split(topic, "/"), func(l string) bool { return slices.Contains(generic, strings.ToLower(l)) })
	if len(levels) == 0 {
		return topic
	}
	return strings.Join(levels, "/")
}

// maxMetrics bounds the groups made of one edge node's metrics.
const maxMetrics = 20

// perMetric makes a group for each metric that speaks of temperature; the candidate's sensor is the metric's name.
func perMetric(g Group, members []member) []Group {
	var names []string
	for _, m := range members {
		for _, r := range m.v.readings {
			if name := r.Series.Sensor(); speaks(name) && !slices.Contains(names, name) && len(names) < maxMetrics {
				names = append(names, name)
			}
		}
	}
	var groups []Group
	for _, name := range names {
		one := g
		one.Rule.Each = "metrics[name=" + name + "]"
		if len(one.Rule.Check()) == 0 {
			groups = append(groups, one)
		}
	}
	return groups
}

// hint says what looks odd: times that are some half hours away from the arrival, a sensor that the user must name.
func hint(members []member) string {
	if members[0].v.c.rule.Sensor == "change-me" {
		return "messages do not say who measured: name the sensor"
	}
	const step, near = 15 * time.Minute, 3 * time.Minute
	for _, m := range members {
		shift := time.Duration(m.v.shift)
		off := (shift - shift.Round(step)).Abs()
		if m.v.timed > 0 && shift.Abs() > step-near && shift.Abs() < 15*time.Hour && off < near {
			return fmt.Sprintf("times are %v from the arrival: if these devices send local time, give their zone, such as zone = \"Europe/Berlin\"", shift.Round(step))
		}
	}
	return ""
}
