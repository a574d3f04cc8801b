package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/mqtt"
	"edgeagent/reading"
	"edgeagent/status"
)

// stopWithin is how long an orderly stop may take before what is left is abandoned; all of it is on disk or unacknowledged.
const stopWithin = 15 * time.Second

// Options are what an Agent is made from.
type Options struct {
	Config    *configs.Config
	Version   string
	BuildDate time.Time // of the commit: a clock before it is wrong
	Clock     Clock
	Logger    *slog.Logger

	Check       buffer.CheckFunc // of the store after an unclean stop; nil: not at all
	LockTimeout time.Duration    // how long to wait for another process to let go of the store; 0 is 5 s
	MemoryLimit int64            // of the process, bytes: remembered readings take at most half of it; 0 is none
	Recent      func() []string  // the last lines of the log, for whoever asks by the control socket; nil: none
	Supervisor  Supervisor
}

// An Agent is a running pipeline from broker to server. Open makes it, Run runs it once, and Run's end closes it.
type Agent struct {
	cfg     *configs.Config
	version string
	log     *slog.Logger
	clock   Clock
	trust   trust
	start   time.Time

	decoder *reading.Decoder
	store   *buffer.Store
	engine  *Engine
	client  *mqtt.Client
	links   []link // the uplinks, in the order of the configuration
	settles chan settle
	queries chan chan<- status.Report
	asks    chan ask
	uploads uploads
	upkeep  sync.Mutex // held while the store is checked or compacted: one at a time
	recent  func() []string
	alone   bool // no loop runs: the one goroutine there is owns the state
	page    pageState
	deaf    bool // no servers, for tests whose clock stands still while anybody listens

	// of the loop
	result     reading.Result
	deliveries []mqtt.Delivery
	aliases    aliases
	packets    *packets
	pace       *pace
	online     online
	commits    commits
	lag        lag
	history    history
	commitTime latency
	periods    periods
	summaries  summaries
	trusted    bool
	filters    []string
	supervised supervised
}

// Open opens the store, rebuilds the state and prepares the connections; nothing is connected yet. Its errors are the
// operator's to mend: a locked store, a folder that cannot be written, a certificate that cannot be read.
func Open(o Options) (*Agent, error) { return open(o, o.store()) }

func open(o Options, options buffer.Options) (*Agent, error) {
	a := &Agent{cfg: o.Config, version: o.Version, log: o.Logger, clock: o.Clock.orMachine(),
		trust: trust{o.Config.Gateway.Clock, o.BuildDate.UnixNano()}, queries: make(chan chan<- status.Report), asks: make(chan ask), settles: make(chan settle), recent: o.Recent}
	a.start = a.clock.Now()
	a.supervised = supervised{Supervisor: o.Supervisor, log: o.Logger}
	cfg := o.Config
	var err error
	if a.decoder, err = reading.Compile(cfg.Sources, cfg.Watermark.NotBefore); err != nil {
		return nil, err
	}
	options.Uplinks = cfg.UplinkNames()
	if a.store, err = buffer.Open(options); err != nil {
		return nil, err
	}
	if err := a.prepare(o); err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	return a, nil
}

// prepare makes everything that stands on the open store.
func (a *Agent) prepare(o Options) error {
	cfg := a.cfg
	restored, err := Restore(a.store, setupOf(cfg, a.decoder, o.BuildDate))
	if err != nil {
		return err
	}
	if len(restored.Changed) > 0 {
		a.log.Warn("store: configuration changed, open windows finalized under the former one", "changed", restored.Changed)
	}
	a.engine = restored.Engine
	a.engine.JournalFull = a.store.JournalFull
	a.limitRemembered(o.MemoryLimit)
	a.packets = newPackets(cfg.MQTT.KeepAlive.Std())
	a.aliases.decoder = a.decoder
	if err := a.aliases.restore(restored.Aliases); err != nil {
		return err
	}
	for _, r := range restored.Packets {
		a.packets.restore(r)
	}
	a.pace = newPace(cfg.Buffer.CommitInterval.Std())
	if a.client, err = a.newClient(); err != nil {
		return err
	}
	return a.newLinks()
}

// Run runs the agent until ctx ends, and then stops in order: intake, commit and acknowledge, uplink, store. It returns an
// error only if something did not stop in order.
func (a *Agent) Run(ctx context.Context) error {
	a.log.Info("edgeagent starts", "version", a.version, "gateway", a.cfg.Gateway.ID, "store", a.cfg.Buffer.Dir,
		"sensors", len(a.engine.sensors), "queued", a.store.Stats().Outbox)
	var intake, senders, servers sync.WaitGroup
	intakeCtx, stopIntake := context.WithCancel(context.WithoutCancel(ctx))
	sendCtx, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	serveCtx, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	errs := make(chan error, 3+len(a.links))
	run := func(wg *sync.WaitGroup, name string, fn func(context.Context) error, ctx context.Context) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := fn(ctx); err != nil && ctx.Err() == nil {
				errs <- fmt.Errorf("%s: %w", name, err)
			}
		}()
	}
	run(&intake, "mqtt", a.client.Run, intakeCtx)
	for name, send := range a.runners() {
		run(&senders, name, send, sendCtx)
	}
	for name, serve := range a.servers() {
		run(&servers, name, serve, serveCtx)
	}
	err := a.loop(ctx, errs)
	err = errors.Join(err, a.stop(stopIntake, &intake, stopSending, &senders))
	stopServing()
	a.serveUntil(done(&servers))
	return errors.Join(err, a.store.Close())
}

// stop ends intake and uplink in order, serving the uplink's last settlement meanwhile.
func (a *Agent) stop(stopIntake func(), intake *sync.WaitGroup, stopSending func(), senders *sync.WaitGroup) error {
	began := a.up()
	a.takeAll()
	a.periods.lags = 0
	err := a.commit()
	stopIntake()
	stopSending()
	a.serveUntil(done(intake))
	a.serveUntil(done(senders))
	if a.commits.waiting() {
		err = a.commit()
	}
	a.log.Info("edgeagent stopped", "open_windows", a.engine.OpenWindows(), "queued", a.store.Stats().Outbox,
		"took", (a.up() - began).Round(time.Millisecond))
	return err
}

// serveUntil answers the uplink and the status server until ended is closed, or for stopWithin.
func (a *Agent) serveUntil(ended <-chan struct{}) {
	deadline := time.NewTimer(stopWithin)
	defer deadline.Stop()
	for {
		select {
		case <-ended:
			return
		case s := <-a.settles:
			a.settle(s)
		case q := <-a.queries:
			q <- a.report()
		case q := <-a.asks:
			q.done <- errStopping
		case <-deadline.C:
			a.log.Warn("edgeagent: something did not stop in time; nothing is lost by that")
			return
		}
	}
}

func done(wg *sync.WaitGroup) <-chan struct{} {
	c := make(chan struct{})
	go func() { wg.Wait(); close(c) }()
	return c
}

// Reload has token and passwords read anew, as SIGHUP asks.
func (a *Agent) Reload() {
	a.log.Info("edgeagent: secrets are read anew")
	for _, l := range a.links {
		l.uplink.Reload()
	}
}

// Status asks the run loop for a report.
func (a *Agent) Status(ctx context.Context) (status.Report, error) {
	answer := make(chan status.Report, 1)
	select {
	case a.queries <- answer:
		return <-answer, nil
	case <-ctx.Done():
		return status.Report{}, ctx.Err()
	}
}
