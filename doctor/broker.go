package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"edgeagent/agent"
	"edgeagent/configs"
	"edgeagent/mqtt"
)

// Bounds of waiting at a broker.
const (
	grantWait = 20 * time.Second       // for connection and grants, beyond what the network takes
	lookEvery = 50 * time.Millisecond  // how often the state of the client is looked at
	moreWait  = 500 * time.Millisecond // for messages that the broker keeps, once it has granted their filter
)

// A broker is what was seen of one.
type broker struct {
	url     string
	err     error    // why there is no connection
	filters []string // asked for
	granted bool     // all of them
	refused []string
	heard   heard
	chain   chain
}

// seeBroker connects to one broker as the agent would, but for the name, and listens.
func seeBroker(ctx context.Context, o Options, url string) broker {
	b := broker{url: url}
	m := o.Config.MQTT
	m.Brokers = []string{url}
	b.chain = seeBrokerChain(ctx, url, m.TLS)
	decoder, err := decoderOf(o.Config)
	if err != nil {
		b.err = err
		return b
	}
	var filters []mqtt.Filter
	for _, f := range decoder.Filters() {
		filters = append(filters, mqtt.Filter{Topic: f.Topic, QoS: f.QoS})
		b.filters = append(b.filters, agent.Unshared(f.Topic))
	}
	b.heard = newHeard(decoder, o.Config)
	b.err = listen(ctx, m, filters, func(c *mqtt.Client) time.Duration {
		st := c.State()
		b.granted, b.refused = st.Subscribed, st.Refused
		if st.Subscribed || len(st.Refused) > 0 {
			return o.Listen
		}
		return -1
	}, b.heard.message)
	return b
}

// listen holds a session of its own until ready has told for how long it is to go on from then; below 0 it is asked again. The error
// says why there is no connection.
func listen(ctx context.Context, m configs.MQTT, filters []mqtt.Filter, ready func(*mqtt.Client) time.Duration, take func(mqtt.Delivery)) error {
	c, err := agent.NewObserver(m, filters, quiet())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	defer func() { stop(); <-ended }()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	until, granted := time.Now().Add(grantWait), false
	for time.Now().Before(until) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			ended <- nil
			return err
		case <-c.Ready():
		case <-tick.C:
		}
		for _, d := range c.Take(nil) {
			if d.Kind != mqtt.Publish {
				continue
			}
			take(d)
			if d.QoS > 0 {
				c.Ack(d.Conn, []uint16{d.PacketID})
			}
		}
		if st := c.State(); st.Err != nil {
			return st.Err
		}
		if d := ready(c); d >= 0 && !granted {
			until, granted = time.Now().Add(d), true
		}
	}
	if !granted {
		return fmt.Errorf("no connection and no grant within %v", grantWait)
	}
	return nil
}

func judgeBroker(b broker, o Options, run running) Report {
	r := judgeChain("tls", b.url, b.chain, o.Now())
	if b.err != nil {
		if run.answers() && run.report.MQTT.Connected && run.report.MQTT.Broker == b.url {
			return append(r, warn("broker", "the broker may know the agent's client id only; nothing was seen of filters and messages",
				"%s does not let this look on (%v), but the agent is connected", b.url, b.err))
		}
		return append(r, fail("broker", brokerNext(b.err, o.Now()), "%s: %v", b.url, b.err))
	}
	r = append(r, ok("broker", "%s lets us in%s", b.url, userOf(o.Config.MQTT)))
	for _, f := range b.filters {
		switch {
		case slices.Contains(b.refused, f):
			r = append(r, fail("filter", "allow it in the access rules of the broker, for this user", "%s: the broker refuses the subscription", f))
		case b.granted || len(b.refused) > 0:
			r = append(r, ok("filter", "%s is granted", f))
		default:
			r = append(r, fail("filter", "look at the broker's log", "%s: the broker did not answer the subscription", f))
		}
	}
	return r
}

func userOf(m configs.MQTT) string {
	if m.Username == "" {
		return ", without a user"
	}
	return " as " + m.Username
}
