package buffer

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// settle ends the prefix of the outbox up to the last settlement: its points count as uploaded, but for the parked ones.
func (w *writer) settle(b *Batch) error {
	for i := range b.Settle {
		if err := w.settleOne(&b.Settle[i]); err != nil {
			return fmt.Errorf("settle points up to %d: %w", b.Settle[i].Through, err)
		}
	}
	return nil
}

func (w *writer) settleOne(s *Settlement) error {
	outbox := w.bucket(bucketOutbox)
	refused := s.Parked
	var keys [][]byte
	c := outbox.Cursor()
	for k, v := c.First(); k != nil && number(k) <= s.Through; k, v = c.Next() {
		keys = append(keys, k)
		for len(refused) > 0 && refused[0].Seq < number(k) {
			refused = refused[1:]
		}
		if len(refused) == 0 || refused[0].Seq != number(k) {
			w.c.Points.Uploaded++
			continue
		}
		if err := w.park(&refused[0], k, v); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if err := w.unqueue(outbox, k); err != nil {
			return err
		}
	}
	return w.trimParked()
}

// unqueue takes one point out of the outbox; the caller says in which column it ends.
func (w *writer) unqueue(outbox *bolt.Bucket, k []byte) error {
	v := outbox.Get(k)
	w.c.Bytes[inOutbox] -= cost(k, v)
	w.leftLate(k, v)
	w.c.Points.Queued--
	return outbox.Delete(k)
}

// park keeps a point of the outbox with the server's reason, unless an update of it is queued already.
func (w *writer) park(p *Parked, k, v []byte) error {
	point, err := unseal(k, v)
	if err != nil {
		return err // cannot be: a damaged point is in quarantine before it is offered
	}
	if w.hasSuccessor(number(k), point) {
		w.c.Points.Superseded++
		return nil
	}
	return w.putParked(k, p, point)
}

func (w *writer) putParked(k []byte, p *Parked, point []byte) error {
	data := seal(k, appendParked(nil, p, point))
	w.c.Points.Parked++
	w.c.Bytes[inParked] += cost(k, data)
	return w.bucket(bucketParked).Put(k, data)
}

func (w *writer) trimParked() error {
	return w.trim(bucketParked, inParked, w.lim.parked, func() {
		w.c.Points.Parked--
		w.c.Points.Evicted++
	})
}

func (w *writer) putPoints(b *Batch) error {
	for i := range b.Points {
		p := &b.Points[i]
		if p.Kind >= NumPointKinds || (len(p.Line) == 0 && p.Refused == "") {
			return fmt.Errorf("BUG: point %q of kind %d", p.Line, p.Kind)
		}
		p.Seq = w.c.NextSeq
		w.c.NextSeq++
		*w.c.Points.made(p.Kind)++
		put := w.queue
		if p.Refused != "" {
			put = w.refuse
		}
		if err := put(p, b.Protect); err != nil {
			return fmt.Errorf("queue point %d: %w", p.Seq, err)
		}
	}
	return w.trimParked()
}

// queue adds a point to the outbox, in the place of the one that it replaces.
func (w *writer) queue(p *Point, protect uint64) error {
	outbox := w.bucket(bucketOutbox)
	if err := w.supersedeParked(p); err != nil {
		return err
	}
	if p.Replaces > protect {
		if err := w.supersede(outbox, p.Replaces); err != nil {
			return err
		}
	}
	key := numberKey(p.Seq)
	data := seal(key, appendPoint(nil, p))
	w.c.Points.Queued++
	w.c.Bytes[inOutbox] += cost(key, data)
	w.cameLate(p, cost(key, data))
	return outbox.Put(key, data)
}

// refuse parks a point of which no line could be made. What it would have replaced stays.
func (w *writer) refuse(p *Point, _ uint64) error {
	parked := Parked{Seq: p.Seq, Reason: p.Refused, Time: w.now}
	return w.putParked(numberKey(p.Seq), &parked, appendPoint(nil, p))
}

func (w *writer) supersede(outbox *bolt.Bucket, seq uint64) error {
	k := numberKey(seq)
	if outbox.Get(k) == nil {
		return nil
	}
	w.c.Points.Superseded++
	return w.unqueue(outbox, k)
}

// evict brings the outbox back to its share.
func (w *writer) evict(b *Batch) error {
	return w.evictToShare(b.Protect)
}

// evictDown deletes the oldest points after protect until at most these bytes and points are left, late readings before all
// others; where bytes are the reason, a little more.
func (w *writer) evictDown(protect uint64, bytes, points int64) error {
	if err := w.evictLate(protect, bytes, points); err != nil {
		return err
	}
	left, queued := w.c.Bytes[inOutbox], w.c.Points.Queued
	if left <= bytes && queued <= points {
		return nil
	}
	if left > bytes {
		bytes = slack(bytes)
	}
	outbox := w.bucket(bucketOutbox)
	var keys [][]byte
	c := outbox.Cursor()
	for k, v := seekAfter(c, protect); k != nil && (left > bytes || queued > points); k, v = c.Next() {
		keys = append(keys, k)
		left -= cost(k, v)
		queued--
	}
	for _, k := range keys {
		w.c.Points.Evicted++
		if err := w.unqueue(outbox, k); err != nil {
			return fmt.Errorf("evict point %d: %w", number(k), err)
		}
	}
	return nil
}
