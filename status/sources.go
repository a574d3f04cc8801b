package status

import (
	"maps"
	"slices"
	"strconv"
)

// SourceTable is one source of the configuration: what it gave and what of it was refused, since the agent started.
type SourceTable struct {
	Readings    int64            `json:"readings"` // decoded, whatever became of them
	Rejected    map[string]int64 `json:"rejected"` // by reason; every reason is there
	LastRefusal *Refusal         `json:"last_refusal,omitempty"`
}

// Refusal is one message, record or reading that was refused, in the words of the device as far as they can be shown.
type Refusal struct {
	Time   string `json:"time"` // arrival, RFC 3339
	Topic  string `json:"topic"`
	Reason string `json:"reason"`
	Detail string `json:"detail"`
}

// tidySources is the table with all foreign text made safe. It shares nothing with r.
func (r Report) tidySources() map[string]SourceTable {
	all := make(map[string]SourceTable, len(r.Sources))
	for name, s := range r.Sources {
		rejected := make(map[string]int64, len(s.Rejected))
		for reason, n := range s.Rejected {
			rejected[clean(reason, maxName)] = n
		}
		s.Rejected = rejected
		if l := s.LastRefusal; l != nil {
			s.LastRefusal = &Refusal{Time: clean(l.Time, maxName), Topic: clean(l.Topic, maxError), Reason: clean(l.Reason, maxName), Detail: clean(l.Detail, maxError)}
		}
		all[clean(name, maxName)] = s
	}
	return all
}

// reasons are the refusals by reason, in the order of their names.
func (s SourceTable) reasons() (list []entry) {
	for _, name := range slices.Sorted(maps.Keys(s.Rejected)) {
		list = append(list, entry{name, s.Rejected[name]})
	}
	return list
}

// refused tells of the sources of which something was refused.
func (r Report) refused() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Sources)) {
		s := r.Sources[name]
		if sum(s.reasons()) == 0 {
			continue
		}
		lines = append(lines, name+": "+nonzero(s.reasons())+" since the start, beside "+count(s.Readings, "reading"))
		if l := s.LastRefusal; l != nil {
			lines = append(lines, "last "+l.Time+ago(l.Time, r.Clock.Now)+", "+l.Reason+" on "+l.Topic+": "+l.Detail)
		}
	}
	return lines
}

// sourceFamilies are the metrics per source.
func sourceFamilies(r Report) []family {
	readings := family{name: "source_readings_total", kind: "counter", help: "Readings that a source gave, whatever became of them, since the agent started."}
	rejected := family{name: "source_rejected_total", kind: "counter", help: "Readings or records of a source that were refused, by reason, since the agent started."}
	for _, name := range slices.Sorted(maps.Keys(r.Sources)) {
		s := r.Sources[name]
		readings.samples = append(readings.samples, sample{label: "source", labelValue: name, value: strconv.FormatInt(s.Readings, 10)})
		label := `source="` + labelEscaper().Replace(name) + `",reason`
		for _, e := range s.reasons() {
			rejected.samples = append(rejected.samples, sample{label: label, labelValue: e.name, value: strconv.FormatInt(e.n, 10)})
		}
	}
	return []family{readings, rejected}
}
