package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"edgeagent/sim"
	"edgeagent/status"
)

// The defaults of the command, and the shortest story that has windows before, during and after the outage.
const (
	DefaultSpeed = 150
	DefaultFor   = 75 * time.Minute
	MinFor       = 45 * time.Minute
)

// ErrBooks is returned by Run when an identity of the ledger does not hold, or when ledger or points are not those that
// follow from what the fleet sent. The differences have been printed.
var ErrBooks = errors.New("the books do not balance, see above: this is a fault of edgeagent, please report it with this output")

// Options say how the story is played.
type Options struct {
	Speed     float64       // seconds of the fleet's clock in one second; 0 is as fast as the broker takes it
	For       time.Duration // how long the fleet publishes, by its own clock; at least MinFor
	Out       io.Writer     // gets the story, in lines of at most 80 columns
	Version   string        // of this program
	BuildDate time.Time     // of the commit, as agent.Options has it
}

// Validate names what is out of bounds.
func (o Options) Validate() error {
	if o.Speed < 0 || math.IsNaN(o.Speed) || math.IsInf(o.Speed, 0) {
		return fmt.Errorf("speed: must be 0 (as fast as possible) or above (got %v)", o.Speed)
	}
	if o.For < MinFor {
		return fmt.Errorf("for: must be at least %v, it is counted by the fleet's clock and the first window is final after 15 minutes (got %v)", MinFor, o.For)
	}
	return nil
}

// Run plays the story until its end or the end of ctx, and leaves nothing behind. Being told to stop is no error. Any
// error but ErrBooks means that the story could not be played: no port, no temporary folder, an agent that did not start.
func Run(ctx context.Context, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	d, err := open(o)
	if err != nil {
		return err
	}
	err = d.play(ctx)
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrBooks) {
		d.say.text("Told to stop: everything is put away, and nothing is compared.")
		err = nil
	}
	return errors.Join(err, d.close(), d.say.failure())
}

// A demo is one telling of the story.
type demo struct {
	o     Options
	say   *printer
	world *world
	fleet *fleet
	agent *runner // nil while none runs
	marks marks
	end   outcome
}

// An outcome is what is judged at the end.
type outcome struct {
	report status.Report // of the agent, when all was sent, taken and uploaded
	want   sim.Result    // from what the fleet sent
	got    []sim.Line    // at the server
	diffs  []string      // between them; and between the ledgers
}

// marks are the turns of the story, by the fleet's clock in ns.
type marks struct{ first, odd, down, restart, up, end int64 }

// marksOf spreads the turns over the time from when the first window is final to the end.
func marksOf(length time.Duration) marks {
	const ready = windowSize + delay
	at := func(share float64) int64 {
		return fleetStart + int64(ready) + int64(share*float64(length-ready))
	}
	return marks{first: fleetStart + int64(ready-2*time.Minute), odd: at(0.2), down: at(0.37), restart: at(0.54),
		up: at(0.71), end: fleetStart + int64(length)}
}

// open prepares all but the agent. Nothing runs yet.
func open(o Options) (*demo, error) {
	d := &demo{o: o, say: newPrinter(o.Out), marks: marksOf(o.For)}
	var err error
	if d.world, err = newWorld(d.say.uploaded); err != nil {
		return nil, err
	}
	if d.fleet, err = newFleet(o); err != nil {
		return nil, errors.Join(err, d.world.close())
	}
	return d, nil
}

// close stops what runs, the sender of messages first, and removes the data folder.
func (d *demo) close() error {
	d.fleet.close()
	return errors.Join(d.stopAgent(), d.world.close())
}
