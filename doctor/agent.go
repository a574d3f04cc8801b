package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"edgeagent/agent"
	"edgeagent/buffer"
	"edgeagent/status"
)

// storeWait is how long another process may hold the store until it is called locked.
const storeWait = time.Second

// running is what is known of the agent of the configuration and of its store.
type running struct {
	report status.Report
	err    error            // why the agent did not answer: status.ErrNoAgent if none runs
	store  agent.StoreStats // as the agent tells, or as it lies on disk
	cannot error            // why the store was not seen
}

// answers reports whether an agent runs here.
func (r running) answers() bool { return r.err == nil }

// seeAgent asks the running agent, or looks at the store of a stopped one.
func seeAgent(ctx context.Context, o Options) running {
	var r running
	socket := agent.SocketPath(o.Config.Buffer.Dir)
	r.report, r.err = status.Ask(ctx, socket)
	req := agent.Request{Action: agent.ActionStats}
	var text bytes.Buffer
	if r.answers() {
		r.cannot = status.Do(ctx, socket, req, &text)
	} else {
		r.cannot = agent.ControlStopped(ctx, agent.Options{Config: o.Config, Logger: quiet(), LockTimeout: storeWait}, req, &text)
	}
	if r.cannot == nil {
		if err := json.Unmarshal(text.Bytes(), &r.store); err != nil {
			r.cannot = fmt.Errorf("decode the agent's answer: %w", err)
		}
	}
	return r
}

func judgeAgent(r running, version string) Report {
	switch {
	case errors.Is(r.err, status.ErrNotAllowed):
		return Report{fail("agent", "run this as root or as the agent's user", "may not be asked: %v", r.err)}
	case errors.Is(r.err, status.ErrNoAgent) && errors.Is(r.cannot, buffer.ErrLocked):
		return Report{fail("agent", "find it with: fuser -v on the data folder's edgeagent.db; stop it", "another process uses the data folder and does not answer here")}
	case errors.Is(r.err, status.ErrNoAgent):
		return Report{warn("agent", "systemctl start edgeagent, when all else is right", "does not run; this is version %s", version)}
	case r.err != nil:
		return Report{fail("agent", "look at its log: journalctl -u edgeagent -n 20; start it again", "does not answer: %v", r.err)}
	case r.report.Version != version:
		return Report{warn("agent", "systemctl restart edgeagent, to run the installed one", "runs version %s, and this is %s", r.report.Version, version)}
	}
	return Report{ok("agent", "runs for %s, version %s", span(time.Duration(r.report.UptimeS)*time.Second), version)}
}

// judgeBooks looks at what the running agent has counted since its store began.
func judgeBooks(r running) Report {
	if !r.answers() {
		return nil
	}
	var out Report
	l, p := r.report.Ledger, r.report.Points
	if !l.Balanced || !p.Balanced {
		out = append(out, fail("books", "report this, with the file of edgeagent support", "the books do not balance: a fault of the program"))
	}
	share := func(n int64) float64 { return 100 * float64(n) / float64(max(1, l.Received)) }
	if share(l.Late) > 1 {
		out = append(out, warn("late", "edgeagent advise tells which watermark.delay they call for; a device whose clock is behind also does this", "%d of %d readings came too late (%.1f %%)", l.Late, l.Received, share(l.Late)))
	}
	out = append(out, judgeRejected(l, share)...)
	if p.Parked > 0 {
		out = append(out, warn("parked", "edgeagent buffer parked shows its reasons; mend them, then edgeagent buffer requeue --all", "the server refused %d points; they are kept", p.Parked))
	}
	if p.Evicted > 0 {
		out = append(out, warn("evicted", "raise buffer.max_size, or shorten outages; the newest points are kept", "%d points were given up for want of room", p.Evicted))
	}
	if r.report.Held > 0 {
		out = append(out, warn("held", "is the clock of this gateway set? they are judged when a second sensor confirms them", "%d readings lie far ahead of the clock and are held", r.report.Held))
	}
	if r.report.Ignored > 0 {
		out = append(out, warn("ignored", "narrow the topics of the sources, or add the source that is missing", "%d messages fit no source", r.report.Ignored))
	}
	if len(out) == 0 {
		out = Report{ok("books", "balance: %d readings received, %d points made", l.Received, p.Uploaded+p.Queued+p.Parked+p.Evicted+p.Superseded)}
	}
	return out
}

// rejectedNext says what a reason for refusal asks for.
var rejectedNext = map[string]string{
	"decode":   "edgeagent try --listen 30s shows what cannot be read",
	"no_value": "is the path in value right? key case matters; edgeagent try --listen 30s",
	"value":    "edgeagent try --listen 30s shows the text in place of a number",
	"range":    "a sentinel (85, -127) or a unit; see reject, min, max and unit of the source",
	"time":     "is the clock of the device set? is time_format right?",
	"future":   "the clock of a device, or of this gateway, is wrong",
	"clock":    "set the clock of this gateway: readings without a time of their own need it",
	"sensors":  "raise buffer.max_sensors",
	"overflow": "raise buffer.max_size, or give the agent more memory",
	"too_big":  "raise mqtt.max_message_bytes if such messages hold readings",
}

// judgeRejected tells of refused readings: all of what a bound refused, and a share of over 1 % of what a device or path is the cause of.
func judgeRejected(l status.Ledger, share func(int64) float64) Report {
	var out Report
	for _, reason := range []string{"decode", "no_value", "value", "range", "time", "future", "clock", "sensors", "overflow", "too_big"} {
		n := l.Rejected[reason]
		bound := reason == "sensors" || reason == "overflow"
		if n > 0 && (bound || share(n) > 1) {
			out = append(out, warn("rejected", rejectedNext[reason], "%s: %d of %d readings (%.1f %%)", reason, n, l.Received, share(n)))
		}
	}
	return out
}

// hangs reports whether an agent is there that does not answer: what holds the store is that one.
func (r running) hangs() bool {
	return r.err != nil && !errors.Is(r.err, status.ErrNoAgent) && errors.Is(r.cannot, buffer.ErrLocked)
}

// missing reports whether the store is not there yet.
func (r running) missing() bool { return errors.Is(r.cannot, fs.ErrNotExist) }

// uptime is how long the agent has run.
func uptime(r running) time.Duration { return time.Duration(r.report.UptimeS) * time.Second }
