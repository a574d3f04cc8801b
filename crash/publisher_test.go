package crash

import (
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// A publisher publishes at QoS 1 over one connection, so that the order of arrival is the order of publishing.
type publisher struct {
	t      *testing.T
	client paho.Client
	last   []paho.Token
}

// mostWaiting is how many messages a publisher sends before it waits for the broker.
const mostWaiting = 500

func newPublisher(t *testing.T, url string) *publisher {
	t.Helper()
	o := paho.NewClientOptions().AddBroker(url).SetClientID("publisher").SetAutoReconnect(false)
	p := &publisher{t: t, client: paho.NewClient(o)}
	p.settled(p.client.Connect())
	t.Cleanup(func() { p.client.Disconnect(100) })
	return p
}

// send publishes without waiting for the broker, but for now and then.
func (p *publisher) send(topic, payload string) {
	p.t.Helper()
	p.last = append(p.last, p.client.Publish(topic, 1, false, payload))
	if len(p.last) >= mostWaiting {
		p.flush()
	}
}

// flush waits until the broker has taken all.
func (p *publisher) flush() {
	p.t.Helper()
	p.settled(p.last...)
	p.last = p.last[:0]
}

func (p *publisher) settled(tokens ...paho.Token) {
	p.t.Helper()
	for _, token := range tokens {
		if !token.WaitTimeout(soon) || token.Error() != nil {
			p.t.Fatalf("publisher: %v", token.Error())
		}
	}
}
