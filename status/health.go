package status

import (
	"maps"
	"slices"
	"strings"

	"edgeagent/reading"
)

// Healthy reports whether the agent can do its work, and if not why, in one line. A broker or a server that is away is no
// fault of the agent's: it goes on and loses nothing. A store that cannot be written is, and so are books that do not
// balance.
func (r Report) Healthy() (bool, string) {
	if r.Buffer.Error != "" {
		return false, "the store cannot be written: " + clean(r.Buffer.Error, maxError)
	}
	for _, b := range r.books() {
		if !b.balanced() {
			return false, either(b.uplink == "", "", "uplink "+b.uplink+": ") + b.verdict()
		}
	}
	return true, "ok"
}

// A book is one of the two identities: what came in equals what became of it.
type book struct {
	title    string // what is counted, in the plural
	uplink   string // whose points; "" if there is one uplink
	in, out  []entry
	detail   []entry // what the last entry of out consists of, where that is counted
	asserted bool    // the agent's own verdict
}

type entry struct {
	name string
	n    int64
}

func sum(entries []entry) int64 {
	var n int64
	for _, e := range entries {
		n += e.n
	}
	return n
}

// off is by how many more came in than are accounted for.
func (b book) off() int64 { return sum(b.in) - sum(b.out) }

// balanced needs both the sums shown and the agent's word, so that neither can hide a fault of the other.
func (b book) balanced() bool { return b.off() == 0 && b.asserted }

// name is the title, and whose points they are.
func (b book) name() string { return b.title + either(b.uplink == "", "", " of "+b.uplink) }

// verdict says in words what balanced and off say.
func (b book) verdict() string {
	one := strings.TrimSuffix(b.title, "s")
	switch off := b.off(); {
	case off > 0:
		return "the books do not balance: " + count(off, one) + " missing"
	case off < 0:
		return "the books do not balance: " + count(-off, one) + " too many"
	case !b.asserted:
		return "the books do not balance, says the agent, though the sums of the " + b.title + " agree"
	}
	return "the books balance"
}

// books makes both identities of the report; with several uplinks that of the points holds for each, and there is one for each.
func (r Report) books() []book {
	l := r.Ledger
	reasons := l.reasons()
	all := []book{{
		title: "readings",
		in:    []entry{{"received", l.Received}},
		out: []entry{{"windowed", l.Windowed}, {"late", l.Late}, {"duplicate", l.Duplicate}, {"retained", l.Retained},
			{"rejected", sum(reasons)}},
		detail:   reasons,
		asserted: l.Balanced,
	}}
	for _, u := range r.uplinks() {
		k := pointBook(u.Points)
		k.uplink = u.name
		all = append(all, k)
	}
	return all
}

// pointBook is the identity of the points of one uplink.
func pointBook(p Points) book {
	return book{
		title: "points",
		in: []entry{{"finalized", p.Finalized}, {"updated", p.Updated}, {"late reports", p.LateReports},
			{"late readings", p.LateReadings}, {"health", p.Health}, {"carried", p.Carried}},
		out: []entry{{"uploaded", p.Uploaded}, {"queued", p.Queued}, {"parked", p.Parked}, {"evicted", p.Evicted},
			{"superseded", p.Superseded}},
		asserted: p.Balanced,
	}
}

// reasons lists the rejected readings, every known reason in the ledger's order, then those that only another version of
// the agent knows.
func (l Ledger) reasons() []entry {
	var out []entry
	known := make(map[string]bool)
	for i := range reading.NumReasons {
		name := i.String()
		known[name] = true
		out = append(out, entry{name, l.Rejected[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(l.Rejected)) {
		if !known[name] {
			out = append(out, entry{name, l.Rejected[name]})
		}
	}
	return out
}
