package agent

import (
	"context"
	"fmt"
	"time"

	"edgeagent/buffer"
	"edgeagent/mqtt"
	"edgeagent/reading"
)

// tick is how often the loop looks at clocks and periods when nothing else wakes it.
const tick = time.Second

// periods are the things done now and then, each at its next time (Up).
type periods struct {
	second, health, summary, lags time.Duration
	clock                         bool // the state of the clock has been looked at
}

// loop is the one owner of the state, until ctx ends or a part reports that it cannot go on.
func (a *Agent) loop(ctx context.Context, errs <-chan error) error {
	_ = a.begin() // is tried again
	a.supervised.ready(a.statusLine())
	defer a.supervised.stopping()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait, err := a.step()
		if err != nil {
			return err
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case err := <-errs:
			return err
		case <-a.client.Ready():
		case s := <-a.settles:
			a.settle(s)
		case q := <-a.queries:
			q <- a.report()
		case q := <-a.asks:
			q.done <- q.fn(ctx)
		case <-timer.C:
		}
	}
}

// begin commits what the stored watermark has made final, before the first reading. On a full disk that waits, as any
// commit does; the error has been logged.
func (a *Agent) begin() error {
	a.checkClock()
	a.engine.Node.Filters = union(a.engine.Node.Filters, a.filters)
	a.periods.health = a.cfg.HealthInterval()
	a.periods.summary, a.periods.lags = summaryEvery, lagEvery
	return a.commit()
}

// step takes in what has come, commits if it is time, and does what is due. It returns when to look again at the latest. Its
// error is one that only a new start can mend.
func (a *Agent) step() (time.Duration, error) {
	a.takeAll()
	up := a.up()
	if up >= a.periods.second {
		a.periods.second = up + tick
		a.everySecond(up)
	}
	due, wait := a.pace.due(up)
	if due || a.commits.waiting() || a.pace.messages == 0 && a.engine.HasPoints() {
		_ = a.commit() // has been logged, and is tried again
		wait = tick
	}
	if a.commits.beyondRepair() {
		return 0, fmt.Errorf("the store cannot go on in this process: %w; start the agent again", a.commits.err)
	}
	if wait == 0 || wait > tick {
		wait = tick
	}
	return wait, nil
}

// stalled reports whether the store refuses and the batch is full.
func (a *Agent) stalled() bool { return a.commits.failing() && a.pace.full() }

// takeAll judges everything that has come. While the agent is stalled it takes nothing: the queue of the connection fills,
// and the broker keeps the rest.
func (a *Agent) takeAll() {
	if a.stalled() {
		return
	}
	a.deliveries = a.client.Take(a.deliveries[:0])
	if len(a.deliveries) == 0 {
		return
	}
	m := a.moment()
	n, qos1, size := 0, 0, 0
	for i := range a.deliveries {
		d := &a.deliveries[i]
		if d.Kind != mqtt.Publish {
			a.pace.took(n, qos1, size, time.Duration(m.Up))
			n, qos1, size = 0, 0, 0
			a.change(d)
			m = a.moment()
			continue
		}
		a.message(d, m)
		n, size = n+1, size+d.Size
		if d.QoS > 0 {
			qos1++
		}
	}
	a.pace.took(n, qos1, size, time.Duration(m.Up))
	clear(a.deliveries)
}

// change follows a change of the connection.
func (a *Agent) change(d *mqtt.Delivery) {
	up := a.up()
	switch d.Kind {
	case mqtt.Connected:
		a.packets.session(d.SessionPresent, up)
		a.pace.connected()
		a.commits.connected(d.Conn)
	case mqtt.Subscribed:
		a.online.subscribed(up)
		a.engine.Node.Filters = a.filters
	case mqtt.Down:
		a.online.down(up)
		a.packets.down()
		a.pace.connected()
	}
}

