package agent

import (
	"context"
	"errors"
	"fmt"
	"io"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// ControlStopped carries out a Request on the store of an agent that does not run. What only reads changes nothing on disk, but that
// an export of points raises the floor.
func ControlStopped(ctx context.Context, o Options, req Request, out io.Writer) error {
	switch req.Action {
	case ActionRequeue:
		return requeueStopped(o, req, out)
	case ActionReadmit:
		return readmitStopped(ctx, o, req, out)
	case ActionAdvise:
		return adviseStopped(o, req, out)
	}
	store, err := buffer.OpenReadOnly(o.StoreByHand())
	if err != nil {
		return err
	}
	return errors.Join(look(ctx, store, o.Config, req, out), store.Close())
}

func requeueStopped(o Options, req Request, out io.Writer) error {
	store, err := openExisting(o)
	if err != nil {
		return err
	}
	b := buffer.Batch{Requeue: req.Seqs, RequeueAll: req.All, RequeueFor: req.Uplink}
	if err = knows(store, req.Uplink); err == nil {
		_, err = store.Commit(&b)
	}
	if err == nil {
		err = writeRequeued(store, req.Uplink, b.Requeued, out)
	}
	return errors.Join(err, store.Close())
}

// StoreByHand is how commands open the store of the configuration, which no agent has open.
func (o Options) StoreByHand() buffer.Options {
	s := o.store()
	s.ByHand = true
	return s
}

// store is how the agent opens it.
func (o Options) store() buffer.Options {
	s := storeOptions(o.Config, o.Config.Buffer.Dir, o.Logger)
	s.Check, s.LockTimeout, s.Now = o.Check, o.LockTimeout, o.Clock.Now
	return s
}

// openExisting opens a store to change it, and makes none.
func openExisting(o Options) (*buffer.Store, error) {
	if err := o.exists(); err != nil {
		return nil, err
	}
	return buffer.Open(o.StoreByHand())
}

// lookInto opens a store to read it.
func lookInto(o Options) (*buffer.Store, error) {
	if err := o.exists(); err != nil {
		return nil, err
	}
	return buffer.OpenReadOnly(o.StoreByHand())
}

// exists is an error if there is no store.
func (o Options) exists() error {
	if !buffer.Exists(o.StoreByHand()) {
		return fmt.Errorf("there is no store in %s; is buffer.dir right?", o.Config.Buffer.Dir)
	}
	return nil
}

// readmitStopped runs an agent without its connections over the store.
func readmitStopped(ctx context.Context, o Options, req Request, out io.Writer) error {
	if req.DryRun {
		return readmitDry(ctx, o, out)
	}
	if err := o.exists(); err != nil {
		return err
	}
	a, err := open(o, o.StoreByHand())
	if err != nil {
		return err
	}
	a.alone = true
	if err = a.begin(); err == nil {
		err = a.carryOut(ctx, req, out)
	}
	return errors.Join(err, a.store.Close())
}

// readmitDry only decodes the ring. The store is read and not begun: a start would finalize windows of a former configuration, bring up
// an older store and set a damaged one aside.
func readmitDry(ctx context.Context, o Options, out io.Writer) error {
	store, err := lookInto(o)
	if err != nil {
		return err
	}
	a := &Agent{cfg: o.Config, store: store, alone: true}
	return errors.Join(a.tellReadmit(ctx, out), store.Close())
}

func (a *Agent) tellReadmit(ctx context.Context, out io.Writer) error {
	snap, err := a.store.Load()
	if err != nil {
		return fmt.Errorf("load store: %w", err)
	}
	if a.aliases.decoder, err = reading.Compile(a.cfg.Sources, a.cfg.Watermark.NotBefore); err != nil {
		return err
	}
	if err := a.aliases.restore(snap.Aliases); err != nil {
		return err
	}
	sum, err := a.readmit(ctx, true)
	return errors.Join(err, writeJSON(out, sum))
}
