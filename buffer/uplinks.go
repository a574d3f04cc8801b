package buffer

import "slices"

// defaultUplink is the name of the uplink of a store that was not told any.
const defaultUplink = "uplink"

// An uplink is how far one uplink has come, and its books. One alone is done with nothing that the outbox still holds, so that the
// simple case costs nothing.
type uplink struct {
	id        uint16 // in the keys of its parked points; of a store's first uplink 0
	name      string
	points    PointCounts // of the first uplink zero: those are counters.Points
	settled   spans       // what it is done with; points of these that the outbox still holds wait for other uplinks
	overtaken []uint64    // points that an update replaced while they were on their way to it, ascending: never to be offered again
}

// books are the numbers of a store: the counters, and the uplinks in the order of the configuration. In memory a value is never
// changed once it is published.
type books struct {
	counters
	uplinks []uplink // one at least
	trace   traceBook
}

// firstBooks are those of a store in which nothing has happened.
func firstBooks() books {
	return books{counters: firstCounters(), uplinks: []uplink{{name: defaultUplink}}, trace: traceBook{next: 1, first: 1}}
}

// points are the books of uplink u.
func (b *books) points(u int) *PointCounts {
	if u == 0 {
		return &b.Points
	}
	return &b.uplinks[u].points
}

// list gives the uplinks with the books of each in it.
func (b *books) list() []uplink {
	all := slices.Clone(b.uplinks)
	all[0].points = b.Points
	return all
}

// setList takes back what list gave, changed.
func (b *books) setList(all []uplink) {
	b.Points, all[0].points = all[0].points, PointCounts{}
	b.uplinks = all
}

// index finds an uplink by name, "" the first; -1 if there is none.
func (b *books) index(name string) int {
	if name == "" {
		return 0
	}
	return slices.IndexFunc(b.uplinks, func(u uplink) bool { return u.name == name })
}

// nameByID is the name of the uplink with an id, "?" if there is none.
func (b *books) nameByID(id uint16) string {
	if u := b.byID(id); u >= 0 {
		return b.uplinks[u].name
	}
	return "?"
}

// UplinkCounts is the points identity of one uplink.
type UplinkCounts struct {
	Name   string
	Points PointCounts
}

// Books are the points identities of all uplinks as of the last commit, in the order of the configuration. It is safe from any
// goroutine.
func (s *Store) Books() (list []UplinkCounts) {
	for _, u := range s.cur.Load().list() {
		list = append(list, UplinkCounts{u.name, u.points})
	}
	return list
}
