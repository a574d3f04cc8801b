package configs

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// Warnings are what is allowed but seldom meant, one line each like the faults of an Error, by line. `check` shows them
// and `run` logs them. Nil if there are none.
func (c *Config) Warnings() []string {
	w := newWarner(c)
	w.times()
	w.sources()
	w.shard()
	w.store()
	w.connection(at("mqtt"), &c.MQTT.TLS, c.MQTT.Brokers)
	for i := range c.Uplinks {
		u := &c.Uplinks[i]
		w.connection(w.origin.uplink(i), &u.TLS, []string{u.URL})
		w.uplink(w.origin.uplink(i), u)
	}
	w.sameUplinks()
	return w.lines()
}

type warner struct {
	*Config
	*origin
	found []Fault
}

func newWarner(c *Config) *warner {
	w := &warner{Config: c, origin: c.origin}
	if w.origin == nil {
		w.origin = &origin{file: "configuration"}
	}
	return w
}

// lines are the warnings found, nil if there are none.
func (w *warner) lines() []string {
	err := faultsOf(w.file, w.found)
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

func (w *warner) warn(p path, format string, args ...any) {
	w.found = append(w.found, w.origin.fault(p, format, args...))
}

func (w *warner) times() {
	m := &w.Watermark
	if m.MaxFuture == 0 {
		w.warn(at("watermark", "max_future"), "is off: one device with its clock in the future makes every later reading late")
	} else if m.MaxFuture >= m.Delay {
		w.warn(at("watermark", "max_future"), "is at or above watermark.delay (%s): one clock as far ahead as that makes punctual readings late (got %s)", m.Delay, m.MaxFuture)
	}
	if w.Window.Emit != "update" && w.Window.UpdateInterval != Default().Window.UpdateInterval {
		w.warn(at("window", "update_interval"), `has no effect unless emit = "update"`)
	}
	if span := w.Window.Size + m.Delay; w.Buffer.SensorExpiry < span {
		w.warn(at("buffer", "sensor_expiry"), "is below window.size and watermark.delay together (%s): a sensor may be forgotten while its window is open (got %s)", span, w.Buffer.SensorExpiry)
	}
	if w.Gateway.Clock == "untrusted" {
		w.warn(at("gateway", "clock"), "the clock is never trusted: readings far ahead are held back, not refused")
	}
}

func (w *warner) sources() {
	for i, r := range w.Sources {
		p := at("source").index(i)
		if r.QoS == 0 {
			w.warn(p.key("qos"), "0: what the broker sends while the agent or the link is down is lost; 1 keeps it")
		}
		if r.TakesLocalForUTC() {
			w.warn(p.key("preset"), "these devices send local times without an offset, which are read as UTC: give their zone, such as zone = \"Europe/Berlin\", or zone = \"UTC\" if that is right %s", got(r.Preset))
		}
		for j := range i {
			if overlap(w.Sources[j].Topic, r.Topic) {
				w.warn(p.key("topic"), "takes topics that %q takes too: a message may be read by both", w.Sources[j].Name)
			}
		}
	}
}

// overlap reports whether a topic exists that fits both patterns. Captures are taken for whole levels, so patterns that
// differ only in the text around a capture overlap here, as their MQTT filters do.
func overlap(a, b string) bool {
	if a == "" || b == "" {
		return false // from a preset
	}
	return levelsOverlap(strings.Split(a, "/"), strings.Split(b, "/"))
}

func levelsOverlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == 0 && len(b) == 0 || len(a)+len(b) == 1 && append(a, b...)[0] == "#"
	}
	many := func(level string) bool { return level == "#" || strings.HasSuffix(level, "...}") }
	if many(b[0]) && !many(a[0]) {
		a, b = b, a
	}
	switch {
	case many(a[0]):
		// a takes one level and is done, or goes on; # may also take none
		return levelsOverlap(a[1:], b[1:]) || levelsOverlap(a, b[1:]) || a[0] == "#" && levelsOverlap(a[1:], b)
	case a[0] != b[0] && !anyLevel(a[0]) && !anyLevel(b[0]):
		return false
	}
	return levelsOverlap(a[1:], b[1:])
}

func anyLevel(level string) bool { return level == "+" || strings.Contains(level, "{") }

// The estimate of StoreNeed: a reading of each sensor a minute, and the bytes one takes in the journal.
const (
	readingEvery  = time.Minute
	bytesOfEntry  = 32
	journalShares = 2 // the journal may have half of the file
)

// StoreNeed estimates the max_size at which no reading is refused for want of room, in bytes: every sensor of
// max_sensors sends once a minute, and each reading is remembered until its repeat could not count any more. Room for
// points that wait for the uplink comes on top.
func (c *Config) StoreNeed() Size {
	perSensor := int64(c.remembered())/int64(readingEvery) + 1
	return Size(int64(c.Buffer.MaxSensors) * perSensor * bytesOfEntry * journalShares)
}

func (w *warner) store() {
	b := &w.Buffer
	if need := w.StoreNeed(); need > b.MaxSize {
		w.warn(at("buffer", "max_size"), "is below the %d MiB that %d sensors need with this delay, at a reading a minute each: when it is full readings are refused (got %s)", (need+MiB-1)/MiB, b.MaxSensors, b.MaxSize)
	}
	if !strings.HasPrefix(b.Dir, "/") {
		w.warn(at("buffer", "dir"), "depends on the folder the agent is started in; write the whole path %s", got(b.Dir))
	}
}

// connection warns of encryption that is asked for but not had.
func (w *warner) connection(p path, t *TLS, addresses []string) {
	if t.InsecureSkipVerify {
		w.warn(p.key("tls").key("insecure_skip_verify"), "anyone on the way can read and change what is sent")
	}
	for _, a := range addresses {
		if a != "" && !usesTLS(a) && *t != (TLS{}) {
			w.warn(p.key("tls"), "has no effect on %s, which is not encrypted", a)
		}
	}
}

func (w *warner) uplink(p path, u *Uplink) {
	if u.URL == "" {
		return
	}
	values := map[string]string{"org": u.Org, "bucket": u.Bucket, "database": u.Database, "retention_policy": u.RetentionPolicy}
	for _, key := range []string{"org", "bucket", "database", "retention_policy"} {
		if values[key] != "" && !slices.Contains(apiKeys[u.API], key) {
			w.warn(p.key(key), "has no effect with api = %q", u.API)
		}
	}
	server, err := url.Parse(u.URL)
	secret := u.TokenFile + u.Token + u.PasswordFile + u.Password
	if err == nil && server.Scheme == "http" && !isLoopback(server.Hostname()) && secret != "" {
		w.warn(p.key("url"), "is not encrypted: the token or password can be read on the way; use https (got %s)", u.URL)
	}
}
