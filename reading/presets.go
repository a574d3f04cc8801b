package reading

import (
	"fmt"
	"slices"
	"strings"
)

// A Preset is what is known of a device family: the keys of a Rule, and where its maker describes them. What a preset
// cannot know stays with the user: a zone, the topic where every site chooses its own (the rule then has none), the sensor
// where messages do not say who measured.
type Preset struct {
	Name string
	Link string
	Rule Rule
}

// Presets lists all presets by name.
func Presets() []Preset {
	all := slices.Concat(radioPresets(), homePresets(), softwarePresets(), lorawanPresets(), industryPresets())
	slices.SortFunc(all, func(a, b Preset) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// localTimes are presets of devices that send the time of their place without its offset, unless they are set otherwise.
var localTimes = []string{"rtl_433", "rtl_433-fahrenheit", "tasmota", "tasmota-root", "tasmota-status"}

// TakesLocalForUTC reports whether the times of r's preset are usually local, and r gives neither a zone nor a time of its own:
// then they are read as those of UTC, hours off without a word.
func (r Rule) TakesLocalForUTC() bool {
	return slices.Contains(localTimes, r.Preset) && r.Zone == "" && r.Time == "" && !slices.Contains(r.Blank, "time")
}

// WithPreset is r with the keys that have no value filled from its preset: the user's own win, and a key in Blank stays
// empty. Without a preset it is r. The error names the presets there are, or the capture that a topic of the user's own
// lacks. Compile does this by itself.
func (r Rule) WithPreset() (Rule, error) {
	if r.Preset == "" {
		return r, nil
	}
	all := Presets()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == r.Preset })
	if i < 0 {
		return r, fmt.Errorf("%q: %s", r.Preset, presetHint(r.Preset, all))
	}
	return r.fill(&all[i].Rule)
}

// nicknames are what people call some families, and how the presets of these begin.
var nicknames = []struct{ short, begin string }{
	{"z2m", "zigbee2mqtt"}, {"zigbee", "zigbee2mqtt"}, {"omg", "openmqttgateway"}, {"theengs", "openmqttgateway"}, {"ttn", "tts"}, {"things", "tts"},
	{"lorawan", "chirpstack"}, {"hass", "home-assistant"}, {"statestream", "home-assistant"}, {"zwave", "zwave-js-ui"}, {"1-wire", "wirenboard-w1"},
	{"actility", "thingpark"}, {"seeed", "sensecap"}, {"aws", "aws-shadow"}, {"greengrass", "aws-shadow"}, {"venus", "victron"}, {"kapua", "kura"},
	{"adam", "advantech-wise"}, {"wise", "advantech-wise"}, {"rtl433", "rtl_433"}, {"ignition", "sparkplug-b"}, {"opcua", "opc-ua"}, {"kepserver", "kepware"},
}

// presetHint names the presets that begin alike, those of a family's nickname, or all.
func presetHint(name string, all []Preset) string {
	stems := []string{strings.ToLower(name[:min(len(name), 4)])}
	for _, n := range nicknames {
		if strings.HasPrefix(strings.ToLower(name), n.short) {
			stems = append(stems, n.begin)
		}
	}
	var names, near []string
	for _, p := range all {
		names = append(names, p.Name)
		if slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(p.Name, stem) }) {
			near = append(near, p.Name)
		}
	}
	if len(near) > 0 {
		names = near
	}
	return "one of " + strings.Join(names, ", ") + " is allowed"
}

// fill takes from p what r lacks. A topic of the user's must have the captures that the preset's sensor names.
func (r Rule) fill(p *Rule) (Rule, error) {
	own := r.Topic
	for _, k := range []struct {
		key          string
		mine, theirs *string
	}{
		{"topic", &r.Topic, &p.Topic}, {"format", &r.Format, &p.Format}, {"each", &r.Each, &p.Each},
		{"sensor", &r.Sensor, &p.Sensor}, {"value", &r.Value, &p.Value}, {"unit", &r.Unit, &p.Unit}, {"time", &r.Time, &p.Time},
		{"time_format", &r.TimeFormat, &p.TimeFormat}, {"zone", &r.Zone, &p.Zone}, {"retained", &r.Retained, &p.Retained},
	} {
		if *k.mine == "" && !slices.Contains(r.Blank, k.key) {
			*k.mine = *k.theirs
		}
	}
	r.fillOthers(p)
	if own == "" || r.Sensor != p.Sensor {
		return r, nil
	}
	return r, missingCapture(own, p)
}

// fillOthers is fill for the keys that are no text.
func (r *Rule) fillOthers(p *Rule) {
	if r.Scale == 0 {
		r.Scale = p.Scale
	}
	if !slices.Contains(r.Blank, "time_required") {
		r.TimeRequired = r.TimeRequired || p.TimeRequired
	}
	if r.Reject == nil {
		r.Reject = p.Reject
	}
	if r.Min == nil {
		r.Min = p.Min
	}
	if r.Max == nil {
		r.Max = p.Max
	}
	if r.Columns == nil && r.ColumnsPath == "" && !slices.Contains(r.Blank, "columns") {
		r.Columns, r.ColumnsPath = p.Columns, p.ColumnsPath
	}
}

func missingCapture(topic string, p *Rule) error {
	if p.Topic == "" {
		return nil
	}
	theirs, err := parseTopic(p.Topic)
	if err != nil {
		return err
	}
	for _, name := range theirs.names {
		used := strings.Contains(p.Sensor, "{"+name+"}")
		if used && !strings.Contains(topic, "{"+name+"}") && !strings.Contains(topic, "{"+name+"...}") {
			return fmt.Errorf("its sensor is %q: name {%s} in the topic too, or give a sensor", p.Sensor, name)
		}
	}
	return nil
}