// message judges one message. Whatever it holds, it is counted, committed and acknowledged.
func (a *Agent) message(d *mqtt.Delivery, m Moment) {
	known := false
	if d.QoS > 0 {
		hash := hashOf(d.Topic, d.Payload)
		known = d.Dup && a.packets.known(d.PacketID, hash)
		a.packets.take(d.PacketID, hash, a.engine.Record())
		a.commits.unacked(d.Conn, d.PacketID)
	}
	if d.TooBig {
		a.engine.TooBig(d.Topic, known, a.decoder.SourceOf(d.Topic))
		a.engine.locate(d.Topic, d.Arrival)
		return
	}
	msg := reading.Message{Topic: d.Topic, Payload: d.Payload, Retained: d.Retained, Arrival: d.Arrival.UnixNano()}
	a.decoder.Decode(msg, &a.result)
	a.engine.Message(Input{Result: &a.result, Topic: d.Topic, Retained: d.Retained, Known: known, Live: true, Arrival: msg.Arrival, Now: m})
	if known {
		return
	}
	if !d.Retained {
		a.lag.note(msg.Arrival, a.result.Readings)
	}
	if a.engine.refusedAny() {
		a.engine.locate(d.Topic, d.Arrival)
	}
	if a.engine.mendable() {
		a.refused(d)
	}
}

// refused keeps a rejected message for a mended configuration, and says so at debug level.
func (a *Agent) refused(d *mqtt.Delivery) {
	raw := buffer.Raw{Topic: d.Topic, Payload: d.Payload, Retained: d.Retained, Arrival: d.Arrival.UnixNano()}
	a.engine.verdict.describe(&raw, a.result.Readings)
	a.commits.reject(raw)
	detail := ""
	if len(a.result.Refusals) > 0 {
		detail = a.result.Refusals[0].Detail
	}
	a.log.Debug("reading refused", "topic", d.Topic, "reason", raw.Reason, "detail", detail)
}

// everySecond does what goes by the clock.
func (a *Agent) everySecond(up time.Duration) {
	a.checkClock()
	a.supervised.alive(up, a.statusLine())
	if !a.stalled() { // else readings wait, and the silence is ours
		a.engine.Idle(a.moment())
	}
	if a.engine.lags.tick(up) {
		a.engine.turnLags()
	}
	if every := a.cfg.HealthInterval(); every > 0 && up >= a.periods.health {
		a.periods.health = up + every
		a.health()
	}
	a.sample(up)
	if up >= a.periods.summary {
		a.periods.summary = up + summaryEvery
		a.summary()
	}
}

// checkClock finds out whether the wall clock may be believed, and tells the engine when it begins to be.
func (a *Agent) checkClock() {
	now := a.clock.Now().UnixNano()
	was, first := a.trusted, !a.periods.clock
	a.periods.clock = true
	a.trusted = a.trust.of(now, a.engine.Node.TrustedWall, a.clock.Synchronised)
	if a.trusted {
		a.engine.Node.TrustedWall = now
	}
	if a.trusted == was && !first {
		return
	}
	if a.trusted {
		if !first {
			a.log.Info("clock: trusted from now on", "now", a.clock.Now().UTC())
		}
		a.engine.ClockTrusted(a.moment())
		return
	}
	a.log.Warn("clock: not trusted: readings far ahead are held until a second sensor confirms them", "now", a.clock.Now().UTC())
}

// up is the time since the start, by the monotonic clock.
func (a *Agent) up() time.Duration { return a.clock.Now().Sub(a.start) }

// moment is now. A wall clock that was set back since it was last looked at is looked at first: readings of the true time
// must not be judged as of the future by it.
func (a *Agent) moment() Moment {
	now := a.clock.Now()
	if a.trusted && now.UnixNano() < a.engine.Node.TrustedWall {
		a.checkClock()
	}
	up := now.Sub(a.start)
	return Moment{Wall: now.UnixNano(), Trusted: a.trusted, Online: int64(a.online.at(up)), Up: int64(up)}
}

// union is a, and what of b is not in it.
func union(a, b []string) []string {
	seen := make(map[string]bool, len(a)+len(b))
	var all []string
	for _, s := range append(append([]string(nil), a...), b...) {
		if !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}
