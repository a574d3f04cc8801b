package sim

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

const (
	defaultInFlight = 100
	maxInFlight     = 10000           // well below the 65,535 identifiers that there are
	drainTimeout    = 5 * time.Second // for acknowledgements after ctx is done
)

// SimulateOptions say what Simulate publishes, where and how fast.
type SimulateOptions struct {
	Broker   string // tcp://, ssl:// or ws:// URL; may carry user and password
	Fleet    FleetParams
	Speed    float64      // seconds of the fleet's clock in one second; 0 is as fast as the broker takes it
	InFlight int          // messages published and not acknowledged, at most; 0 is 100, and 10,000 the most
	Record   io.Writer    // gets every message as one line, written at once; nil is none
	Log      *slog.Logger // nil is none; told when the broker goes and comes
}

// A Summary counts messages.
type Summary struct {
	Start      int64 // of the fleet's clock, ns since the Unix epoch
	Sent       int64 // acknowledged by the broker; so many lines are in the record
	Delayed    int64 // of those sent, by their fate
	TooLate    int64
	Repeated   int64
	Bad        int64
	Reconnects int64
	Resent     int64 // published once more after a lost connection: the broker may have them twice
	Unknown    int64 // published, not acknowledged when the end came: the broker may have them, the record has not
}

// Simulate publishes a fleet at QoS 1 over one connection, in order, until its time is over or ctx is done, and then waits
// for the acknowledgements. If Fleet.Start is 0 the fleet begins now, or so far back that its clock, however fast,
// does not pass the wall clock before For is over (without For it will, unless Speed is at most 1).
//
// The record holds a message when the broker has acknowledged it, once, in the order of publishing. While the
// connection lasts that is the order of arrival. If it is lost, all messages without an acknowledgement, at most InFlight,
// are published again in order on the next one before any other. MQTT cannot tell which of them the broker had
// already; so what holds is: leaving out second copies, arrival is the record, and second copies are messages of the last
// InFlight before the break, right behind it. Summary.Resent is their largest possible number: with 0 the record is
// exactly what arrived (at a broker that is itself never killed).
//
// The error is about parameters, the first connection, or the record; a broker lost later is waited for. After ctx is done
// the error is nil. The summary is right in any case.
func Simulate(ctx context.Context, o SimulateOptions) (Summary, error) {
	if o.Speed < 0 {
		return Summary{}, fmt.Errorf("simulate a fleet: speed: must not be negative (got %v)", o.Speed)
	}
	if o.InFlight <= 0 {
		o.InFlight = defaultInFlight
	}
	o.InFlight = min(o.InFlight, maxInFlight)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Fleet.Start == 0 {
		o.Fleet.Start = startFor(time.Now(), o.Fleet.For, o.Speed).UnixNano()
	}
	fleet, err := NewFleet(o.Fleet)
	if err != nil {
		return Summary{}, err
	}
	p := &publisher{o: o, fleet: fleet, sum: Summary{Start: o.Fleet.Start}}
	err = p.run(ctx)
	return p.sum, err
}

// startFor is where a fleet's clock must begin not to be ahead of the wall clock when length is over.
func startFor(now time.Time, length time.Duration, speed float64) time.Time {
	if speed == 0 {
		return now.Add(-length)
	}
	return now.Add(min(0, time.Duration(float64(length)/speed)-length))
}

// A publisher is one run of Simulate.
type publisher struct {
	o       SimulateOptions
	fleet   *Fleet
	link    *link
	waiting []sent // published, in order, from the oldest without an acknowledgement on
	next    Message
	more    bool // next is there
	begin   time.Time
	sum     Summary
}

// sent is a published message.
type sent struct {
	Message
	id    uint16 // on the present connection
	acked bool
}

func (p *publisher) run(ctx context.Context) error {
	l, err := dial(ctx, p.o.Broker)
	if err != nil {
		return err
	}
	p.link, p.begin = l, time.Now()
	defer func() { p.link.close(true) }()
	p.next, p.more = p.fleet.Next()
	for p.more || len(p.waiting) > 0 {
		if ctx.Err() != nil {
			return p.drain()
		}
		if err := p.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step waits for the first thing to do and does it.
func (p *publisher) step(ctx context.Context) error {
	var due <-chan time.Time
	if p.more && len(p.waiting) < p.o.InFlight {
		timer := time.NewTimer(p.wait(p.next.Send, time.Now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case id := <-p.link.acks:
		return p.settle(id)
	case err := <-p.link.lost:
		return p.reconnect(ctx, err)
	case <-due:
		p.waiting = append(p.waiting, sent{Message: p.next})
		p.next, p.more = p.fleet.Next()
		if err := p.send(&p.waiting[len(p.waiting)-1]); err != nil {
			return p.reconnect(ctx, err)
		}
	}
	return nil
}

// wait is how long a message that is sent at the instant at of the fleet's clock has to wait now.
func (p *publisher) wait(at int64, now time.Time) time.Duration {
	if p.o.Speed == 0 {
		return 0
	}
	due := p.begin.Add(time.Duration(float64(at-p.sum.Start) / p.o.Speed))
	return max(0, due.Sub(now))
}

func (p *publisher) send(s *sent) (err error) {
	s.id, err = p.link.publish(s.Topic, s.Payload)
	return err
}
