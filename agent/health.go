package agent

import (
	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/uplink"
	"edgeagent/watermark"
)

// health queues one line about the agent itself, unless the clock is wrong for certain: it would land in another year.
func (a *Agent) health() {
	m := a.moment()
	if m.Wall < a.engine.rules.BuildDate || m.Wall > a.engine.horizon {
		return
	}
	a.engine.Health(m.Wall, a.healthFields())
}

// Health queues a health line with the time t, ns.
func (e *Engine) Health(t int64, fields []uplink.Field) {
	line, err := e.encoder.Health(nil, t, fields)
	e.queue(buffer.Point{Kind: buffer.Health}, line, err)
}

// healthFields are the books and the state of the agent; the columns of points are those of the first uplink. The keys are stable:
// dashboards and alerts rest on them. instance is when this process began, in µs since 1970 by the gateway's clock: a restart
// raises it, so where it falls again and again two boxes have one gateway id.
func (a *Agent) healthFields() []uplink.Field {
	l, p, st := a.engine.ledger, a.store.Counts(), a.client.State()
	stats := a.store.Stats()
	fields := []uplink.Field{
		uplink.Int("received", l.Received),
		uplink.Int("windowed", l.Windowed),
		uplink.Int("late", l.Late),
		uplink.Int("duplicate", l.Duplicate),
		uplink.Int("retained", l.Retained),
		uplink.Int("rejected", l.Rejected.Sum()),
	}
	for i, n := range l.Rejected {
		fields = append(fields, uplink.Int("rejected_"+reading.Reason(i).String(), n))
	}
	if a.engine.rules.Share.Of > 0 {
		fields = append(fields, uplink.Int("elsewhere", a.engine.elsewhere.Count))
	}
	if m, _ := a.engine.furthest(); m != watermark.None {
		fields = append(fields, uplink.Float("behind_s", float64(a.clock.Now().UnixNano()-m)/1e9))
	}
	return append(fields,
		uplink.Int("arrival_timed", a.engine.arrivalTimed),
		uplink.Int("held", int64(len(a.engine.held))),
		uplink.Int("ignored", a.engine.ignored),
		uplink.Int("store_resets", a.engine.Node.Resets),
		uplink.Int("rewinds", a.engine.Node.Rewinds),
		uplink.Int("finalized", p.Finalized),
		uplink.Int("updated", p.Updated),
		uplink.Int("late_reports", p.LateReports),
		uplink.Int("late_readings", p.LateReadings),
		uplink.Int("side_dropped", stats.SideDropped),
		uplink.Int("uploaded", p.Uploaded),
		uplink.Int("queued", p.Queued),
		uplink.Int("parked", p.Parked),
		uplink.Int("evicted", p.Evicted),
		uplink.Int("superseded", p.Superseded),
		uplink.Int("sensors", int64(len(a.engine.sensors))),
		uplink.Int("open_windows", a.engine.OpenWindows()),
		uplink.Int("store_bytes", stats.FileBytes),
		uplink.Int("uptime_s", int64(a.up().Seconds())),
		uplink.Int("instance", a.start.UnixMicro()),
		uplink.Bool("clock_trusted", a.trusted),
		uplink.Bool("connected", st.Connected),
		uplink.Bool("balanced", l.Balanced() && a.balanced()),
	)
}

// balanced reports whether the points identity holds for every uplink.
func (a *Agent) balanced() bool {
	for _, b := range a.store.Books() {
		if !b.Points.Balanced() {
			return false
		}
	}
	return true
}

// OpenWindows counts the windows, over all series, that are not final yet.
func (e *Engine) OpenWindows() int64 {
	n := 0
	e.eachScope(func(sc *scope) { n += sc.set.Open() })
	return int64(n)
}
