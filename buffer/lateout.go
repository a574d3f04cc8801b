package buffer

import "fmt"

// Late readings in the outbox are the first to go: they never push out a window's point, and have a bound of their own so that
// a flood of them does not make windows wait for its upload.

// isLateReading reports whether an encoded point is a late reading.
func isLateReading(v []byte) bool { return len(v) > 0 && PointKind(v[0]) == LateReading }

// cameLate counts a point that was queued.
func (w *writer) cameLate(p *Point, cost int64) {
	if p.Kind != LateReading {
		return
	}
	if w.c.Bytes[inLateOut] == 0 {
		w.c.LateFrom = p.Seq
	}
	w.c.Bytes[inLateOut] += cost
}

// leftLate counts a point that leaves the queue. A damaged one may be taken for what it was not, so the count can be out by a point
// until the next walk over all of them.
func (w *writer) leftLate(k, v []byte) {
	if isLateReading(v) {
		w.c.Bytes[inLateOut] = max(w.c.Bytes[inLateOut]-cost(k, v), 0)
	}
}

// evictToShare brings the outbox back to its share.
func (w *writer) evictToShare() error {
	return w.evictDown(w.outboxShare(), w.lim.points)
}

// outboxShare is the share of queued points. Late readings kept while the side output is off are taken from it, until nothing is left of them.
func (w *writer) outboxShare() int64 {
	if w.lim.sideOn {
		return w.lim.outbox - w.lim.side
	}
	return w.lim.outbox - w.c.Bytes[inSide]
}

// evictLate deletes the oldest queued late readings that are in flight for nobody until they are within their bound, and the outbox
// within these bytes and points or rid of them.
func (w *writer) evictLate(bytes, points int64) error {
	late, excess := w.c.Bytes[inLateOut], w.c.Outbox-points
	if late == 0 {
		return nil
	}
	target := late
	if late > w.lim.lateOut {
		target = slack(w.lim.lateOut)
	}
	if over := w.c.Bytes[inOutbox] - bytes; over > 0 {
		target = min(target, max(late-over-bytes/64, 0))
	}
	if target == late && excess <= 0 {
		return nil
	}
	return w.evictLateDown(target, excess)
}

// evictLateDown deletes the oldest late readings that are in flight for nobody until at most target bytes of them are left and excess points
// are gone.
func (w *writer) evictLateDown(target, excess int64) error {
	outbox := w.bucket(bucketOutbox)
	late, first := w.c.Bytes[inLateOut], w.c.NextSeq // the first that stays
	var keys [][]byte
	c := outbox.Cursor()
	k, v := seekAfter(c, max(w.c.LateFrom, 1)-1)
	for ; k != nil && (late > target || int64(len(keys)) < excess); k, v = c.Next() {
		switch {
		case !isLateReading(v):
		case w.inFlightAnywhere(number(k)):
			first = min(first, number(k))
		default:
			keys = append(keys, k)
			late -= cost(k, v)
		}
	}
	if k != nil {
		first = min(first, number(k))
	}
	for _, k := range keys {
		w.evicted(number(k))
		if err := w.unqueue(outbox, k); err != nil {
			return fmt.Errorf("evict late reading %d: %w", number(k), err)
		}
	}
	if w.c.LateFrom = first; first == w.c.NextSeq {
		w.c.Bytes[inLateOut] = 0
	}
	return nil
}
