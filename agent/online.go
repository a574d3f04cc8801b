package agent

import "time"

// settleIn is how long after a subscription silence does not count: readings may be waiting in the broker.
const settleIn = 30 * time.Second

// online is the time for which the agent has listened, connected and subscribed, as the idle rule counts it.
type online struct {
	sum       time.Duration
	listening bool
	from      time.Duration // Up, from when the present subscription counts
}

func (o *online) subscribed(up time.Duration) {
	o.down(up)
	o.listening, o.from = true, up+settleIn
}

func (o *online) down(up time.Duration) {
	o.sum = o.at(up)
	o.listening = false
}

func (o *online) at(up time.Duration) time.Duration {
	if !o.listening {
		return o.sum
	}
	return o.sum + max(0, up-o.from)
}
