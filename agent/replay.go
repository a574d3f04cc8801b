package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/reading"
)

// Bounds of a replay's batches: a commit comes after so many messages or so much time.
const (
	replayBatch = 500
	replayEvery = time.Second
	printBatch  = 5000
)

// ReplayOptions are what a replay is made from.
type ReplayOptions struct {
	Config    *configs.Config
	StateDir  string // keeps the store between runs; "" uses one that is thrown away
	Close     bool   // at the end finalize every open window and report all late counts
	Again     bool   // feed inputs from their beginning, whatever the store remembers of them
	BuildDate time.Time
	Out       io.Writer // line protocol, one point a line
	Logger    *slog.Logger
}

// A Replay runs recorded messages through the engine, with the store as its checkpoint: a line is printed after its commit
// and settled after it is printed, so that a run that is killed and started again on the same inputs loses nothing and
// prints at most the last lines twice. It reads no clock: max_future and idle_timeout are off, arrival is the line's.
type Replay struct {
	opts    ReplayOptions
	decoder *reading.Decoder
	store   *buffer.Store
	engine  *Engine
	aliases aliases
	out     *bufio.Writer
	remove  string // folder to throw away

	result  reading.Result
	batch   buffer.Batch
	since   int // messages since the last commit
	at      time.Time
	settled uint64
}

// OpenReplay opens the store and prints what an earlier run committed but did not print.
func OpenReplay(o ReplayOptions) (*Replay, error) {
	r := &Replay{opts: o, out: bufio.NewWriterSize(o.Out, 64<<10), at: time.Now()}
	var err error
	if r.decoder, err = reading.Compile(o.Config.Sources, o.Config.Watermark.NotBefore); err != nil {
		return nil, err
	}
	options := storeOptions(o.Config, o.StateDir, o.Logger)
	if o.StateDir == "" {
		if r.remove, err = os.MkdirTemp("", "edgeagent-replay-"); err != nil {
			return nil, fmt.Errorf("make a folder for the store: %w", err)
		}
		options.Dir, options.NoSync = r.remove, true
	}
	if r.store, err = buffer.Open(options); err != nil {
		return nil, errors.Join(err, r.discard())
	}
	if err := r.begin(); err != nil {
		return nil, errors.Join(err, r.shut())
	}
	return r, nil
}

// begin rebuilds the engine.
func (r *Replay) begin() error {
	setup := setupOf(r.opts.Config, r.decoder, r.opts.BuildDate)
	setup.Rules.MaxFuture, setup.Rules.IdleTimeout = 0, 0
	restored, err := Restore(r.store, setup)
	if err != nil {
		return err
	}
	r.engine = restored.Engine
	r.aliases.decoder = r.decoder
	if err := r.aliases.restore(restored.Aliases); err != nil {
		return err
	}
	r.engine.JournalFull = r.store.JournalFull
	if len(restored.Changed) > 0 {
		r.opts.Logger.Warn("store: configuration changed, open windows finalized under the former one", "changed", restored.Changed)
	}
	return r.commit(nil)
}

// Feed runs one input from where the store knows it to be committed.
func (r *Replay) Feed(ctx context.Context, in *Recording) error {
	if !r.opts.Again {
		done, err := r.store.Input(in.key)
		if err != nil {
			return fmt.Errorf("find the position in %s: %w", in.name, err)
		}
		if err := in.Skip(done); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		m, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			in.line--
			return errors.Join(r.commit(in), err)
		}
		r.message(m)
		if r.since >= replayBatch || time.Since(r.at) >= replayEvery {
			if err := r.commit(in); err != nil {
				return err
			}
		}
	}
	return errors.Join(r.commit(in), ctx.Err())
}

func (r *Replay) message(m reading.Message) {
	r.since++
	if len(m.Payload) > int(r.opts.Config.MQTT.MaxMessageBytes) {
		r.engine.TooBig(m.Topic, false, r.decoder.SourceOf(m.Topic))
		return
	}
	r.decoder.Decode(m, &r.result)
	wall := max(m.Arrival, r.engine.rules.BuildDate) // the recording gateway's clock is not this machine's to doubt
	r.engine.Message(Input{Result: &r.result, Topic: m.Topic, Retained: m.Retained, Arrival: m.Arrival, Now: Moment{Wall: wall, Trusted: true}})
}

// commit makes what has been fed durable together with the input's position, and prints the points that came of it.
func (r *Replay) commit(in *Recording) error {
	b := &r.batch
	if err := r.engine.Fill(b); err != nil {
		return err
	}
	r.aliases.fill(b)
	b.Inputs = b.Inputs[:0]
	if in != nil {
		b.Inputs = append(b.Inputs, buffer.Input{Key: in.key, Lines: in.line})
	}
	r.settle(b)
	if _, err := r.store.Commit(b); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	r.engine.Committed(b)
	r.aliases.committed()
	r.since, r.at = 0, time.Now()
	return r.print()
}

// settle has the points that have been printed leave the store with the batch.
func (r *Replay) settle(b *buffer.Batch) {
	b.Settle = b.Settle[:0]
	if r.settled > 0 {
		b.Settle = append(b.Settle, buffer.Settlement{Through: r.settled})
	}
}

// print writes the points that are committed and not printed yet.
func (r *Replay) print() error {
	for {
		points, err := r.store.Peek(r.settled, printBatch, 1<<20)
		if err != nil {
			return fmt.Errorf("read points: %w", err)
		}
		if len(points) == 0 {
			break
		}
		for _, p := range points {
			_, _ = r.out.Write(p.Line)
			_ = r.out.WriteByte('\n')
		}
		r.settled = points[len(points)-1].Seq
	}
	if err := r.out.Flush(); err != nil {
		return fmt.Errorf("print points: %w", err)
	}
	return nil
}

// Finish closes what is open if that was asked for, settles what has been printed, and reports the ledger.
func (r *Replay) Finish() (Ledger, error) {
	if r.opts.Close {
		r.engine.Close()
		if err := r.commit(nil); err != nil {
			return r.engine.ledger, errors.Join(err, r.shut())
		}
	}
	err := r.commit(nil)
	return r.engine.ledger, errors.Join(err, r.shut())
}

// Abort closes the store without settling.
func (r *Replay) Abort() error { return r.shut() }

func (r *Replay) shut() error { return errors.Join(r.store.Close(), r.discard()) }

func (r *Replay) discard() error {
	if r.remove == "" {
		return nil
	}
	return os.RemoveAll(r.remove)
}
