package reading

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// number compiles what is done with a number once it is found.
func (c *compiler) number() {
	s, r := &c.source, &c.rule
	if s.scale = r.Scale; s.scale == 0 {
		s.scale = 1
	}
	if !finite(s.scale) {
		c.fault("scale", "%v: a finite number other than 0 is allowed", r.Scale)
	}
	if inv := math.Round(1 / s.scale); 1/inv == s.scale && math.Abs(inv) > 1 {
		s.inverse = inv
	}
	switch r.Unit {
	case "", "C":
		s.unit = celsius
	case "F":
		s.unit = fahrenheit
	case "K":
		s.unit = kelvin
	default:
		c.unit()
	}
	c.limits()
}

// unit compiles the path to a unit. The name of a unit would be a path that finds nothing, and its value read as Celsius.
func (c *compiler) unit() {
	if u := unitNamed(c.rule.Unit); u != noUnit {
		c.source.unit = u
		c.fault("unit", "%q: write %q; a path to a key of this name begins with $.", c.rule.Unit, u.letter())
		return
	}
	c.source.unitAt = c.single("unit", c.rule.Unit)
}

func (c *compiler) limits() {
	s, r := &c.source, &c.rule
	s.min, s.max = defaultMin, defaultMax
	if r.Min != nil {
		s.min = *r.Min
	}
	if r.Max != nil {
		s.max = *r.Max
	}
	if !finite(s.min) || !finite(s.max) || s.min >= s.max {
		c.fault("min", "%v: must be a number below max, which is %v", s.min, s.max)
	}
	s.reject = slices.Clone(r.Reject)
	if slices.ContainsFunc(s.reject, func(x float64) bool { return !finite(x) }) {
		c.fault("reject", "%v: finite numbers are allowed", r.Reject)
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func (c *compiler) times(defaultNotBefore int64) {
	s, r := &c.source, &c.rule
	var err error
	s.timeFormat, err = parseTimeFormat(r.TimeFormat)
	c.check("time_format", err)
	if s.zone, err = loadZone(r.Zone); err != nil {
		c.fault("zone", "%q: an IANA name such as Europe/Berlin is allowed", r.Zone)
	}
	if r.Time != "" {
		s.time = c.timeRefs(r.Time)
	}
	if s.timeRequired = r.TimeRequired; s.timeRequired && r.Time == "" {
		c.fault("time_required", "true without a time key would refuse every reading")
	}
	if s.notBefore = r.NotBefore; s.notBefore == NoTime {
		s.notBefore = defaultNotBefore
	}
	if s.format == senmlFormat && s.timeFormat.kind != "auto" && s.timeFormat.exponent != 9 {
		c.fault("time_format", "%q: SenML times are seconds; leave it out", r.TimeFormat)
	}
}

func loadZone(name string) (*time.Location, error) {
	switch name {
	case "", "UTC":
		return time.UTC, nil
	case "Local":
		return nil, fmt.Errorf("the gateway's own zone is no property of a device")
	}
	return time.LoadLocation(name)
}

// timeRefs compiles time: its alternatives are paths, or {capture}.
func (c *compiler) timeRefs(text string) []ref {
	var refs []ref
	for _, alt := range splitOutside(text, '|') {
		if name, ok := strings.CutPrefix(alt, "{"); ok && strings.HasSuffix(name, "}") {
			i := slices.Index(c.names, strings.TrimSuffix(name, "}"))
			if i < 0 {
				c.fault("time", "%s is no capture of topic, each or value", alt)
			}
			refs = append(refs, ref{capture: i})
			continue
		}
		for _, p := range c.single("time", alt) {
			refs = append(refs, ref{capture: -1, path: p})
		}
	}
	return refs
}

// series compiles the sensor and the tags.
func (c *compiler) series() {
	s := &c.source
	s.sensor = c.template("sensor", c.rule.Sensor)
	if c.rule.Sensor == "" {
		if s.sensor = c.defaultSensor(); s.sensor == nil && !c.lost {
			c.fault("sensor", "required, since the topic has no {capture}")
		}
	}
	s.static = s.sensor.static(s.eachCaps)
	tags := slices.Clone(c.rule.Tags)
	slices.SortStableFunc(tags, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	for i, t := range tags {
		if i > 0 && t.Key == tags[i-1].Key {
			c.fault("tags", "%q is there twice", t.Key)
		}
		c.tag(t)
	}
}

func (c *compiler) tag(t Tag) {
	switch {
	case checkText(t.Key) != "":
		c.fault("tags", "key %q %s", t.Key, checkText(t.Key))
	case slices.Contains([]string{"sensor", "gateway", "time", "field"}, t.Key) || t.Key[0] == '_':
		c.fault("tags", "%q is taken; any name but sensor, gateway, time, field and those that begin with _ is allowed", t.Key)
	}
	value := c.template("tags", t.Value)
	if len(value) == 0 {
		c.fault("tags", "%q has no value", t.Key)
	}
	c.source.static = c.source.static && value.static(c.source.eachCaps)
	c.source.tags = append(c.source.tags, tagTemplate{key: t.Key, value: value})
}

func (c *compiler) template(key, text string) template {
	t, err := parseTemplate(text, c.names)
	c.check(key, err)
	t.paths(func(p *path) { c.check(key, singular([]path{*p}, text)) })
	for _, p := range t {
		if why := checkText(p.text); p.text != "" && len(p.refs) == 0 && why != "" && why != "ends in a backslash" {
			c.fault(key, "%q %s", p.text, why)
		}
	}
	return t
}

// defaultSensor joins all captures by a slash, but for one that is the time: that would make every reading a sensor.
func (c *compiler) defaultSensor() template {
	var t template
	for i := range c.names {
		if slices.ContainsFunc(c.source.time, func(r ref) bool { return r.capture == i }) {
			continue
		}
		if t != nil {
			t = append(t, part{text: "/"})
		}
		t = append(t, part{text: "{" + c.names[i] + "}", refs: []ref{{capture: i}}})
	}
	return t
}

// forFormat checks what a format needs and what it cannot have.
func (c *compiler) forFormat() {
	r := &c.rule
	if c.source.format == textFormat {
		for _, k := range []struct{ key, text string }{{"each", r.Each}, {"value", r.Value}, {"columns", r.ColumnsPath + strings.Join(r.Columns, "")}} {
			if k.text != "" {
				c.fault(k.key, "%q: format text has no paths, the payload is the number", k.text)
			}
		}
		if len(c.source.unitAt) > 0 {
			c.fault("unit", "%q: C, F or K is allowed with format text", r.Unit)
		}
		c.eachPath(func(key string, p *path) {
			c.fault(key, "a path, or a capture that topic does not have; format text has no paths")
		})
		return
	}
	if r.Value == "" && c.source.format != jsonFormat {
		c.fault("value", "required with format %s: a path to the number", r.Format)
	}
	if r.Each == "" && c.source.format == sparkplugFormat {
		c.fault("each", "required with format sparkplug, for instance metrics[name=Inputs/Temp1]")
	}
	if c.source.format == csvFormat && len(c.source.columnsAt) > 0 {
		c.fault("columns", "a list of names is needed with format csv")
	}
}

// eachPath calls f for the paths that are looked up once a record: of time, sensor and tags.
func (c *compiler) eachPath(f func(key string, p *path)) {
	s := &c.source
	for i := range s.time {
		if s.time[i].capture < 0 {
			f("time", &s.time[i].path)
		}
	}
	s.sensor.paths(func(p *path) { f("sensor", p) })
	for i := range s.tags {
		s.tags[i].value.paths(func(p *path) { f("tags", p) })
	}
}

// memos numbers the rooted paths, so that each is looked up once a message and not once a record.
func (c *compiler) memos() {
	n := 0
	number := func(p *path) {
		if p.rooted {
			p.memo = n
			n++
		}
	}
	c.eachPath(func(_ string, p *path) { number(p) })
	for i := range c.source.unitAt {
		number(&c.source.unitAt[i])
	}
	c.source.memoCount = n
}
