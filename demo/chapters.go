package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
)

// play tells the chapters in order.
func (d *demo) play(ctx context.Context) error {
	d.say.write("edgeagent demo: temperature sensors -> MQTT -> edgeagent -> InfluxDB.\n" +
		"All of it runs in this process, on this machine; nothing is installed or kept.\n")
	for _, chapter := range []func(context.Context) error{
		d.begin, d.publish, d.firstWindows, d.oddOnes, d.goAway, d.restart, d.comeBack, d.finish,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return d.judge()
}

func (d *demo) begin(ctx context.Context) error {
	d.say.title("A broker, a server and the agent start")
	if err := d.world.serve(); err != nil {
		return err
	}
	d.say.text("This is the agent's whole configuration. All else is left at its default: windows of 5 minutes, a watermark 10 " +
		"minutes behind. Lines marked \"# demo\" are there to make the demo brisk.")
	d.say.lines(d.world.configLines()...)
	return d.startAgent(ctx)
}

func (d *demo) publish(ctx context.Context) error {
	if err := d.fleet.connect(d.world.brokerURL); err != nil {
		return err
	}
	d.say.title("The sensors publish")
	if err := d.fleet.one(ctx); err != nil {
		return err
	}
	first := d.fleet.sent[0]
	d.say.text("One message looks like this:")
	d.say.lines("topic    "+first.Topic, "payload  "+string(first.Payload))
	d.say.text("ts is when the sensor measured, here %s, in milliseconds: the event time. It alone decides where a reading "+
		"belongs, never the time of arrival. There are %d sensors; each sends about every %.0f seconds of a clock of their "+
		"own, which %s. Some messages come late, twice or broken, as in the field.",
		time.Unix(0, d.fleet.newest).UTC().Format("2006-01-02 15:04:05"), len(names), float64(len(names))/fleetRate, d.pace())
	return d.until(ctx, d.marks.first)
}

// pace says how fast the fleet's clock runs.
func (d *demo) pace() string {
	if d.o.Speed == 0 {
		return "runs as fast as it can"
	}
	return fmt.Sprintf("runs %g times as fast as yours", d.o.Speed)
}

func (d *demo) firstWindows(ctx context.Context) error {
	d.say.title("The first windows are final and go to the server")
	d.say.text("Per sensor and five minutes the agent keeps the maximum and the count. It waits for stragglers: the watermark " +
		"is W = M - 10 min, M being the newest event time seen, and a window is final when W has reached its end. So the " +
		"window from 08:00 to 08:05 is final when a reading of 08:15 has come, and is uploaded then, once. The lines, as " +
		"the server gets them (late_drops: see 4):")
	if err := d.until(ctx, fleetStart+int64(windowSize+delay+time.Minute)); err != nil {
		return err
	}
	if _, err := d.taken(ctx); err != nil {
		return err
	}
	if _, err := d.uploaded(ctx); err != nil {
		return err
	}
	if lines := d.world.receiver.Snapshot(); len(lines) > 0 {
		d.say.text("%s", inWords(lines[0]))
	}
	return d.until(ctx, d.marks.odd)
}

// inWords reads a line of a window aloud.
func inWords(l sim.Line) string {
	sensor := ""
	for _, t := range l.Tags {
		if t.Key == "sensor" {
			sensor = t.Value
		}
	}
	return fmt.Sprintf("In words: of the %v readings of the %s from %s to %s, the highest was %v C. The long number is the "+
		"start of the window, in ns.", l.Fields["count"], sensor, fleetTime(l.Time), fleetTime(l.Time+int64(windowSize)), l.Fields["max"])
}

func (d *demo) oddOnes(ctx context.Context) error {
	r, err := d.taken(ctx)
	if err != nil {
		return err
	}
	d.say.title("Late, repeated and broken messages: nothing is dropped uncounted")
	d.example(sim.Delayed, "%s behind the newest, but its window was still open: windowed, as if it had come in time.")
	d.example(sim.TooLate, "%s behind, its window was final and sent: late. The result does not change any more; the count of "+
		"late readings goes to the server, as late_drops.")
	d.example(sim.Repeated, "Sent before: duplicate. It does not count twice.")
	d.example(sim.Bad, "No temperature in it: rejected, counted by reason, and kept for you to look at.")
	d.say.text("So far: %s", columnsInWords(r.Ledger))
	return d.until(ctx, d.marks.down)
}

// example shows the last message of a fate, if there was one. A %s in the words is how far it was behind.
func (d *demo) example(fate sim.Fate, words string) {
	e, ok := d.fleet.examples[fate]
	if !ok {
		return
	}
	d.say.text("%s %s", e.Topic, e.Payload)
	behind := e.behind.Round(time.Second)
	d.say.note(strings.Replace(words, "%s", fmt.Sprintf("%d min %d s", behind/time.Minute, behind%time.Minute/time.Second), 1))
}

func (d *demo) goAway(ctx context.Context) error {
	d.say.title("The link to the server is cut")
	d.say.text("Sensors and broker do not notice, and the agent only when it has something to send. Windows become final as " +
		"before; their points wait in the store, one file on disk, for weeks if need be.")
	d.world.receiver.SetDown(true)
	return d.queue(ctx, d.marks.restart)
}

// queue publishes up to an instant of the fleet's clock, and tells after every five minutes of it how much waits.
func (d *demo) queue(ctx context.Context, until int64) error {
	for d.fleet.clock < until {
		size := int64(windowSize)
		next := d.fleet.clock - d.fleet.clock%size + size + int64(30*time.Second)
		if err := d.until(ctx, min(next, until)); err != nil {
			return err
		}
		if _, err := d.taken(ctx); err != nil {
			return err
		}
		r, err := d.noticed(ctx)
		if err != nil {
			return err
		}
		if next <= until {
			d.say.text("%s by the sensors' clock: %s", fleetTime(d.fleet.clock), waiting(r, d.say.now()))
		}
	}
	return nil
}

// waiting says what the agent says of its queue.
func waiting(r status.Report, now time.Time) string {
	text := fmt.Sprintf("%d points wait, uplink %s", r.Points.Queued, r.Uplink.State)
	if t, err := time.Parse(time.RFC3339, r.Uplink.Since); err == nil && r.Uplink.State != "idle" {
		text += fmt.Sprintf(" since %s", t.In(now.Location()).Format(time.TimeOnly))
	}
	return text
}

// kept is what a restart must not change.
type kept struct{ open, queued, received int64 }

func keptOf(r status.Report) kept {
	return kept{r.Windows.Open, r.Points.Queued, r.Ledger.Received}
}

func (d *demo) restart(ctx context.Context) error {
	before, err := d.taken(ctx)
	if err != nil {
		return err
	}
	d.say.title("Meanwhile the agent is stopped and started again")
	d.say.text("A message is acknowledged to the broker only when all that it changes is in the store. So a restart, or a power " +
		"cut, loses nothing and counts nothing twice.")
	if err := d.stopAgent(); err != nil {
		return err
	}
	if err := d.startAgent(ctx); err != nil {
		return err
	}
	after, err := d.taken(ctx)
	if err != nil {
		return err
	}
	b, a := keptOf(before), keptOf(after)
	d.say.lines(
		"                    before    after",
		fmt.Sprintf("open windows        %6d   %6d", b.open, a.open),
		fmt.Sprintf("points that wait    %6d   %6d", b.queued, a.queued),
		fmt.Sprintf("readings received   %6d   %6d", b.received, a.received))
	if a != b {
		return ErrBooks
	}
	return d.queue(ctx, d.marks.up)
}

func (d *demo) comeBack(ctx context.Context) error {
	d.say.title("The link is back: the queue drains, oldest first")
	d.world.receiver.SetDown(false)
	if _, err := d.uploaded(ctx); err != nil {
		return err
	}
	c := d.world.receiver.Counts()
	d.say.text("Nothing waits any more. The server was tried %d times in vain; %d lines came twice.", c.Refused, c.Resent)
	return d.until(ctx, d.marks.end)
}

func (d *demo) finish(ctx context.Context) error {
	if _, err := d.taken(ctx); err != nil {
		return err
	}
	report, err := d.uploaded(ctx)
	if err != nil {
		return err
	}
	d.say.title("The end: everything stops in order")
	d.fleet.close()
	if err := d.stopAgent(); err != nil {
		return err
	}
	d.say.text("%d windows are still open. They stay in the store for the next start and are not sent half done. (Here the "+
		"store goes away with the demo.)", report.Windows.Open)
	d.end = d.compare(report)
	return nil
}
