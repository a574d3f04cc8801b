package mqtt

import (
	"encoding/json"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// presence is the payload on the status topic. A last will has no time, since nobody knows when it will be sent.
func presence(state, why string, at time.Time) []byte {
	p := struct {
		State  string `json:"state"`
		Reason string `json:"reason,omitempty"`
		Since  string `json:"since,omitempty"` // RFC 3339, by the gateway's clock
	}{State: state, Reason: why}
	if !at.IsZero() {
		p.Since = at.UTC().Format(time.RFC3339)
	}
	b, _ := json.Marshal(p) // strings cannot fail
	return b
}

// announce publishes the birth message, or another state. The answer is not waited for: if the message is lost, so is the
// connection, and the broker or the next connection tells.
func (s *session) announce(state, why string, at time.Time) {
	if topic := s.c.cfg.StatusTopic; topic != "" && !s.wire.over() {
		s.hand(func() paho.Token { return s.client.Publish(topic, 1, true, presence(state, why, at)) })
	}
}

// arrive says, once a connection, that the agent is there, since what is published from now on reaches it: the broker had its
// session, or has answered a subscription.
func (s *session) arrive() {
	if s.online {
		return
	}
	s.online = true
	s.c.setState(func(st *State) { st.Connected, st.Since = true, s.c.now() })
	s.announce("online", "", s.since)
}
