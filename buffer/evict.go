package buffer

import "fmt"

// evict brings the outbox back to its share.
func (w *writer) evict(*Batch) error { return w.evictToShare() }

// evictDown deletes the oldest points that are in flight for nobody until at most these bytes and points are left, late readings before
// all others; where bytes are the reason, a little more.
func (w *writer) evictDown(bytes, points int64) error {
	if err := w.evictLate(bytes, points); err != nil {
		return err
	}
	left, queued := w.c.Bytes[inOutbox], w.c.Outbox
	if left <= bytes && queued <= points {
		return nil
	}
	if left > bytes {
		bytes = slack(bytes)
	}
	outbox := w.bucket(bucketOutbox)
	var keys [][]byte
	c := outbox.Cursor()
	for k, v := c.First(); k != nil && (left > bytes || queued > points); k, v = c.Next() {
		if w.inFlightAnywhere(number(k)) {
			continue
		}
		keys = append(keys, k)
		left -= cost(k, v)
		queued--
	}
	for _, k := range keys {
		w.evicted(number(k))
		if err := w.unqueue(outbox, k); err != nil {
			return fmt.Errorf("evict point %d: %w", number(k), err)
		}
	}
	return nil
}

// evicted counts a point that leaves the outbox without being known to be stored, in the books of each uplink for which it waited.
func (w *writer) evicted(seq uint64) {
	for u := range w.c.uplinks {
		if w.waits(u, seq) {
			points := w.c.points(u)
			points.Queued--
			points.Evicted++
		}
	}
}
