package agent

import (
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/status"
	"edgeagent/watermark"
)

// syncsPerCommit is how often bbolt syncs the file for a transaction: the pages, and then the one that makes them count.
const syncsPerCommit = 2

// report is the state for people and scrapers.
func (a *Agent) report() status.Report {
	e, now := a.engine, a.clock.Now()
	conn, stats := a.client.State(), a.store.Stats()
	q := a.lag.quantiles(0.5, 0.95, 0.99, 1)
	r := status.Report{
		Gateway: a.cfg.Gateway.ID, Version: a.version, UptimeS: int64(a.up().Seconds()),
		Clock:        status.Clock{Now: rfc3339(now), Trusted: a.trusted},
		MQTT:         status.MQTT{Connected: conn.Connected, Since: rfc3339(conn.Since), Broker: conn.Broker, Unacked: conn.Unacked, Refused: conn.Refused},
		Windows:      status.Windows{Open: e.OpenWindows(), Finalized: e.finalized},
		Ledger:       e.ledger.status(),
		ArrivalTimed: e.arrivalTimed, Held: int64(len(e.held)), Ignored: e.ignored, StoreResets: e.Node.Resets,
		Elsewhere: e.elsewhere.Count,
		Sensors:   int64(len(e.sensors)),
		Points:    pointsStatus(a.store.Counts()),
		Buffer:    status.Buffer{Bytes: stats.FileBytes, MaxBytes: stats.MaxBytes, Oldest: instant(stats.OldestEnd)},
		Uplink:    a.linkStatus(a.links[0]), Uplinks: a.uplinksStatus(),
		Lag: status.Lag{P50S: q[0], P95S: q[1], P99S: q[2], MaxS: q[3]},
		Work: status.Work{Commits: a.commitTime.status(), Uploads: a.uploads.status(), Syncs: syncsPerCommit * a.commitTime.count(),
			Written: stats.Written},
		Sources: e.sourcesStatus(),
	}
	r.HTTPError = a.page.why()
	if conn.Err != nil {
		r.MQTT.LastError = conn.Err.Error()
	}
	if a.commits.failing() {
		r.Buffer.Error = a.commits.err.Error()
	}
	if m, w := e.furthest(); m != watermark.None {
		r.Watermark = status.Watermark{Value: instant(w), MaxEventTime: instant(m), BehindS: float64(now.UnixNano()-m) / 1e9}
	}
	return r
}

// furthest is the mark that is furthest ahead.
func (e *Engine) furthest() (m, w int64) {
	m, w = watermark.None, watermark.None
	e.eachScope(func(sc *scope) { m, w = max(m, sc.mark.M), max(w, sc.mark.W) })
	return m, w
}

func (l Ledger) status() status.Ledger {
	s := status.Ledger{Received: l.Received, Windowed: l.Windowed, Late: l.Late, Duplicate: l.Duplicate, Retained: l.Retained,
		Rejected: make(map[string]int64), Balanced: l.Balanced()}
	for i, n := range l.Rejected {
		s.Rejected[reading.Reason(i).String()] = n
	}
	return s
}

func pointsStatus(p buffer.PointCounts) status.Points {
	return status.Points{Finalized: p.Finalized, Updated: p.Updated, LateReports: p.LateReports, LateReadings: p.LateReadings,
		Health: p.Health, Carried: p.Carried, Uploaded: p.Uploaded, Queued: p.Queued, Parked: p.Parked, Evicted: p.Evicted,
		Superseded: p.Superseded, Balanced: p.Balanced()}
}

func word(b bool, yes, no string) string {
	if b {
		return yes
	}
	return no
}

// rfc3339 is an instant for people, "" for the zero time.
func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// instant is an event time for people, "" for none.
func instant(ns int64) string {
	if ns == watermark.None || ns == 0 {
		return ""
	}
	return time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
}
