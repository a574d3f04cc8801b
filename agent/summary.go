package agent

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"edgeagent/reading"
	"edgeagent/status"
	"edgeagent/uplink"
)

// How often the log sums up, and how seldom it may while nothing comes in, nothing goes out and nothing changes.
const (
	summaryEvery = 5 * time.Minute
	summaryMost  = time.Hour
)

// A pulse is what tells one summary from the next: while it stays the same, another says nothing new.
type pulse struct {
	received, uploaded int64
	broker, trusted    bool
	filters            int // refused
	uplink, store      string
}

// summaries is when the log sums up.
type summaries struct {
	last    pulse
	ledger  status.Ledger // at the last look
	useless bool          // nothing that came could be used, as of the last look
	in      time.Duration // how long after the last one the next comes, if the pulse stays the same
	at      time.Duration // Up, of that
}

// due reports whether a summary is to be written: always when something has happened, else ever less often.
func (s *summaries) due(p pulse, up time.Duration) bool {
	switch {
	case p != s.last || s.in == 0:
		s.in = summaryEvery
	case up < s.at:
		return false
	default:
		s.in = min(2*s.in, summaryMost)
	}
	s.last, s.at = p, up+s.in
	return true
}

// summary logs what a technician asks first: is the broker there, since when is the uplink down and why, how much waits, is the
// clock right. It is a warning while something is wrong.
func (a *Agent) summary() {
	r := a.report()
	was := a.summaries.ledger
	links := linksOf(r)
	p := pulse{r.Ledger.Received, 0, r.MQTT.Connected, r.Clock.Trusted, len(r.MQTT.Refused), "", r.Buffer.Error}
	for _, l := range links {
		p.uploaded, p.uplink = p.uploaded+l.Points.Uploaded, p.uplink+l.Uplink.State+" "
	}
	a.useless(r.Ledger)
	if a.summaries.due(p, a.up()) {
		a.log.Log(context.Background(), gravity(r, links, a.summaries.useless), "summary", words(r, links, was)...)
	}
}

// A linkPart is one uplink in a summary; suffix tells it from others.
type linkPart struct {
	suffix string
	status.UplinkPart
}

// linksOf are the uplinks of a report, by name.
func linksOf(r status.Report) (all []linkPart) {
	for _, name := range slices.Sorted(maps.Keys(r.Uplinks)) {
		all = append(all, linkPart{"_" + name, r.Uplinks[name]})
	}
	if len(all) == 0 {
		all = []linkPart{{"", status.UplinkPart{Points: r.Points, Uplink: r.Uplink}}}
	}
	return all
}

// gravity is the level of a summary.
func gravity(r status.Report, links []linkPart, useless bool) slog.Level {
	wrong := useless || !r.MQTT.Connected || len(r.MQTT.Refused) > 0 || !r.Clock.Trusted || r.Buffer.Error != "" || !r.Ledger.Balanced
	for _, l := range links {
		wrong = wrong || !l.Points.Balanced || l.Uplink.State == uplink.StateDown || l.Uplink.State == uplink.StateBlocked
	}
	if wrong {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// useless tells when nothing that has come since the last look could be used, once, and when that is over.
func (a *Agent) useless(now status.Ledger) {
	s := &a.summaries
	was := s.ledger
	s.ledger = now
	received, refused := now.Received-was.Received, make(map[string]int64)
	for reason, n := range now.Rejected {
		refused[reason] = n - was.Rejected[reason]
	}
	rejected, reasons := rejections(refused)
	switch {
	case now.Windowed > was.Windowed && s.useless:
		a.log.Info("readings: they can be used again")
	case now.Windowed == was.Windowed && rejected > 0 && rejected == received && !s.useless:
		a.log.Warn("readings: none of those that came can be used; edgeagent doctor and edgeagent try --listen 30s show why",
			"received", received, "rejected_for", reasons)
		s.useless = true
		return
	}
	s.useless = s.useless && now.Windowed == was.Windowed
}

// words is a report in one line; was is the ledger at the last look.
func words(r status.Report, links []linkPart, was status.Ledger) []any {
	all := []any{"broker", word(r.MQTT.Connected, "connected", "not connected")}
	all = add(all, "broker_since", r.MQTT.Since)
	all = add(all, "broker_error", r.MQTT.LastError)
	all = add(all, "broker_refuses", strings.Join(r.MQTT.Refused[:min(3, len(r.MQTT.Refused))], " "))
	for _, l := range links {
		all = append(all, "uplink"+l.suffix, stateWord(l.Uplink.State))
		all = add(all, "uplink_since"+l.suffix, l.Uplink.Since)
		all = add(all, "uplink_error"+l.suffix, l.Uplink.LastError)
		all = add(all, "last_upload"+l.suffix, l.Uplink.LastSuccess)
		all = append(all, "points_waiting"+l.suffix, l.Points.Queued)
	}
	all = append(all, "clock", word(r.Clock.Trusted, "trusted", "NOT TRUSTED"))
	all = add(all, "store_error", r.Buffer.Error)
	rejected, reasons := rejections(r.Ledger.Rejected)
	all = append(all, "lately", fmt.Sprintf("%d readings, %d into windows", r.Ledger.Received-was.Received, r.Ledger.Windowed-was.Windowed),
		"received", r.Ledger.Received, "late", r.Ledger.Late, "rejected", rejected)
	all = add(all, "rejected_for", reasons)
	balanced := r.Ledger.Balanced
	for _, l := range links {
		balanced = balanced && l.Points.Balanced
	}
	return append(all, "open_windows", r.Windows.Open, "watermark", r.Watermark.Value, "store_bytes", r.Buffer.Bytes,
		"books", word(balanced, "balance", "DO NOT BALANCE"))
}

// stateWord says of an uplink that has nothing to send that it is no fault.
func stateWord(state string) string {
	if state == uplink.StateIdle {
		return "up, nothing to send"
	}
	return state
}

// rejections is how many readings were refused, and for what, in the ledger's order.
func rejections(by map[string]int64) (sum int64, reasons string) {
	var all []string
	for i := range reading.NumReasons {
		if n := by[i.String()]; n > 0 {
			sum += n
			all = append(all, fmt.Sprintf("%s %d", i, n))
		}
	}
	return sum, strings.Join(all, ", ")
}

// add adds what is there.
func add(all []any, key, value string) []any {
	if value == "" {
		return all
	}
	return append(all, key, value)
}
