package mqtt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

const statusTopic = "edgeagent/gw/status"

// sleeper is a client with a session that it has left.
func sleeper(t *testing.T, addr string, filters ...string) (present bool, got []string) {
	t.Helper()
	messages := make(chan string, 1000)
	o := paho.NewClientOptions().AddBroker("tcp://" + addr).SetClientID("gw").SetCleanSession(false)
	c := paho.NewClient(o.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { messages <- m.Topic() }))
	tk := c.Connect().(*paho.ConnectToken)
	if !tk.WaitTimeout(10*time.Second) || tk.Error() != nil {
		t.Fatalf("connect: %v", tk.Error())
	}
	for _, f := range filters {
		if tk := c.Subscribe(f, 1, nil); !tk.WaitTimeout(10*time.Second) || tk.Error() != nil {
			t.Fatalf("subscribe: %v", tk.Error())
		}
	}
	// what the broker has to send comes before the answer to this
	if tk := c.Unsubscribe("none"); !tk.WaitTimeout(10*time.Second) || tk.Error() != nil {
		t.Fatalf("unsubscribe: %v", tk.Error())
	}
	c.Disconnect(500)
	close(messages)
	for m := range messages {
		got = append(got, m)
	}
	return tk.SessionPresent(), got
}

func publish(t *testing.T, p paho.Client, topic string, retain bool, payload string) {
	t.Helper()
	if tk := p.Publish(topic, 1, retain, payload); !tk.WaitTimeout(10*time.Second) || tk.Error() != nil {
		t.Fatalf("publish: %v", tk.Error())
	}
}

// A look tells what waits and leaves it; Forget leaves nothing.
func TestForget(t *testing.T) {
	addr := mosquitto(t).Addr()
	p := publisher(t, addr)
	defer p.Disconnect(100)
	cfg := Config{Brokers: []string{"tcp://127.0.0.1:1", "tcp://" + addr}, ClientID: "gw", StatusTopic: statusTopic}
	if left, err := LookAtSession(t.Context(), cfg); err != nil || left.Present || left.Messages != 0 {
		t.Errorf("before there is a session: %+v, %v", left, err)
	}
	if present, _ := sleeper(t, addr, "s/#"); present {
		t.Error("a look has left a session behind")
	}
	publish(t, p, statusTopic, true, `{"state":"offline"}`)
	for range 25 {
		publish(t, p, "s/1", false, "20")
	}
	for range 2 {
		left, err := LookAtSession(t.Context(), cfg)
		if err != nil || !left.Present || left.Messages != 10 || left.Broker != "tcp://"+addr {
			t.Errorf("got %+v, %v; want a session and the 10 messages of the in-flight limit", left, err)
		}
	}
	if err := Forget(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	present, got := sleeper(t, addr, statusTopic, "s/#")
	if present || len(got) != 0 {
		t.Errorf("afterwards: session %v, messages %v", present, got)
	}
}

func TestForgetFaults(t *testing.T) {
	err := Forget(t.Context(), Config{Brokers: []string{"tcp://127.0.0.1:1"}, ClientID: "gw"})
	if err == nil || !strings.Contains(err.Error(), "tcp://127.0.0.1:1: open connection: dial: connection refused") {
		t.Errorf("no broker: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LookAtSession(ctx, Config{Brokers: []string{"tcp://127.0.0.1:1"}, ClientID: "gw"}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if err := Forget(t.Context(), Config{Brokers: []string{"tcp://127.0.0.1:1"}}); err == nil || !strings.Contains(err.Error(), "client id is empty") {
		t.Errorf("no client id: %v", err)
	}
}
