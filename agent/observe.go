package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"edgeagent/configs"
	"edgeagent/mqtt"
)

// lookEvery is how often an observer that waits looks whether it has failed.
const lookEvery = 100 * time.Millisecond

// Observe looks on at the broker of a configuration until ctx ends, and calls take for every message of the filters, one at
// a time. It has a session of its own, which the broker forgets, and takes messages in QoS 0: the session of the agent, and
// what waits in it, are not touched. The error says why the broker could not be reached or refused the filters; that of ctx
// is none.
func Observe(ctx context.Context, m configs.MQTT, filters []string, log *slog.Logger, take func(mqtt.Delivery)) error {
	var all []mqtt.Filter
	for _, f := range filters {
		all = append(all, mqtt.Filter{Topic: f})
	}
	c, err := NewObserver(m, all, log)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	err = watch(ctx, c, take, ended)
	if errors.Is(err, errNoConnection) {
		err = fmt.Errorf("%s: %w", strings.Join(m.Brokers, ", "), err)
	}
	stop()
	return errors.Join(err, <-ended)
}

// NewObserver is a client that looks on at the broker of a configuration, in a session of its own that the broker forgets. A shared
// subscription is looked at as a plain one: as a member of the group it would take messages from the agents.
func NewObserver(m configs.MQTT, filters []mqtt.Filter, log *slog.Logger) (*mqtt.Client, error) {
	tlsConfig, err := TLSOf("mqtt.tls", m.TLS, log)
	if err != nil {
		return nil, err
	}
	filters = slices.Clone(filters)
	for i := range filters {
		filters[i].Topic = Unshared(filters[i].Topic)
	}
	return mqtt.New(mqtt.Config{
		Brokers: m.Brokers, ClientID: m.ClientID + "-look-" + rand.Text()[:8], Transient: true,
		Username: m.Username, Password: secretFile(m.PasswordFile, m.Password),
		KeepAlive: m.KeepAlive.Std(), MaxMessageBytes: int(m.MaxMessageBytes), TLS: tlsConfig, Filters: filters, Logger: log,
	}), nil
}

// Unshared is a filter without the group of a shared subscription.
func Unshared(filter string) string {
	if rest, shared := strings.CutPrefix(filter, "$share/"); shared {
		if _, topic, ok := strings.Cut(rest, "/"); ok {
			return topic
		}
	}
	return filter
}

// errNoConnection is part of the error when the first attempt failed.
var errNoConnection = errors.New("listen at the broker")

// watch hands on messages until ctx ends, Run does, or no connection came about at the first attempt.
func watch(ctx context.Context, c *mqtt.Client, take func(mqtt.Delivery), ended chan error) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var all []mqtt.Delivery
	subscribed := false
	for {
		select {
		case err := <-ended:
			ended <- nil
			return err
		case <-ctx.Done():
		case <-tick.C:
		case <-c.Ready():
		}
		all = c.Take(all[:0])
		for _, d := range all {
			subscribed = subscribed || d.Kind == mqtt.Subscribed
			if d.Kind == mqtt.Publish {
				take(d)
			}
		}
		if st := c.State(); !subscribed && st.Err != nil {
			return fmt.Errorf("%w: %w", errNoConnection, st.Err)
		}
		if ctx.Err() != nil && !subscribed {
			return errors.New("listen at the broker: it did not grant the subscription in time")
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}
