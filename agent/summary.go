package agent

import (
	"fmt"
	"strings"
	"time"

	"edgeagent/reading"
	"edgeagent/status"
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
// clock right.
func (a *Agent) summary() {
	r := a.report()
	p := pulse{r.Ledger.Received, r.Points.Uploaded, r.MQTT.Connected, r.Clock.Trusted, r.Uplink.State, r.Buffer.Error}
	a.useless(r.Ledger)
	if a.summaries.due(p, a.up()) {
		a.log.Info("summary", words(r)...)
	}
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

// words is a report in one line.
func words(r status.Report) []any {
	all := []any{"broker", word(r.MQTT.Connected, "connected", "away")}
	all = add(all, "broker_since", r.MQTT.Since)
	all = add(all, "broker_error", r.MQTT.LastError)
	all = append(all, "uplink", r.Uplink.State)
	all = add(all, "uplink_since", r.Uplink.Since)
	all = add(all, "uplink_error", r.Uplink.LastError)
	all = append(all, "queued", r.Points.Queued, "clock", word(r.Clock.Trusted, "trusted", "NOT TRUSTED"))
	all = add(all, "store_error", r.Buffer.Error)
	rejected, reasons := rejections(r.Ledger.Rejected)
	all = append(all, "received", r.Ledger.Received, "late", r.Ledger.Late, "rejected", rejected)
	all = add(all, "rejected_for", reasons)
	return append(all, "open_windows", r.Windows.Open, "watermark", r.Watermark.Value, "store_bytes", r.Buffer.Bytes,
		"books", word(r.Ledger.Balanced && r.Points.Balanced, "balance", "DO NOT BALANCE"))
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
