package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"edgeagent/buffer"
)

// A StoreCheck is what a check of the store of a running agent has read. On damage there is an error beside it.
type StoreCheck struct {
	Pages      int64   `json:"pages"`
	Records    int64   `json:"records"`
	BadRecords int64   `json:"bad_records"` // damaged ones, which the agent moves to quarantine when it meets them
	HeldS      float64 `json:"held_s"`      // how long freed pages could not be used again, seconds
}

// Compacted is the size of the store's file before and after.
type Compacted struct {
	Before int64   `json:"bytes_before"`
	After  int64   `json:"bytes_after"`
	TookS  float64 `json:"took_s"` // for which nothing was taken in, seconds
}

// errUpkeep is returned for a check or compaction while another one goes on.
var errUpkeep = errors.New("the store is being checked or compacted already; ask again when that is done")

// maintain checks or compacts the store beside the run loop, one at a time.
func (a *Agent) maintain(ctx context.Context, req Request, out io.Writer) error {
	if !a.upkeep.TryLock() {
		return errUpkeep
	}
	defer a.upkeep.Unlock()
	if req.Action == ActionCompact {
		done, err := a.compact(ctx)
		if err != nil {
			return err
		}
		return writeJSON(out, done)
	}
	x, err := a.store.Examine(ctx)
	return errors.Join(writeJSON(out, StoreCheck{x.Pages, x.Records, x.Bad, x.Held.Seconds()}), err)
}

// compact rewrites the store without its free pages. What has come is committed and acknowledged first, and then nothing is taken in and nothing written until
// it is done: the queue of the connection fills, and the broker keeps the rest.
func (a *Agent) compact(ctx context.Context) (done Compacted, err error) {
	err = a.ask(ctx, func(stop context.Context) error {
		if err := a.commit(); err != nil {
			return fmt.Errorf("the store cannot be written now, and so not be compacted: %w", err)
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stop, cancel)()
		began, listening := a.up(), a.online.listening
		a.online.down(began)
		err := a.beside(func() (err error) {
			done.Before, done.After, err = a.store.Rewrite(ctx)
			return err
		})
		if listening { // as after a subscription: readings may be waiting in the broker
			a.online.subscribed(a.up())
		}
		took := a.up() - began
		done.TookS = took.Seconds()
		return a.tellCompacted(done, took, err, stop)
	})
	return done, err
}

// beside does work that has the store to itself, while the loop goes on to answer: status, and the uplink, whose settlements are kept in memory
// until the next commit, as when a disk refuses.
func (a *Agent) beside(work func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- work() }()
	for {
		select {
		case err := <-ended:
			return err
		case s := <-a.settles:
			a.commits.settles = append(a.commits.settles, s)
			a.answerSettles()
		case q := <-a.queries:
			q <- a.report()
		}
	}
}

// tellCompacted logs what came of it and makes the error for whoever asked.
func (a *Agent) tellCompacted(done Compacted, took time.Duration, err error, stop context.Context) error {
	switch {
	case err == nil:
		a.log.Info("store: file rewritten without its free pages", "bytes_before", done.Before, "bytes_after", done.After, "took", took.Round(time.Millisecond))
		return nil
	case stop.Err() != nil:
		return errStopping
	case errors.Is(err, buffer.ErrFull):
		return fmt.Errorf("the store stays as it is: the disk has no room for its content (%d KiB in use) beside the file: %w", a.store.Stats().UsedBytes>>10, err)
	}
	return fmt.Errorf("the store stays as it is: %w", err)
}
