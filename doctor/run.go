package doctor

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"edgeagent/configs"
	"edgeagent/reading"
)

// Options say what is looked at.
type Options struct {
	Config    *configs.Config // valid, also for a run
	File      string          // where it was read from
	Warnings  []string        // remarks on it, beside its own
	Version   string          // of this program
	BuildDate time.Time       // of the commit: a clock before it is wrong
	Listen    time.Duration   // how long to listen at the broker; 0 is not at all

	Now          func() time.Time // nil is time.Now
	Synchronised func() bool      // the kernel's word on the clock; nil is asked of the kernel
}

// Run looks at everything and reports. It takes Listen and some seconds, at most about a minute where nothing answers; when ctx ends
// it reports what it has seen until then.
func Run(ctx context.Context, o Options) Report {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Synchronised == nil {
		o.Synchronised = kernelClock
	}
	run := seeAgent(ctx, o)
	brokers := make([]broker, len(o.Config.MQTT.Brokers))
	servers := make([]server, len(o.Config.Uplinks))
	var extras extras
	var wg sync.WaitGroup
	for i, url := range o.Config.MQTT.Brokers {
		wg.Go(func() { brokers[i] = seeBroker(ctx, o, url) })
	}
	for i, u := range o.Config.Uplinks {
		wg.Go(func() { servers[i] = seeServer(ctx, o, u) })
	}
	wg.Go(func() { extras = seeExtras(ctx, o) })
	wg.Wait()
	return assemble(ctx, o, run, brokers, servers, extras)
}

// assemble puts the lines into their order.
func assemble(ctx context.Context, o Options, run running, brokers []broker, servers []server, x extras) Report {
	r := judgeConfig(o)
	r = append(r, judgeAgent(run, o.Version)...)
	r = append(r, judgeClock(seeClock(o, brokers, servers))...)
	for _, b := range brokers {
		r = append(r, judgeBroker(b, o, run)...)
	}
	r = append(r, judgePresence(x, run)...)
	r = append(r, judgeHeard(heardAt(brokers), o)...)
	r = append(r, judgeAbsence(heardAt(brokers), x, o)...)
	for _, s := range servers {
		r = append(r, judgeServer(s, o.Now())...)
		r = append(r, judgeRetention(s, run, o.Now())...)
	}
	r = append(r, judgeBooks(run)...)
	r = append(r, judgeStore(run, seeAside(o.Config.Buffer.Dir))...)
	r = append(r, judgeBarred(o.Config.Buffer.Dir, seeBarred(o.Config.Buffer.Dir))...)
	r = append(r, judgeDisk(seeDisk(o.Config.Buffer.Dir, run.answers()), run, o)...)
	r = append(r, judgeWear(run, o)...)
	r = append(r, judgeSecrets(seeSecrets(o.Config))...)
	return append(r, judgeHTTP(seeHTTP(ctx, o, run))...)
}

// quiet is a logger for the parts that doctor uses: what they have to say is in their answers.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// decoderOf compiles the sources; they have been validated.
func decoderOf(c *configs.Config) (*reading.Decoder, error) {
	return reading.Compile(c.Sources, c.Watermark.NotBefore)
}
