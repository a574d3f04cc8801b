package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/sim"
)

// The fleet, the same in every run.
const (
	fleetSeed = 7
	fleetRate = 0.25 // readings a second of its clock
)

// fleetStart is where the fleet's clock begins, ns: a fixed instant, so that a run can be compared with another.
var fleetStart = time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC).UnixNano()

// names are those of the sensors, by their number in the simulation. At most seven letters: see gateway.
var names = []string{"kitchen", "cellar", "attic", "garden"}

// tooFar is how far the fleet may fall behind its clock before it gives up catching up, as after a pause of the story.
const tooFar = time.Second

// A fleet publishes what package sim makes, under names for people: at QoS 1, each message when the broker has the one
// before it, so that the order of sending is the order of arrival.
type fleet struct {
	made  *sim.Fleet
	speed float64
	link  paho.Client // nil before connect

	next  sim.Message
	more  bool
	due   time.Time // when the last message was to be sent
	clock int64     // the fleet's, ns

	newest   int64 // largest event time sent, ns
	sent     []sim.Record
	examples map[sim.Fate]example // the last of each
}

// An example is a message of some fate.
type example struct {
	sim.Record
	behind time.Duration // its event time, behind the newest that was sent before
}

func newFleet(o Options) (*fleet, error) {
	made, err := sim.NewFleet(sim.FleetParams{Sensors: len(names), Rate: fleetRate, For: o.For, Start: fleetStart, Seed: fleetSeed,
		Late: 0.03, Repeat: 0.02, Bad: 0.02, Delay: delay, Size: windowSize})
	if err != nil {
		return nil, err
	}
	f := &fleet{made: made, speed: o.Speed, clock: fleetStart, examples: map[sim.Fate]example{}}
	f.advance()
	return f, nil
}

// advance takes the next message from the simulation and gives its topic a name. What was made before the start is left
// out, so that the first window is the first of the story, and so are empty messages, of which there is nothing to show.
func (f *fleet) advance() {
	f.next, f.more = f.made.Next()
	for f.more && (f.next.Time < fleetStart || len(f.next.Payload) == 0) {
		f.next, f.more = f.made.Next()
	}
	for i, name := range names {
		f.next.Topic = strings.Replace(f.next.Topic, fmt.Sprintf("/s%03d/", i), "/"+name+"/", 1)
	}
}

func (f *fleet) connect(url string) error {
	o := paho.NewClientOptions().AddBroker(url).SetClientID("fleet").SetAutoReconnect(false)
	link := paho.NewClient(o)
	if t := link.Connect(); t.Wait() && t.Error() != nil {
		return fmt.Errorf("connect the fleet: %w", t.Error())
	}
	f.link = link
	return nil
}

func (f *fleet) close() {
	if f.link != nil {
		f.link.Disconnect(100)
	}
}

// has reports whether something is to be sent before the instant at of the fleet's clock.
func (f *fleet) has(at int64) bool { return f.more && f.next.Send < at }

// one publishes one message when it is time.
func (f *fleet) one(ctx context.Context) error {
	if err := f.wait(ctx, f.next.Send); err != nil {
		return err
	}
	m := f.next
	if t := f.link.Publish(m.Topic, 1, false, m.Payload); t.Wait() && t.Error() != nil {
		return fmt.Errorf("publish as the fleet: %w", t.Error())
	}
	f.note(m)
	f.advance()
	return nil
}

// note remembers a message that was sent.
func (f *fleet) note(m sim.Message) {
	r, behind := m.Record(), time.Duration(f.newest-m.Time)
	f.sent = append(f.sent, r)
	if m.Fate != sim.Repeated || behind < delay { // a repeat of a late one would be two examples in one
		f.examples[m.Fate] = example{r, behind}
	}
	if m.Fate != sim.Bad {
		f.newest = max(f.newest, m.Time)
	}
}

// wait lets the fleet's clock run to at.
func (f *fleet) wait(ctx context.Context, at int64) error {
	if f.speed > 0 {
		f.due = f.due.Add(time.Duration(float64(at-f.clock) / f.speed))
		now := time.Now()
		if now.Sub(f.due) > tooFar {
			f.due = now
		}
		t := time.NewTimer(f.due.Sub(now))
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	f.clock = at
	return ctx.Err()
}

// fleetTime is an instant of the fleet's clock for people.
func fleetTime(ns int64) string { return time.Unix(0, ns).UTC().Format("15:04") }
