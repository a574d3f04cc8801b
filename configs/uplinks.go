package configs

import (
	"slices"
	"strings"
	"time"
)

// uplinks reads the [[uplink]] tables; a single [uplink] is read with the other sections.
func (l *loader) uplinks(tree map[string]any) {
	all, ok := tree["uplink"].([]any)
	if !ok {
		return
	}
	delete(tree, "uplink")
	for i, v := range all {
		if i > 0 {
			l.config.Uplinks = append(l.config.Uplinks, Default().Uplinks...)
		}
		l.section(uplinkSection(&l.config.Uplinks[i]), l.uplink(i), v)
	}
}

// uplink is the path of an uplink, from 0.
func (o *origin) uplink(i int) path {
	p := at("uplink")
	if list := p.index(i); i > 0 || o.places.has(list) {
		return list
	}
	return p
}

// checkUplinks judges every uplink, and their names together.
func (l *loader) checkUplinks() {
	all := l.config.Uplinks
	names := map[string]bool{}
	for i := range all {
		u, key := &all[i], l.uplink(i).key("name")
		switch problem := badUplinkName(u.Name); {
		case len(all) > 1 && !l.places.has(key):
			l.fault(key, `is missing; of several uplinks each needs one, such as name = "central"`)
		case problem != "":
			l.fault(key, "%s", problem)
		case names[u.Name]:
			l.fault(key, "another uplink has this name; each needs one of its own %s", got(u.Name))
		}
		names[u.Name] = true
		l.checkUplink(l.uplink(i), u)
	}
}

// maxUplinkName bounds a name in bytes: it is a key of the store, and a label.
const maxUplinkName = 64

// badUplinkName says why a name will not do, "" if it will.
func badUplinkName(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if name == "" || len(name) > maxUplinkName || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return "must be of letters, digits, - and _, at most 64 " + got(name)
	}
	return ""
}

// UplinkNames are the names of the uplinks, in the order of the file.
func (c *Config) UplinkNames() (names []string) {
	for i := range c.Uplinks {
		names = append(names, c.Uplinks[i].Name)
	}
	return names
}

// HealthInterval is how often a health line is made: the shortest interval of any uplink, since one line goes to all. 0 is never.
func (c *Config) HealthInterval() time.Duration {
	var every []time.Duration
	for i := range c.Uplinks {
		if d := c.Uplinks[i].HealthInterval.Std(); d > 0 {
			every = append(every, d)
		}
	}
	if len(every) == 0 {
		return 0
	}
	return slices.Min(every)
}
