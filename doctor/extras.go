package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"edgeagent/configs"
	"edgeagent/mqtt"
	"edgeagent/status"
)

// brokerVersion is where mosquitto says what it is.
const brokerVersion = "$SYS/broker/version"

// extras are what the broker may tell beside the messages; nothing is wrong if it does not.
type extras struct {
	version string // of the broker
	online  string // since when the retained status of this gateway says online; "" if it does not
}

// seeExtras asks the first broker that answers, with a session beside the one that is judged: a broker may end a connection that asks
// for what it may not see.
func seeExtras(ctx context.Context, o Options) extras {
	var x extras
	status := o.Config.StatusTopic()
	// every broker that fails is one of the lines of its own; here it only means that nothing is told
	_ = listen(ctx, o.Config.MQTT, []mqtt.Filter{{Topic: brokerVersion}, {Topic: status}}, func(c *mqtt.Client) time.Duration {
		if st := c.State(); st.Subscribed || len(st.Refused) > 0 {
			return moreWait
		}
		return -1
	}, func(d mqtt.Delivery) {
		switch d.Topic {
		case brokerVersion:
			x.version = string(d.Payload)
		case status:
			x.online = onlineSince(d)
		}
	})
	return x
}

// onlineSince reads a status message.
func onlineSince(d mqtt.Delivery) string {
	var p struct{ State, Since string }
	if json.Unmarshal(d.Payload, &p) != nil || p.State != "online" {
		return ""
	}
	if p.Since == "" {
		return "a time not told"
	}
	return p.Since
}

func (x extras) mosquitto() bool { return strings.HasPrefix(x.version, "mosquitto") }

// judgePresence tells of another gateway of the same name: one is online while none runs here.
func judgePresence(x extras, run running) Report {
	if x.online == "" || !errors.Is(run.err, status.ErrNoAgent) {
		return nil
	}
	return Report{warn("presence", "is a second gateway set up with this gateway.id, from a copied card? they throw each other out and overwrite each other's points",
		"the broker says that this gateway is online since %s, but no agent runs here", x.online)}
}

// Online tells since when the broker says that the gateway of a configuration is online, "" if it does not.
func Online(ctx context.Context, c *configs.Config) string {
	return seeExtras(ctx, Options{Config: c}).online
}
