package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/status"
)

// The actions of a Request.
const (
	ActionStats   = "stats"   // answers with StoreStats
	ActionParked  = "parked"  // answers with a list of ParkedPoint
	ActionRequeue = "requeue" // answers with RequeueResult
	ActionReadmit = "readmit" // answers with Readmitted
	ActionExport  = "export"  // answers with line protocol, or with a LateReading or TracedReading a line
	ActionCheck   = "check"   // answers with StoreCheck
	ActionCompact = "compact" // answers with Compacted
	ActionLog     = "log"     // answers with the last lines of the running agent's log
)

// A Request is what the buffer commands ask of whoever has the store open: the running agent by its control socket, or else the
// command itself. Answers are JSON, but for lines.
type Request struct {
	Action string   `json:"action"`
	Seqs   []uint64 `json:"seqs,omitempty"`    // requeue: these, ascending
	All    bool     `json:"all,omitempty"`     // requeue: all that are parked
	DryRun bool     `json:"dry_run,omitempty"` // readmit: only look
	Late   bool     `json:"late,omitempty"`    // export: late readings instead of points
	Traced bool     `json:"traced,omitempty"`  // export: readings kept for tracing instead of points
	Sensor string   `json:"sensor,omitempty"`  // of these: of this sensor; "" all
	Came   *Span    `json:"came,omitempty"`    // of these: that came then; nil all
	Format string   `json:"format,omitempty"`  // of late readings: FormatJSON, also for "", or FormatLines
	Uplink string   `json:"uplink,omitempty"`  // parked, requeue: of this uplink; "" all
	Loss   float64  `json:"loss,omitempty"`    // advise: the share of readings that may be late
}

// StoreStats is the store in numbers.
type StoreStats struct {
	buffer.Stats
	Floor    string             `json:"floor"`  // F, RFC 3339; "" while nothing was offered to a server
	Points   buffer.PointCounts `json:"points"` // of the first uplink
	Balanced bool               `json:"balanced"`
	Uplinks  []UplinkStats      `json:"uplinks,omitempty"` // of each, when there are several
}

// UplinkStats are the books of one of several uplinks.
type UplinkStats struct {
	Name   string             `json:"name"`
	Points buffer.PointCounts `json:"points"`
}

// A ParkedPoint is one point that a server refused.
type ParkedPoint = status.Parked

// A RequeueResult is what became of parked points that were asked back, and what is there now.
type RequeueResult struct {
	Requeued int64    `json:"requeued"`
	NoLine   int64    `json:"no_line"` // stay parked, since no line could be made of them
	Busy     int64    `json:"busy"`    // stay parked, since they may be updated and are on their way to another server; ask again
	Missing  []uint64 `json:"missing"` // asked for, but not parked
	Queued   int64    `json:"queued"`  // now, of the uplink; of all: the points that wait for any
	Parked   int64    `json:"parked"`  // now, of the uplink; of all: the sum
}

// errStopping is returned for requests that come while the agent stops.
var errStopping = errors.New("the agent is stopping; ask again when it has stopped or runs again")

// An ask is a request to the run loop, the one owner of the state.
type ask struct {
	fn   func(stop context.Context) error // stop is done when the agent is to stop
	done chan error                       // has room for the answer
}

// do has fn run by the run loop, or at once where nothing runs.
func (a *Agent) do(ctx context.Context, fn func() error) error {
	if a.alone {
		return errors.Join(ctx.Err(), fn())
	}
	return a.ask(ctx, func(context.Context) error { return fn() })
}

// ask has fn run by the run loop.
func (a *Agent) ask(ctx context.Context, fn func(stop context.Context) error) error {
	q := ask{fn, make(chan error, 1)}
	select {
	case a.asks <- q:
		return <-q.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Control carries out a Request beside the run loop, which does the writing.
func (a *Agent) Control(ctx context.Context, in io.Reader, out io.Writer) error {
	var req Request
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	if err := d.Decode(&req); err != nil {
		return fmt.Errorf("decode request: %w; are command and agent of the same version?", err)
	}
	return a.carryOut(ctx, req, out)
}

func (a *Agent) carryOut(ctx context.Context, req Request, out io.Writer) error {
	switch req.Action {
	case ActionRequeue:
		done, err := a.requeue(ctx, req)
		if err != nil {
			return err
		}
		return writeRequeued(a.store, req.Uplink, done, out)
	case ActionReadmit:
		sum, err := a.readmit(ctx, req.DryRun)
		return errors.Join(err, writeJSON(out, sum))
	case ActionCheck, ActionCompact:
		return a.maintain(ctx, req, out)
	case ActionAdvise:
		advice, err := a.advise(ctx, req.Loss)
		if err != nil {
			return err
		}
		return writeJSON(out, advice)
	case ActionLog:
		return writeRecent(a.recent, out)
	}
	return look(ctx, a.store, a.cfg, req, out)
}

// look carries out the requests that only read.
func look(ctx context.Context, store *buffer.Store, cfg *configs.Config, req Request, out io.Writer) error {
	switch req.Action {
	case ActionStats:
		return writeJSON(out, storeStats(store))
	case ActionParked:
		return writeParked(ctx, store, req.Uplink, out)
	case ActionExport:
		if req.Late {
			return writeLate(ctx, store, cfg, req.Format, out)
		}
		if req.Traced {
			return writeTrace(ctx, store, req.Sensor, req.Came, out)
		}
		return writeLines(ctx, store, out)
	}
	return fmt.Errorf("unknown action %q; are command and agent of the same version?", req.Action)
}

// knows reports whether the store has an uplink of that name; "" stands for all.
func knows(store *buffer.Store, name string) error {
	var names []string
	for _, b := range store.Books() {
		if b.Name == name || name == "" {
			return nil
		}
		names = append(names, b.Name)
	}
	return fmt.Errorf("there is no uplink %q; there is %s", name, strings.Join(names, ", "))
}

func writeRequeued(store *buffer.Store, of string, done buffer.Requeued, out io.Writer) error {
	r := RequeueResult{Requeued: done.Points, NoLine: done.NoLine, Busy: done.Busy, Missing: done.Missing, Queued: store.Stats().Outbox}
	for _, b := range store.Books() {
		if of == "" || of == b.Name {
			r.Parked += b.Points.Parked
		}
		if of == b.Name {
			r.Queued = b.Points.Queued
		}
	}
	if r.Missing == nil {
		r.Missing = []uint64{}
	}
	return writeJSON(out, r)
}

func writeJSON(out io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	if _, err := out.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
