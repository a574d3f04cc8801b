package agent

import (
	"cmp"
	"math"
	"slices"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/uplink"
	"edgeagent/watermark"
	"edgeagent/window"
)

// Rules are the rules of time that an Engine follows. Durations are in ns.
type Rules struct {
	Size, Allowed, Delay int64
	PerSensor            bool // scope = "sensor": every sensor has a watermark of its own
	Late                 watermark.Policy
	Side                 SideOutput
	Trace                bool // readings are kept for tracing, whatever becomes of them
	Update               bool // emit = "update"
	UpdateInterval       int64
	MaxFuture            int64 // 0: nothing is too far ahead, but for BuildDate + 20 years
	IdleTimeout          int64 // 0: silence never moves event time
	MaxSensors           int
	SensorExpiry         int64
	Share                Share // of the site's sensors
	BuildDate            int64 // ns since the epoch; a clock before it is wrong for certain
}

// keep is how long after its window's end a reading is remembered.
func (r Rules) keep() int64 { return max(r.Allowed, r.Delay) }

// A Moment is what the clocks say when something is judged. The engine reads none itself.
type Moment struct {
	Wall    int64 // ns since the epoch, UTC
	Trusted bool  // the wall clock is known to be right
	Online  int64 // ns for which the agent has listened: connected, subscribed, and past the first 30 s
	Up      int64 // ns since the process started, monotonic
}

// An Input is one message, decoded.
type Input struct {
	Result   *reading.Result
	Topic    string // tells, where a site is shared, which agent counts what has no sensor
	Retained bool
	Known    bool  // a redelivery of a message that is committed or in the batch being built
	Arrival  int64 // when it came, ns; reading.NoTime, or 0, if that is not known. Unless the message is Live nothing but side output and trace depends on it
	Now      Moment
	Live     bool // the broker brings it now: it tells how late readings are, and whether the clock was right when it came
}

// An Engine is the state of the pipeline between decode and commit: it judges readings by the rules of time, keeps the
// ledger, and collects what the next commit makes durable. One goroutine owns it; it does no I/O.
type Engine struct {
	rules    Rules
	encoder  *uplink.Encoder
	retained func(source uint16) reading.RetainPolicy
	shape    Shape

	// Node is stored with every commit; the agent around the engine owns it.
	Node Node

	// JournalFull reports whether the journal's share of the store would be passed by so many bytes more, as buffer.EntrySize
	// counts them; nil is never.
	JournalFull func(extra int64) bool

	ledger       Ledger
	arrivalTimed int64
	ignored      int64
	elsewhere    elsewhere
	live         bool  // a live reading has been windowed in this store
	born         int64 // what ends here or before may have been sent by an earlier store
	floor        int64 // a window that ends here or before is gone, whatever W says
	base         int64 // W that every new mark starts at: what is closed stays closed when scope changes or sensors expire
	early        bool  // the message at hand came while the clock was wrong for certain
	newest       int64 // largest M of all
	horizon      int64 // nothing later than this ever passes
	finalized    int64 // windows, since the store began

	stream  *scope // scope = "stream"
	sensors map[string]*sensor
	last    *sensor // found last, nil if it is gone
	eldest  int64   // no sensor's newest reading is older
	late    window.Counters
	held    []held
	lags    lags
	tallies []tally  // by source
	sources []string // their names, for the trace

	journal journal
	batch   batch
	arrival int64 // of the message at hand
	verdict verdict
	outputs []window.Output // reused
	reports []window.Report
}

// A scope is what one watermark governs.
type scope struct {
	owner    *sensor // whose it is; nil for the stream's
	mark     watermark.Mark
	gone     int64 // windows of the sensor that end here or before are gone, whatever W says, as under Engine.floor
	set      *window.Set
	late     *window.LateCounts
	lastM    int64 // M when something was last windowed
	lastTime int64 // Moment.Online then
}

// name is the sensor's, "" for the stream.
func (sc *scope) name() string {
	if sc.owner == nil {
		return ""
	}
	return sc.owner.name
}

// NewEngine is an engine that has seen nothing. The encoder makes lines; retained tells each source's rule for retained
// messages.
func NewEngine(rules Rules, encoder *uplink.Encoder, retained func(uint16) reading.RetainPolicy) *Engine {
	e := &Engine{rules: rules, encoder: encoder, retained: retained, born: watermark.None, floor: watermark.None,
		base: watermark.None, newest: watermark.None, horizon: rules.horizon(), sensors: make(map[string]*sensor),
		eldest: math.MaxInt64, late: make(window.Counters)}
	e.batch, e.journal.compactAt = newBatch(), defaultCompactAt
	if !rules.PerSensor {
		e.stream = e.newScope(nil)
	}
	return e
}

func (e *Engine) newScope(owner *sensor) *scope {
	return &scope{
		owner: owner,
		mark:  watermark.Mark{M: watermark.None, W: e.base},
		set:   window.NewSet(window.Spec{Size: e.rules.Size, Allowed: e.rules.Allowed, Keep: e.rules.keep()}),
		late:  window.NewLateCounts(e.rules.Size, e.late),
		lastM: watermark.None,
		gone:  watermark.None,
	}
}

// Message judges all readings and refusals of one message, each after its predecessor has moved event time.
func (e *Engine) Message(in Input) {
	rs := in.Result.Readings
	all, own := int64(len(rs)+len(in.Result.Refusals)), e.own(&in)
	e.arrival = cmp.Or(in.Arrival, reading.NoTime)
	e.verdict.fresh()
	if all == 0 {
		if !in.Known && e.rules.Share.Has(in.Topic) {
			e.ignored++
		}
		return
	}
	e.lags.arrival, e.early = 0, in.Live && in.Arrival < e.rules.BuildDate
	if in.Live && !in.Retained {
		e.lags.arrival = in.Arrival
	}
	e.ledger.Received += own
	if in.Known {
		e.ledger.Duplicate += own
		e.repeated(rs)
		return
	}
	e.elsewhere.Count += all - own
	if e.rules.Share.Has(in.Topic) {
		for i := range in.Result.Refusals {
			e.refuseRecord(&in.Result.Refusals[i])
		}
	}
	if len(rs) > 1 {
		slices.SortStableFunc(rs, byTime)
	}
	e.judgeAll(rs, in.Retained, in.Now)
}

// TooBig counts a message that was cut on the wire; source is the one that its topic fits.
func (e *Engine) TooBig(topic string, known bool, source uint16) {
	if !e.rules.Share.Has(topic) {
		e.elsewhere.Count++
		return
	}
	e.ledger.Received++
	if known {
		e.ledger.Duplicate++
		return
	}
	e.ledger.Rejected[reading.TooBig]++
	e.tell(source, reading.TooBig, "over max_message_bytes")
}

func byTime(a, b reading.Reading) int {
	switch {
	case a.Time < b.Time:
		return -1
	case a.Time > b.Time:
		return 1
	}
	return 0
}

// Ledger is the ledger as it stands, the batch being built included.
func (e *Engine) Ledger() Ledger { return e.ledger }

// entry journals one remembered reading, or a bare tick.
func (e *Engine) entry(kind buffer.EntryKind, series reading.Series, t int64, v float64) {
	en := buffer.Entry{Series: series, Time: t, Value: v, Kind: kind}
	e.batch.journal = append(e.batch.journal, en)
	e.batch.bytes += buffer.EntrySize(en)
	e.journal.add(e.batch.record, kind)
}
