package testbed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

const waitToken = 30 * time.Second

// connect joins a broker. handler may be nil; a client with one keeps its session and acknowledges by hand.
func connect(t *testing.T, url, id string, handler paho.MessageHandler) paho.Client {
	t.Helper()
	o := paho.NewClientOptions().AddBroker(url).SetClientID(id).SetProtocolVersion(4).SetAutoReconnect(false)
	if handler != nil {
		o.SetCleanSession(false).SetAutoAckDisabled(true).SetDefaultPublishHandler(handler)
	}
	c := paho.NewClient(o)
	done(t, c.Connect())
	t.Cleanup(func() { c.Disconnect(0) })
	return c
}

func done(t *testing.T, token paho.Token) {
	t.Helper()
	if !token.WaitTimeout(waitToken) || token.Error() != nil {
		t.Fatalf("token: done %v, %v", token.WaitTimeout(0), token.Error())
	}
}

// queue leaves n messages at the broker for the session of id: "0", "1", …
func queue(t *testing.T, b *Broker, id string, n int) {
	t.Helper()
	absent := connect(t, b.URL(), id, func(paho.Client, paho.Message) {})
	done(t, absent.Subscribe("t", 1, nil))
	absent.Disconnect(100)
	pub := connect(t, b.URL(), "publisher", nil)
	for i := range n {
		done(t, pub.Publish("t", 1, false, fmt.Sprint(i)))
	}
	pub.Disconnect(100)
}

// drain joins as id and returns the next n payloads, acknowledging each if ack, and what came beyond them within a moment.
func drain(t *testing.T, b *Broker, id string, n int, ack bool) []string {
	t.Helper()
	got := make(chan string, 1000)
	c := connect(t, b.URL(), id, func(_ paho.Client, m paho.Message) {
		if ack {
			m.Ack()
		}
		got <- string(m.Payload())
	})
	var all []string
	wait := waitToken
	for {
		if len(all) >= n {
			wait = 200 * time.Millisecond
		}
		select {
		case s := <-got:
			all = append(all, s)
		case <-time.After(wait):
			c.Disconnect(100)
			return all
		}
	}
}

func numbers(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(i))
	}
	return all
}

func TestMosquittoQueues(t *testing.T) {
	tests := []struct {
		name    string
		opts    MosquittoOptions
		between func(b *Broker)
		ack     bool
		want    int // of 50 messages
	}{
		{"no limit", MosquittoOptions{}, func(*Broker) {}, false, 50},
		{"in flight", MosquittoOptions{MaxInflight: 20}, func(*Broker) {}, false, 20},
		{"in flight, acknowledged", MosquittoOptions{MaxInflight: 20}, func(*Broker) {}, true, 50},
		{"queue limit", MosquittoOptions{MaxQueued: 7, MaxInflight: 5}, func(*Broker) {}, true, 7},
		{"more conf", MosquittoOptions{Conf: []string{"max_queued_bytes 1"}}, func(*Broker) {}, true, 1},
		{"restarted with persistence", MosquittoOptions{Persistence: true}, (*Broker).Restart, true, 50},
		{"restarted without", MosquittoOptions{}, (*Broker).Restart, true, 0},
		{"killed, never saved", MosquittoOptions{Persistence: true}, func(b *Broker) { b.Kill(); b.Restart() }, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := StartMosquitto(t, tt.opts)
			queue(t, b, "absent", 50)
			tt.between(b)
			got := drain(t, b, "absent", tt.want, tt.ack)
			if !slices.Equal(got, numbers(tt.want)) {
				t.Errorf("got %d messages, want %d in order: %v", len(got), tt.want, got)
			}
		})
	}
}

func TestMosquittoSavesItself(t *testing.T) {
	b := StartMosquitto(t, MosquittoOptions{Persistence: true, Autosave: time.Second, LogPackets: true})
	queue(t, b, "absent", 5)
	saved := func() int { return countLines(b.Log(), "Saving in-memory database") }
	before := saved()
	// It says so before it does, so the second word means that the first save is whole.
	WaitFor(t, waitToken, "the broker to save", func() bool { return saved() > before+1 })
	b.Kill()
	b.Restart()
	if got := drain(t, b, "absent", 5, true); !slices.Equal(got, numbers(5)) {
		t.Errorf("got %v, want 5 messages", got)
	}
	if countLines(b.Log(), "Received PUBLISH from publisher") != 5 {
		t.Errorf("LogPackets shows no packets:\n%s", b.LogTail(20))
	}
}

// countLines is the number of lines of text with part in them.
func countLines(text, part string) int {
	n := 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}
