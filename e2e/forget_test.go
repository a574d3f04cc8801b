package e2e

import (
	"strings"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/status"
	"edgeagent/testbed"
)

// TestForget retires a gateway: its session, what waits in it, and its status message are gone from the broker.
func TestForget(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere})
	w.start()
	w.await(soon, "the connection", func(r status.Report) bool { return r.MQTT.Connected })
	awaitSubscription(t, b, "gw")
	refused := func(want string, args ...string) {
		t.Helper()
		out, errs, code := w.prog.output(t, append([]string{"forget", "-c", w.conf}, args...)...)
		if code == 0 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("forget %v: exit code %d, stdout %q, stderr %q; want %q", args, code, out, errs, want)
		}
	}
	refused("the agent runs: stop it first", "--yes")
	w.stop()
	newPublisher(t, b.URL()).publish(windowed(30)...)
	refused("nothing was deleted: add --yes")
	out, errs, code := w.prog.output(t, "forget", "-c", w.conf, "--yes")
	if code != 0 || out != b.URL()+" has forgotten edgeagent-gw\n" || !strings.Contains(errs, "at least 20 messages wait in it and will be lost") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
	}
	got := make(chan string, 100)
	o := paho.NewClientOptions().AddBroker(b.URL()).SetClientID("edgeagent-gw").SetCleanSession(false)
	c := paho.NewClient(o.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { got <- m.Topic() }))
	token := c.Connect().(*paho.ConnectToken)
	if !token.WaitTimeout(soon) || token.Error() != nil {
		t.Fatal(token.Error())
	}
	if s := c.Subscribe("edgeagent/#", 1, nil); !s.WaitTimeout(soon) || s.Error() != nil {
		t.Fatal(s.Error())
	}
	c.Disconnect(250)
	if token.SessionPresent() || len(got) != 0 {
		t.Errorf("session present %v, %d messages", token.SessionPresent(), len(got))
	}
	// somebody else is online under this name
	p := newPublisher(t, b.URL())
	p.settled(p.client.Publish("edgeagent/gw/status", 1, true, `{"state":"online","since":"2026-01-02T03:04:05Z"}`))
	refused("the broker says that gw is online since 2026-01-02T03:04:05Z, but not here", "--yes")
	if out, errs, code := w.prog.output(t, "forget", "-c", w.conf, "--yes", "--force"); code != 0 || !strings.Contains(out, "has forgotten") {
		t.Errorf("forced: exit code %d, %q %q", code, out, errs)
	}
	b.Stop()
	refused("connection refused", "--yes")
}
