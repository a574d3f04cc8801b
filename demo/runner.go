package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
)

// How an agent is waited for.
const (
	patience = 20 * time.Second // more than anything here takes on a slow machine
	look     = 20 * time.Millisecond
	maxAhead = 1000 // messages
)

// A runner is an agent that runs.
type runner struct {
	*agent.Agent
	stop context.CancelFunc
	life context.Context // done when the agent has ended
	err  error           // of its end; read it when life is done
}

var errEnded = errors.New("the agent ended by itself")

// startAgent opens an agent on the demo's folder and waits until it has subscribed.
func (d *demo) startAgent(ctx context.Context) error {
	cfg, err := d.world.config()
	if err != nil {
		return err
	}
	a, err := agent.Open(agent.Options{Config: cfg, Version: d.o.Version, BuildDate: d.o.BuildDate, Logger: d.say.logger()})
	if err != nil {
		return err
	}
	select {
	case <-d.world.subscribed: // of an agent before this one
	default:
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	life, over := context.WithCancel(context.Background())
	r := &runner{Agent: a, stop: stop, life: life}
	go func() {
		defer over()
		r.err = a.Run(run)
	}()
	d.agent = r
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-d.world.subscribed:
		return nil
	case <-life.Done():
		return errors.Join(errEnded, r.err)
	case <-ctx.Done():
		return fmt.Errorf("wait for the agent to subscribe: %w", ctx.Err())
	}
}

// stopAgent stops it in order, if one runs.
func (d *demo) stopAgent() error {
	r := d.agent
	if r == nil {
		return nil
	}
	d.agent = nil
	r.stop()
	<-r.life.Done()
	return r.err
}

// await asks the agent for its state until it is as wanted. what says in errors what was waited for.
func (d *demo) await(ctx context.Context, what string, wanted func(status.Report) bool) (status.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer context.AfterFunc(d.agent.life, cancel)()
	next := time.NewTicker(look)
	defer next.Stop()
	for {
		r, err := d.agent.Status(ctx)
		if d.agent.life.Err() != nil {
			return r, errors.Join(errEnded, d.agent.err)
		}
		if err != nil {
			return r, fmt.Errorf("wait until %s: %w", what, err)
		}
		if wanted(r) {
			return r, nil
		}
		select {
		case <-next.C:
		case <-ctx.Done():
		}
	}
}

// until publishes all that the fleet sends before the instant at of its clock, at its pace. It does not run further ahead of
// the agent than the broker keeps for it.
func (d *demo) until(ctx context.Context, at int64) error {
	for d.fleet.has(at) {
		if err := d.fleet.one(ctx); err != nil {
			return err
		}
		if len(d.fleet.sent)%maxAhead == 0 {
			if _, err := d.taken(ctx); err != nil {
				return err
			}
		}
	}
	return d.fleet.wait(ctx, at)
}

// taken waits until the agent has taken in, stored and acknowledged all that the fleet has sent.
func (d *demo) taken(ctx context.Context) (status.Report, error) {
	return d.await(ctx, "the agent has all that was sent", func(r status.Report) bool {
		return r.Ledger.Received >= int64(len(d.fleet.sent)) && r.MQTT.Unacked == 0
	})
}

// uploaded waits until nothing is queued.
func (d *demo) uploaded(ctx context.Context) (status.Report, error) {
	return d.await(ctx, "all points are uploaded", func(r status.Report) bool { return r.Points.Queued == 0 })
}

// noticed waits, in an outage, until the agent has tried in vain to upload what is queued, if anything is.
func (d *demo) noticed(ctx context.Context) (status.Report, error) {
	return d.await(ctx, "the agent notices the outage", func(r status.Report) bool {
		return r.Points.Queued == 0 || r.Uplink.LastError != ""
	})
}
