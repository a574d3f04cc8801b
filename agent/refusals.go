package agent

import (
	"strings"
	"time"

	"edgeagent/reading"
	"edgeagent/status"
)

// maxTold is how much of a topic or detail is kept, bytes.
const maxTold = 240

// A tally is what a source has given and what of it was refused, since the agent started: to find the source that is set up
// wrong. Redeliveries do not count. The ledger alone counts what belongs to no source, and readings that were held when they are refused in the end.
type tally struct {
	readings int64 // decoded, whatever became of them
	rejected Rejected
	last     refusal
}

// A refusal is one refused record, reading or message.
type refusal struct {
	fresh  bool // of the message at hand
	reason reading.Reason
	detail string
	topic  string
	at     time.Time // arrival
}

// refuseRecord counts what decoding refused.
func (e *Engine) refuseRecord(r *reading.Refusal) {
	e.reject(r.Reason)
	e.tell(r.Source, r.Reason, r.Detail)
}

// tell counts a refusal with its source.
func (e *Engine) tell(source uint16, reason reading.Reason, detail string) {
	if int(source) >= len(e.tallies) {
		return
	}
	t := &e.tallies[source]
	t.rejected[reason]++
	t.last = refusal{fresh: true, reason: reason, detail: told(detail)}
}

// tellReading counts a refusal of a reading: the reason by which v has more than before.
func (e *Engine) tellReading(r *reading.Reading, before *Rejected) {
	for reason, n := range e.verdict.refused {
		if n > before[reason] {
			e.tell(r.Source, reading.Reason(reason), "sensor "+told(r.Series.Sensor())+" at "+instant(r.Time))
		}
	}
}

// locate notes for the refusals of the message at hand where it came from.
func (e *Engine) locate(topic string, at time.Time) {
	for i := range e.tallies {
		if t := &e.tallies[i].last; t.fresh {
			t.fresh, t.topic, t.at = false, told(topic), at
		}
	}
}

// told is text within maxTold; it does not keep a longer one in memory.
func told(text string) string {
	if len(text) <= maxTold {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:maxTold]), "") + "…"
}

// sourcesStatus is the table of sources for people and scrapers.
func (e *Engine) sourcesStatus() map[string]status.SourceTable {
	all := make(map[string]status.SourceTable, len(e.tallies))
	for i := range e.tallies {
		t := &e.tallies[i]
		s := status.SourceTable{Readings: t.readings, Rejected: make(map[string]int64, len(t.rejected))}
		for reason, n := range t.rejected {
			s.Rejected[reading.Reason(reason).String()] = n
		}
		if l := &t.last; !l.at.IsZero() {
			s.LastRefusal = &status.Refusal{Time: rfc3339(l.at), Topic: l.topic, Reason: l.reason.String(), Detail: l.detail}
		}
		all[e.lags.names[i]] = s
	}
	return all
}
