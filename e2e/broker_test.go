package e2e

import (
	"bytes"
	"os"
	"strings"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/sim"
	"edgeagent/testbed"
)

// mosquittoInFlight is mosquitto's own default of max_inflight_messages.
const mosquittoInFlight = 20

// newBroker starts a mosquitto that tells of subscriptions in its log and keeps what it has for an absent agent.
func newBroker(t *testing.T, o testbed.MosquittoOptions) *testbed.Broker {
	t.Helper()
	for _, kind := range []string{"error", "warning", "notice", "information", "subscribe"} {
		o.Conf = append(o.Conf, "log_type "+kind)
	}
	return testbed.StartMosquitto(t, o)
}

// awaitSubscription waits until the broker has taken a subscription of the gateway: from then on nothing is lost.
func awaitSubscription(t *testing.T, b *testbed.Broker, gateway string) {
	t.Helper()
	line := "edgeagent-" + gateway + " 1 sensors/"
	waitFor(t, soon, "the subscription of "+gateway, b.Log, func() bool { return strings.Contains(b.Log(), line) })
}

// A publisher publishes at QoS 1 over one connection, so that the order of arrival is the order of publishing.
type publisher struct {
	t      *testing.T
	client paho.Client
}

func newPublisher(t *testing.T, url string) publisher {
	t.Helper()
	return newPublisherAs(t, url, "", "")
}

// newPublisherAs logs in.
func newPublisherAs(t *testing.T, url, user, password string) publisher {
	t.Helper()
	o := paho.NewClientOptions().AddBroker(url).SetClientID("publisher").SetAutoReconnect(false).SetUsername(user).SetPassword(password)
	p := publisher{t, paho.NewClient(o)}
	p.settled(p.client.Connect())
	t.Cleanup(func() { p.client.Disconnect(100) })
	return p
}

// publish returns when the broker has taken all.
func (p publisher) publish(records ...sim.Record) {
	p.t.Helper()
	p.settled(p.send(records...)...)
}

// send publishes without waiting for the broker; see settled.
func (p publisher) send(records ...sim.Record) []paho.Token {
	tokens := make([]paho.Token, len(records))
	for i, r := range records {
		tokens[i] = p.client.Publish(r.Topic, 1, r.Retained, r.Payload)
	}
	return tokens
}

// settled waits for the broker's answers.
func (p publisher) settled(tokens ...paho.Token) {
	p.t.Helper()
	for _, token := range tokens {
		if !token.WaitTimeout(soon) || token.Error() != nil {
			p.t.Fatalf("publisher: %v", token.Error())
		}
	}
}

// records reads recordings.
func records(t *testing.T, files ...string) []sim.Record {
	t.Helper()
	var all []sim.Record
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		part, err := sim.ReadRecords(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, part...)
	}
	return all
}
