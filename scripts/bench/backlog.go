package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

const tokenTimeout = time.Minute

// options are those of a client id whose session the broker keeps, and whose messages handler acknowledges.
func options(url, id string, handler paho.MessageHandler) *paho.ClientOptions {
	return paho.NewClientOptions().AddBroker(url).SetClientID(id).SetProtocolVersion(4).
		SetCleanSession(false).SetAutoReconnect(false).SetAutoAckDisabled(true).SetDefaultPublishHandler(handler)
}

// join connects with options.
func join(url, id string, handler paho.MessageHandler) (paho.Client, error) {
	c := paho.NewClient(options(url, id, handler))
	return c, await(c.Connect())
}

func await(token paho.Token) error {
	if !token.WaitTimeout(tokenTimeout) {
		return errors.New("no answer from the broker")
	}
	return token.Error()
}

// fill leaves n readings at the broker for session, which is subscribed and absent.
func fill(url string, n int) error {
	c, err := join(url, session, func(paho.Client, paho.Message) {})
	if err != nil {
		return fmt.Errorf("connect consumer: %w", err)
	}
	if err := await(c.Subscribe(filter, 1, nil)); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	c.Disconnect(250)
	if c, err = join(url, "bench-publisher", nil); err != nil {
		return fmt.Errorf("connect publisher: %w", err)
	}
	defer c.Disconnect(250)
	now := time.Now()
	return publish(c, n, func(i int) (string, string) { return backlog(i, n, now) })
}

const sensors = 100

// backlog is reading i of n that were measured sensor by sensor, a second apart for each, the last at now.
func backlog(i, n int, now time.Time) (topic, payload string) {
	return reading(i%sensors, 15+float64(i%1000)/100, now.Add(-time.Duration((n-1-i)/sensors)*time.Second))
}

func reading(sensor int, value float64, at time.Time) (topic, payload string) {
	return fmt.Sprintf("bench/s%02d/temperature", sensor), fmt.Sprintf(`{"temperature":%.2f,"ts":%d}`, value, at.UnixMilli())
}

// publish sends n messages as next gives them.
func publish(c paho.Client, n int, next func(i int) (topic, payload string)) error {
	var window [1000]paho.Token // unacknowledged at most
	for i := range n + len(window) {
		slot := &window[i%len(window)]
		if *slot != nil {
			if err := await(*slot); err != nil {
				return fmt.Errorf("publish: %w", err)
			}
			*slot = nil
		}
		if i < n {
			topic, payload := next(i)
			*slot = c.Publish(topic, 1, false, payload)
		}
	}
	return nil
}

// leftover counts what the broker still has for session, as far as it comes within a moment.
func leftover(url string) (int, error) {
	var n atomic.Int64
	c, err := join(url, session, func(_ paho.Client, m paho.Message) {
		m.Ack()
		n.Add(1)
	})
	if err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	<-time.After(500 * time.Millisecond)
	c.Disconnect(250)
	return int(n.Load()), nil
}
