package buffer

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// waits reports whether point seq, if it is in the outbox, waits for uplink u.
func (w *writer) waits(u int, seq uint64) bool { return !w.c.uplinks[u].settled.has(seq) }

// waitsForAny reports whether point seq of the outbox waits for any uplink.
func (w *writer) waitsForAny(seq uint64) bool {
	for u := range w.c.uplinks {
		if w.waits(u, seq) {
			return true
		}
	}
	return false
}

// done notes that uplink u is done with sp. The caller says in which column its points end, and takes out of the outbox what waits for
// nobody.
func (w *writer) done(u int, sp Span) {
	w.c.uplinks[u].settled = w.c.uplinks[u].settled.with(sp)
	w.changed = true
}

// settle ends stretches of the outbox: their points count as uploaded, but for the parked ones.
func (w *writer) settle(b *Batch) error {
	for i := range b.Settle {
		if err := w.settleOne(&b.Settle[i]); err != nil {
			return fmt.Errorf("settle points up to %d: %w", b.Settle[i].Through, err)
		}
	}
	return nil
}

func (w *writer) settleOne(s *Settlement) error {
	u := w.c.index(s.Uplink)
	if u < 0 {
		return fmt.Errorf("BUG: there is no uplink %q", s.Uplink)
	}
	through := min(s.Through, w.c.NextSeq-1)
	outbox, points, refused := w.bucket(bucketOutbox), w.c.points(u), s.Parked
	var keys [][]byte
	c := outbox.Cursor()
	for k, v := seekAfter(c, s.After); k != nil && number(k) <= through; k, v = c.Next() {
		if !w.waits(u, number(k)) {
			continue
		}
		keys = append(keys, k)
		points.Queued--
		for len(refused) > 0 && refused[0].Seq < number(k) {
			refused = refused[1:]
		}
		if len(refused) == 0 || refused[0].Seq != number(k) {
			points.Uploaded++
			continue
		}
		if err := w.park(u, &refused[0], k, v); err != nil {
			return err
		}
	}
	w.done(u, Span{s.After + 1, through})
	if err := w.dropDone(outbox, keys); err != nil {
		return err
	}
	return w.trimParked()
}

// dropDone takes out of the outbox those of keys that wait for no uplink any more.
func (w *writer) dropDone(outbox *bolt.Bucket, keys [][]byte) error {
	for _, k := range keys {
		if w.waitsForAny(number(k)) {
			continue
		}
		if err := w.unqueue(outbox, k); err != nil {
			return err
		}
	}
	return nil
}

// unqueue takes one point out of the outbox.
func (w *writer) unqueue(outbox *bolt.Bucket, k []byte) error {
	v := outbox.Get(k)
	w.c.Bytes[inOutbox] -= cost(k, v)
	w.leftLate(k, v)
	w.c.Outbox--
	w.changed = true
	return outbox.Delete(k)
}

func (w *writer) putPoints(b *Batch) error {
	for i := range b.Points {
		p := &b.Points[i]
		if p.Kind >= NumPointKinds || (len(p.Line) == 0 && p.Refused == "") {
			return fmt.Errorf("BUG: point %q of kind %d", p.Line, p.Kind)
		}
		p.Seq = w.c.NextSeq
		w.c.NextSeq++
		for u := range w.c.uplinks {
			*w.c.points(u).made(p.Kind)++
		}
		put := w.queue
		if p.Refused != "" {
			put = w.refuse
		}
		if err := put(p); err != nil {
			return fmt.Errorf("queue point %d: %w", p.Seq, err)
		}
	}
	return w.trimParked()
}

// queue adds a point to the outbox for all uplinks, in the place of the one that it replaces.
func (w *writer) queue(p *Point) error {
	if p.Replaces != 0 {
		if err := w.supersedeParked(p.Replaces); err != nil {
			return err
		}
		if err := w.supersede(p.Replaces); err != nil {
			return err
		}
	}
	return w.enter(p, func(int) bool { return true })
}

// enter puts a point into the outbox, to wait for the uplinks that are named.
func (w *writer) enter(p *Point, wanted func(u int) bool) error {
	for u := range w.c.uplinks {
		if wanted(u) {
			w.c.points(u).Queued++
		} else {
			w.done(u, Span{p.Seq, p.Seq})
		}
	}
	key := numberKey(p.Seq)
	data := seal(key, appendPoint(nil, p))
	w.c.Outbox++
	w.c.Bytes[inOutbox] += cost(key, data)
	w.cameLate(p, cost(key, data))
	return w.bucket(bucketOutbox).Put(key, data)
}

// refuse parks a point of which no line could be made. What it would have replaced stays.
func (w *writer) refuse(p *Point) error {
	data := appendPoint(nil, p)
	for u := range w.c.uplinks {
		if err := w.putParked(u, p.Seq, &Parked{Reason: p.Refused, Time: w.now}, data); err != nil {
			return err
		}
	}
	return nil
}

// supersede ends a queued point that an update replaces, for the uplinks that have not taken it. Where it is on its way it stays until
// more is known, and is not offered again.
func (w *writer) supersede(seq uint64) error {
	outbox, k := w.bucket(bucketOutbox), numberKey(seq)
	if outbox.Get(k) == nil {
		return nil
	}
	for u := range w.c.uplinks {
		switch {
		case !w.waits(u, seq):
		case w.inFlight(u, seq):
			w.overtake(u, seq)
		default:
			w.superseded(u, seq)
		}
	}
	return w.dropDone(outbox, [][]byte{k})
}

func (w *writer) superseded(u int, seq uint64) {
	points := w.c.points(u)
	points.Superseded++
	points.Queued--
	w.done(u, Span{seq, seq})
}
