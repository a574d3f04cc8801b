package uplink

import "math"

// backlogTurn is how many batches of live points go out in a row while older ones wait: then one of these has its turn.
const backlogTurn = 3

// A lane is a stretch of the outbox that goes out oldest first: what lies in it up to after is settled.
type lane struct{ after, upto uint64 }

// lanes are what is left to deliver. In the order "oldest" there is the live lane alone. In the order "newest" the outbox is split where
// an outage ended: what waits below is the backlog, and goes out when nothing waits above, or when it has its turn. An outage that comes
// before the backlog is drained splits the live lane once more.
type lanes struct {
	newest  bool
	live    lane   // to the end of the outbox
	backlog []lane // ascending
	row     int    // batches of live points delivered in a row while a backlog waited
	split   bool   // the live lane is to be split before the next batch is chosen
}

func newLanes(order string) lanes {
	newest := order == "newest"
	return lanes{newest: newest, split: newest, live: lane{upto: math.MaxUint64}}
}

// outage is told when an attempt failed: what waits when it is over is a backlog.
func (l *lanes) outage() { l.split = l.newest }

// splitAt makes a backlog of all but the newest batch, where newest is the number of the newest point.
func (l *lanes) splitAt(newest uint64, batch int) {
	at := newest - min(newest, uint64(batch))
	if at <= l.live.after {
		return
	}
	n := len(l.backlog)
	if n > 0 && l.backlog[n-1].upto == l.live.after {
		l.backlog[n-1].upto = at
	} else {
		l.backlog = append(l.backlog, lane{l.live.after, at})
	}
	l.live.after = at
}

// order gives the lanes in the order in which they are to be looked at for the next batch.
func (l *lanes) order() []*lane {
	if len(l.backlog) == 0 {
		l.row = 0
		return []*lane{&l.live}
	}
	if l.row >= backlogTurn {
		return []*lane{&l.backlog[0], &l.live}
	}
	return []*lane{&l.live, &l.backlog[0]}
}

// took notes that a batch of a lane is delivered.
func (l *lanes) took(from *lane) {
	l.row++
	if from != &l.live {
		l.row = 0
	}
}

// drained drops a lane in which nothing waits any more; the live lane stays.
func (l *lanes) drained(from *lane) (dropped bool) {
	if from == &l.live {
		return false
	}
	l.backlog = l.backlog[1:]
	return true
}
