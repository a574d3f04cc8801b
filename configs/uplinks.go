package configs

import (
	"cmp"
	"net"
	"net/url"
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

// sameUplinks warns of uplinks that write to the same place.
func (w *warner) sameUplinks() {
	names := map[destination]string{}
	for i := range w.Uplinks {
		u := &w.Uplinks[i]
		to, ok := destinationOf(u)
		if !ok {
			continue
		}
		if first, taken := names[to]; taken {
			w.warn(w.origin.uplink(i).key("url"), "writes to the same place as uplink %q: each point is sent twice, which changes nothing there; remove one of them, or give this one the url, database or bucket that is meant %s", first, got(u.URL))
			continue
		}
		names[to] = u.Name
	}
}

// A destination is where points come to lie, however it is written.
type destination struct{ server, database, policy, org string }

// destinationOf is that of an uplink; false if its url is none.
func destinationOf(u *Uplink) (destination, bool) {
	server, err := url.Parse(u.URL)
	if err != nil || server.Host == "" {
		return destination{}, false
	}
	port := cmp.Or(server.Port(), map[string]string{"http": "80", "https": "443"}[server.Scheme])
	d := destination{server: server.Scheme + "://" + net.JoinHostPort(strings.ToLower(server.Hostname()), port) + strings.TrimRight(server.Path, "/")}
	switch u.API {
	case "v1":
		d.database, d.policy = u.Database, u.RetentionPolicy
	case "v2":
		d.database, d.org = u.Bucket, u.Org
	default:
		d.database = u.Database
	}
	return d, true
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
