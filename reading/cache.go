package reading

import "strings"

// Bounds of the caches. A cache that is full is dropped whole: it fills again with what is in use.
const (
	maxCached     = 1 << 16
	maxCacheBytes = 8 << 20
)

// A match is a source that takes a topic, with what follows from the topic.
type match struct {
	index  uint16
	source *source
	caps   []string // captures of the topic
	series Series   // if the source is static and the sensor is good
	bad    string   // why the static sensor cannot be used
}

// A topicEntry is what is known about one topic.
type topicEntry struct {
	topic   string
	matches []match
}

// A topicCache remembers topics; those that no source takes too.
type topicCache struct {
	entries map[string]*topicEntry
	bytes   int
}

// topic finds the sources that take a topic, in configuration order.
func (d *Decoder) topic(topic string) *topicEntry {
	if e := d.topics.entries[topic]; e != nil {
		return e
	}
	e := d.matchTopic(strings.Clone(topic))
	c := &d.topics
	if c.bytes += len(topic); c.entries == nil || len(c.entries) >= maxCached || c.bytes > maxCacheBytes {
		c.entries, c.bytes = map[string]*topicEntry{}, len(topic)
	}
	c.entries[e.topic] = e
	return e
}

// What agents say of themselves to the broker: edgeagent/<id>/status.
const (
	statusRoot = "edgeagent/"
	statusLeaf = "/status"
)

// isStatus reports whether an agent says under this topic that it is online. A broad filter brings such messages, the agent's own
// too, at every connection; they are no readings that went wrong, so only a source that names the topic takes them.
func isStatus(topic string) bool {
	id, ok := strings.CutPrefix(topic, statusRoot)
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, statusLeaf)
	return ok && id != "" && !strings.Contains(id, "/")
}

func (d *Decoder) matchTopic(topic string) *topicEntry {
	e := &topicEntry{topic: topic}
	for i := range d.sources {
		s := &d.sources[i]
		caps, ok := s.topic.match(topic)
		if !ok || isStatus(topic) && !strings.HasPrefix(s.topic.filter()[len(s.topic.share):], statusRoot) {
			continue
		}
		mt := match{index: uint16(i), source: s, caps: caps}
		if s.static {
			d.setEnv(&mt)
			mt.series, mt.bad = d.makeSeries(s, nil)
		}
		e.matches = append(e.matches, mt)
	}
	return e
}

// A seriesCache keeps one string per series, so that a reading costs no allocation.
type seriesCache struct {
	known map[string]Series
	bytes int
}

func (c *seriesCache) intern(id []byte) Series {
	if s, ok := c.known[string(id)]; ok {
		return s
	}
	if c.bytes += len(id); c.known == nil || len(c.known) >= maxCached || c.bytes > maxCacheBytes {
		c.known, c.bytes = map[string]Series{}, len(id)
	}
	s := string(id)
	c.known[s] = Series(s)
	return Series(s)
}
