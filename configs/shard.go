package configs

import (
	"strconv"
	"strings"

	"edgeagent/reading"
)

// maxShards is how many agents may share a site. Each reads everything that the broker has.
const maxShards = 64

// ShardOf is the place among the agents that share a site and how many they are; 0 and 0 for the only one. It is false for a text
// that is neither "" nor "K/N" with 1 <= K <= N <= 64.
func (m *MQTT) ShardOf() (nth, of int, ok bool) {
	if m.Shard == "" {
		return 0, 0, true
	}
	left, right, _ := strings.Cut(m.Shard, "/")
	nth, err1 := strconv.Atoi(left)
	of, err2 := strconv.Atoi(right)
	if err1 != nil || err2 != nil || nth < 1 || nth > of || of > maxShards || m.Shard != strconv.Itoa(nth)+"/"+strconv.Itoa(of) {
		return 0, 0, false
	}
	return nth, of, true
}

// shardSuffix sets apart what agents of one gateway id must not share: "-2of4".
func (m *MQTT) shardSuffix() string {
	nth, of, _ := m.ShardOf()
	if of == 0 {
		return ""
	}
	return "-" + strconv.Itoa(nth) + "of" + strconv.Itoa(of)
}

// StatusTopic is where the agent says that it is online, and the broker that it is not.
func (c *Config) StatusTopic() string {
	return "edgeagent/" + c.Gateway.ID + c.MQTT.shardSuffix() + "/status"
}

// checkShard checks how a site is shared out: by the broker or by hash, not by both.
func (l *loader) checkShard(m *MQTT) {
	if _, _, ok := m.ShardOf(); !ok {
		l.fault(at("mqtt", "shard"), "must be K/N, this agent and how many share the site, at most 64, as in \"2/4\" %s", got(m.Shard))
	}
	if l.config.hasTag("shard") && m.Shard != "" {
		l.fault(at("gateway", "tags").key("shard"), "is the tag that mqtt.shard sets; give it another name")
	}
	if !reading.Shared(l.config.Sources) {
		return
	}
	for i, s := range l.config.Sources {
		if !reading.Shared(l.config.Sources[i : i+1]) {
			l.fault(at("source").index(i).key("topic"), "is not a shared subscription, but others are: every agent of the group would count it %s", got(s.Topic))
		}
	}
}

// shard warns of agents that would overwrite each other's points.
func (w *warner) shard() {
	if w.MQTT.Shard == "" && reading.Shared(w.Sources) {
		w.warn(at("mqtt", "shard"), `is not given, but the sources are shared subscriptions: agents of one group need different gateway ids, or each its own shard as in "2/4"`)
	}
}

func (c *Config) hasTag(key string) bool {
	for _, t := range c.Gateway.Tags {
		if t.Key == key {
			return true
		}
	}
	return false
}
