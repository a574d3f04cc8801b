package mqtt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// answerTimeout is how long a SUBACK or UNSUBACK may take, beside the time that a full queue may hold it up.
const answerTimeout = 30 * time.Second

const refused = 0x80 // in a SUBACK

// subscribe asks for all filters in one SUBSCRIBE, and for those refused again and again, with growing pauses. It returns
// true when all are granted, and false when the connection is over or ctx has ended.
func (s *session) subscribe(ctx context.Context) bool {
	c := s.c
	want := make(map[string]byte, len(c.cfg.Filters))
	for _, f := range c.cfg.Filters {
		want[f.Topic] = f.QoS
	}
	pauses := backoff{min: 10 * c.cfg.RetryMin, max: 10 * c.cfg.RetryMax, random: c.retry.random}
	short := false
	for len(want) > 0 {
		s.wire.asked.Store(int64(len(want)))
		ask := maps.Clone(want) // the call may outlive the wait for it
		t, ok := s.ask(ctx, func() paho.Token { return s.client.SubscribeMultiple(ask, nil) })
		if !ok {
			return false
		}
		s.arrive()
		pause := pauses.next()
		s.granted(want, t.(*paho.SubscribeToken), pause)
		if len(want) > 0 && !s.pause(ctx, pause) {
			return false
		}
		short = short || len(want) > 0
	}
	if short {
		if held, ok := c.failures.allow(c.now(), "granted"); ok {
			c.log.Info("mqtt: the broker grants every subscription now", "held_back", held)
		}
	}
	c.setState(func(st *State) { st.Subscribed = true })
	c.queue.force(Delivery{Kind: Subscribed, Conn: s.conn, Arrival: c.now()})
	return true
}

// granted removes from want what the broker has granted and says what it has not.
func (s *session) granted(want map[string]byte, t *paho.SubscribeToken, pause time.Duration) {
	log, now := s.c.log, s.c.now()
	defer func() {
		refused := slices.Sorted(maps.Keys(want))
		s.c.setState(func(st *State) { st.Refused = refused })
	}()
	if err := t.Error(); err != nil {
		if held, ok := s.c.failures.allow(now, "subscribe"+err.Error()); ok {
			log.Error("mqtt: cannot subscribe", "error", err, "next_try_in", round(pause), "held_back", held)
		}
		return
	}
	results := t.Result()
	for _, f := range s.c.cfg.Filters {
		if _, asked := want[f.Topic]; !asked {
			continue
		}
		code, answered := results[f.Topic]
		if !answered || code > 2 {
			if !answered {
				code = refused
			}
			if held, ok := s.c.failures.allow(now, "refused"+f.Topic); ok {
				log.Error("mqtt: the broker refuses a subscription: check its access rules", "filter", f.Topic,
					"code", code, "next_try_in", round(pause), "held_back", held)
			}
			continue
		}
		delete(want, f.Topic)
		if code < f.QoS {
			if held, ok := s.c.failures.allow(now, "lower"+f.Topic); ok {
				log.Warn("mqtt: the broker grants a lower QoS: messages may be lost", "filter", f.Topic, "asked", f.QoS, "granted", code, "held_back", held)
			}
		}
	}
}

// unsubscribe ends the filters of an earlier run, once. It returns false when the connection is over or ctx has ended.
func (s *session) unsubscribe(ctx context.Context) bool {
	c := s.c
	if c.unsubscribed {
		return true
	}
	var old []string
	for _, topic := range c.cfg.Unsubscribe {
		if !slices.ContainsFunc(c.cfg.Filters, func(f Filter) bool { return f.Topic == topic }) && !slices.Contains(old, topic) {
			old = append(old, topic)
		}
	}
	if len(old) > 0 {
		t, ok := s.ask(ctx, func() paho.Token { return s.client.Unsubscribe(old...) })
		if !ok {
			return false
		}
		if err := t.Error(); err != nil {
			c.log.Warn("mqtt: cannot unsubscribe", "filters", old, "error", err)
			return true // it is tried again with the next connection
		}
	}
	for _, topic := range old {
		c.log.Info("mqtt: unsubscribed from a filter that is no longer configured", "filter", topic)
	}
	c.unsubscribed = true
	return true
}

// ask makes a request and waits for the broker's answer. It returns false when the connection is over, or ends for want of
// an answer, or ctx has ended.
func (s *session) ask(ctx context.Context, request func() paho.Token) (paho.Token, bool) {
	limit := answerTimeout + s.c.cfg.KeepAlive/2
	timer := time.NewTimer(limit)
	defer timer.Stop()
	t := s.hand(request)
	if t == nil {
		return nil, false
	}
	select {
	case <-t.Done():
		return t, ctx.Err() == nil && !s.wire.over()
	case <-timer.C:
		s.wire.fail(fmt.Errorf("%w within %v", ErrNoAnswer, limit))
	case <-s.wire.done:
	case <-ctx.Done():
	}
	return nil, false
}

// hand gives a request to paho, which may take a few seconds to notice that there is no connection any more; these are not
// waited for here but at the end of Run. nil if the connection is over.
func (s *session) hand(request func() paho.Token) paho.Token {
	taken := make(chan paho.Token, 1)
	s.c.requests.Go(func() { taken <- request() })
	select {
	case t := <-taken:
		return t
	case <-s.wire.done:
		return nil
	}
}

// pause waits; false when the connection is over or ctx has ended.
func (s *session) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.wire.done:
	case <-ctx.Done():
	}
	return false
}
