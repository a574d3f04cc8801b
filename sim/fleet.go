package sim

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// Second constant of the generator; the first is the seed.
const pcgStream = 0x65646765

// maxTransit is how long an undisturbed message is under way at most.
const maxTransit = 200 * time.Millisecond

// A Fate is what a fleet does with a message.
type Fate uint8

const (
	OnTime   Fate = iota
	Delayed       // held up for less than Delay: out of order
	TooLate       // held up until its window is gone, if M keeps up with the fleet's clock
	Repeated      // a copy of an earlier message
	Bad           // must be refused
)

// A Message is one thing that a fleet publishes.
type Message struct {
	Topic   string
	Payload []byte // not to be changed: a repeat shares it
	Time    int64  // event time, ns since the Unix epoch; of a bad message the time it was made
	Send    int64  // when it is published on the fleet's clock, ns since the Unix epoch; ascending
	Fate    Fate
}

// Record is the message as a line of a record: its arrival is the time of sending on the fleet's clock.
func (m Message) Record() Record { return Record{Topic: m.Topic, Payload: m.Payload, Time: m.Send} }

// A Fleet makes messages in the order in which they are sent. Equal parameters give equal messages, on every machine. Of
// one sensor no two readings have the same event time, but for the repeats. Memory grows with what is held up, not with
// time. Not safe for concurrent use.
type Fleet struct {
	p       FleetParams
	rng     *rand.Rand
	sensors []sensor
	period  int64 // between two readings, ns
	slot    int64 // when the next reading is made, ns
	made    int64
	held    queue
}

// NewFleet returns an error that names every parameter out of bounds.
func NewFleet(p FleetParams) (*Fleet, error) {
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("simulate a fleet: %w", err)
	}
	if p.Delay == 0 {
		p.Delay = 10 * time.Minute
	}
	if p.Size == 0 {
		p.Size = 5 * time.Minute
	}
	f := &Fleet{p: p, rng: rand.New(rand.NewPCG(p.Seed, pcgStream)), period: max(1, int64(1e9/p.Rate)), slot: p.Start}
	for i := range p.Sensors {
		f.sensors = append(f.sensors, newSensor(i, p, f.rng))
	}
	f.warmUp()
	return f, nil
}

// Next is the next message; false when For is over. What is held up beyond it is never sent.
func (f *Fleet) Next() (Message, bool) {
	for len(f.held) == 0 || f.held[0].Send > f.slot {
		f.make()
	}
	m := heap.Pop(&f.held).(queued).Message
	if f.p.For > 0 && m.Send >= f.p.Start+int64(f.p.For) {
		return Message{}, false
	}
	return m, true
}

// make makes the reading of the next slot and queues what is sent of it.
func (f *Fleet) make() {
	m := f.reading(f.slot, f.fate())
	f.queue(m)
	if m.Fate != Bad && f.rng.Float64() < f.p.Repeat {
		m.Fate = Repeated
		m.Send += f.rng.Int64N(int64(f.p.Delay) + 1)
		f.queue(m)
	}
	f.slot += f.period
}

// warmUp makes what was held up before Start and comes after it, so that the shares hold from the first minute on.
func (f *Fleet) warmUp() {
	if f.p.Late == 0 {
		return
	}
	step := max(1, int64(float64(f.period)/f.p.Late))
	for slot := f.p.Start - f.gone() - int64(f.p.Delay); slot < f.p.Start; slot += step {
		m := f.reading(slot, Delayed+Fate(f.rng.IntN(2)))
		if m.Send > f.p.Start {
			f.queue(m)
		}
	}
}

// reading makes a message of some sensor at the instant slot of the fleet's clock.
func (f *Fleet) reading(slot int64, fate Fate) Message {
	s := &f.sensors[f.rng.IntN(len(f.sensors))]
	unit := int64(f.p.unit())
	m := Message{Topic: s.topic, Fate: fate, Time: s.stamp(slot-f.rng.Int64N(int64(maxTransit)), unit)}
	if fate == Bad {
		m.Payload = badPayload(f.rng, m.Time/unit)
	} else {
		m.Payload = payload(m.Time/unit, s.value(f.rng, m.Time))
	}
	m.Send = slot + f.holdUp(fate)
	return m
}

func (f *Fleet) fate() Fate {
	switch x := f.rng.Float64(); {
	case x < f.p.Bad:
		return Bad
	case x < f.p.Bad+f.p.Late/2:
		return Delayed
	case x < f.p.Bad+f.p.Late:
		return TooLate
	}
	return OnTime
}

// holdUp is how much later than made a message of this fate is sent, ns.
func (f *Fleet) holdUp(fate Fate) int64 {
	delay := int64(f.p.Delay)
	switch fate {
	case Delayed:
		return f.rng.Int64N(delay + 1)
	case TooLate:
		return f.gone() + f.rng.Int64N(delay+1)
	}
	return 0
}

// gone is how long a message is held up at least for its window to be gone, whatever the skew, ns.
func (f *Fleet) gone() int64 {
	return int64(f.p.Delay) + int64(f.p.Size) + 2*int64(f.p.Skew) + int64(maxTransit)
}

func (f *Fleet) queue(m Message) {
	f.made++
	heap.Push(&f.held, queued{m, f.made})
}

// queued is a message under way; of two sent at once the one made first goes first.
type queued struct {
	Message
	made int64
}

type queue []queued

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if q[i].Send != q[j].Send {
		return q[i].Send < q[j].Send
	}
	return q[i].made < q[j].made
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(queued)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = queued{}
	*q = (*q)[:last]
	return x
}
