package configs

import (
	"strings"
	"testing"
)

func TestShard(t *testing.T) {
	c := mustParse(t, base+"[mqtt]\nshard = \"2/4\"\n")
	nth, of, ok := c.MQTT.ShardOf()
	if nth != 2 || of != 4 || !ok || c.MQTT.ClientID != "edgeagent-gw-2of4" || c.StatusTopic() != "edgeagent/gw-2of4/status" {
		t.Errorf("%d of %d, %v, client %q, topic %q", nth, of, ok, c.MQTT.ClientID, c.StatusTopic())
	}
	if c = mustParse(t, base); c.MQTT.ClientID != "edgeagent-gw" || c.StatusTopic() != "edgeagent/gw/status" {
		t.Errorf("alone: client %q, topic %q", c.MQTT.ClientID, c.StatusTopic())
	}
}

// A site is shared out by the broker or not at all.
func TestSharedSources(t *testing.T) {
	shared := strings.Replace(base, `topic = "`, `topic = "$share/hall/`, 1)
	if shared == base {
		t.Fatal("no topic to change")
	}
	c := mustParse(t, shared)
	if w := strings.Join(c.Warnings(), "\n"); !strings.Contains(w, "mqtt.shard: is not given, but the sources are shared subscriptions") {
		t.Errorf("without a shard: warnings %q", w)
	}
	c = mustParse(t, shared+"[mqtt]\nshard = \"1/2\"\n")
	if w := strings.Join(c.Warnings(), "\n"); strings.Contains(w, "shard") {
		t.Errorf("with a shard: warnings %q", w)
	}
	_, err := testMachine().parse("f", []byte(shared+"[[source]]\ntopic = \"a/{sensor}\"\n"))
	checkFault(t, "one of two", err, `source.topic: is not a shared subscription, but others are: every agent of the group would count it (got "a/{sensor}")`)
}
