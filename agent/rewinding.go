package agent

import (
	"fmt"
	"math"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/watermark"
	"edgeagent/window"
)

// A rewinding works out what a rewind changes.
type rewinding struct {
	st      *state
	to, w   int64            // what M and W become at most
	floor   int64            // F
	closed  int64            // no window that ends later has been put out, but for windows that cannot be yet
	horizon int64            // a window that begins after it cannot be: the later of to and the clock
	wasW    map[string]int64 // W of each sensor, of the stream under ""
	force   bool
	change  buffer.Rewind
	sum     Rewound
}

func (p *rewinding) plan(store *buffer.Store, snap *buffer.Snapshot, delay int64) error {
	st, mark := p.st, watermark.New()
	mark.Observe(p.to, delay)
	p.w, p.change.Floor = mark.W, reading.NoTime
	p.marks(snap.Marks)
	st.Forgot = Forgot{p.forgot(st.Forgot.Before, max(p.wasW[""], st.Base)), snap.NextRecord - 1}
	p.sum.Floor = Moved{instant(p.floor), instant(p.floor)}
	p.sum.Changed = p.sum.Changed || p.force && max(p.floor, st.Floor) > p.next(p.to)
	p.sum.Rewinds = st.Node.Rewinds
	if !p.sum.Changed {
		return nil
	}
	if err := p.points(store); err != nil {
		return err
	}
	st.Newest = min(st.Newest, p.to)
	if st.Base > p.to {
		st.Base = p.w
	}
	p.list()
	p.setFloor()
	p.late(snap.Late)
	st.Node.TrustedWall = min(st.Node.TrustedWall, p.horizon)
	st.Node.Rewinds++
	p.sum.Rewinds = st.Node.Rewinds
	return p.takeBack(store)
}

// ahead reports whether a window that ends at end lies where none can be yet.
func (p *rewinding) ahead(end int64) bool { return end-p.st.Shape.Size > p.horizon }

// points finds up to where windows have been put out, and has queued points of windows that cannot be yet parked: once offered they would raise
// the floor to where they lie.
func (p *rewinding) points(store *buffer.Store) error {
	p.closed = max(p.floor, p.st.Floor)
	p.change.Park = func(q buffer.Point) string {
		if q.End == 0 || !p.ahead(q.End) {
			return ""
		}
		return "set aside by rewind: its window begins after " + instant(p.horizon)
	}
	err := store.EachWaiting(func(q buffer.Point, parked bool) error {
		if q.End != 0 && !p.ahead(q.End) {
			p.closed = max(p.closed, q.End)
		} else if !parked && p.change.Park(q) != "" {
			p.sum.Parked++
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look at waiting points: %w", err)
	}
	return nil
}

// next is the start of the window after the one in which t falls.
func (p *rewinding) next(t int64) int64 {
	return watermark.Add(window.Start(t, p.st.Shape.Size), p.st.Shape.Size)
}

// marks sets back every mark that is ahead.
func (p *rewinding) marks(list []buffer.Mark) {
	before, after := p.st.Stream, p.st.Stream
	p.wasW[""] = before.W
	if p.setBack(&after) {
		p.sum.Changed, p.st.Stream = true, after
	}
	for _, m := range list {
		k, gone := watermark.Mark{M: m.M, W: m.W}, m.Gone
		p.wasW[m.Sensor] = m.W
		moved := p.setBack(&k)
		if p.force && gone > p.w {
			gone, moved = p.w, true
		}
		if p.st.Shape.PerSensor {
			before.M, before.W = max(before.M, m.M), max(before.W, m.W)
			after.M, after.W = max(after.M, k.M), max(after.W, k.W)
		}
		if moved {
			p.sum.Changed = true
			p.sum.Sensors++
			p.change.Marks = append(p.change.Marks, buffer.Mark{Sensor: m.Sensor, M: k.M, W: k.W, Gone: gone, Forgot: p.forgot(m.Forgot, m.W)})
		}
	}
	p.sum.MaxEventTime = Moved{instant(before.M), instant(after.M)}
	p.sum.Watermark = Moved{instant(before.W), instant(after.W)}
}

// forgot is what stays forgotten of a mark whose watermark was w.
func (p *rewinding) forgot(before, w int64) int64 {
	return max(before, forgetsBefore(w, p.st.Keep, p.st.Shape.Size))
}

func (p *rewinding) setBack(k *watermark.Mark) bool {
	if k.M <= p.to && k.W <= p.to {
		return false
	}
	k.M, k.W = min(k.M, p.to), min(k.W, p.w)
	return true
}

// setFloor keeps what may have been sent closed, or, with force, opens it again.
func (p *rewinding) setFloor() {
	st, upTo := p.st, p.next(p.to)
	if !p.force {
		st.Floor = p.closed
		st.Born = max(st.Born, p.closed, upTo)
		if st.Floor > p.w {
			p.sum.LateUntil = instant(st.Floor)
		}
		return
	}
	st.Floor = min(st.Floor, p.w)
	st.Born = upTo // late intervals up to here may have been reported
	p.change.Floor, p.change.Born = min(p.floor, upTo), st.Floor
	p.sum.Floor.After = instant(p.change.Floor)
}

// list names the windows that end after W and have been, or may have been, put out.
func (p *rewinding) list() {
	size := p.st.Shape.Size
	last := min(p.closed, p.next(p.horizon))
	for end := p.next(p.w); end <= last && end < math.MaxInt64-size; end += size {
		if len(p.sum.Windows) == maxShown {
			p.sum.More = (last-end)/size + 1
			return
		}
		p.sum.Windows = append(p.sum.Windows, instant(end-size))
	}
}

// late moves late counts of intervals that event time is no longer in to the first interval that no report can have used.
func (p *rewinding) late(list []buffer.LateCount) {
	size := p.st.Shape.Size
	first := window.Start(p.st.Born, size)
	if first < p.st.Born {
		first += size
	}
	for _, c := range list {
		if c.Interval <= window.Start(p.to, size) {
			continue
		}
		if c.Interval = first; c.Count == 0 {
			c.Interval -= size
		}
		p.change.Late = append(p.change.Late, c)
	}
}

// takeBack has the readings of open windows that cannot be yet counted as the future's, as they would have been with max_future on. Those of
// final ones are in points: they stay counted, and are only forgotten.
func (p *rewinding) takeBack(store *buffer.Store) error {
	size := p.st.Shape.Size
	p.change.Drop = func(e buffer.Entry) bool { return p.ahead(window.Start(e.Time, size) + size) }
	err := store.Journal(func(_ uint64, entries []buffer.Entry) error {
		for _, e := range entries {
			if e.Kind == buffer.Windowed && p.change.Drop(e) && window.Start(e.Time, size)+size > p.wOf(e) {
				p.sum.TakenBack++
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	p.st.Ledger.Windowed -= p.sum.TakenBack
	p.st.Ledger.Rejected[reading.Future] += p.sum.TakenBack
	return nil
}

// wOf is the W that governed a reading.
func (p *rewinding) wOf(e buffer.Entry) int64 {
	if p.st.Shape.PerSensor {
		return p.wasW[e.Series.Sensor()]
	}
	return p.wasW[""]
}
