package buffer

import (
	"bytes"
	"fmt"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Requeued is what became of parked points that were asked back.
type Requeued struct {
	Points  int64    // back in the outbox, each under a new sequence number
	NoLine  int64    // stay parked: no line could be made of them
	Missing []uint64 // asked for, but not parked

	Moved []Point // those of Points that may still be updated, with their new Seq
}

// requeue puts parked points back at the end of the outbox, each the same point as before under a new number.
func (w *writer) requeue(b *Batch) error {
	b.Requeued = Requeued{}
	if !b.RequeueAll && len(b.Requeue) == 0 {
		return nil
	}
	parked := w.bucket(bucketParked)
	keys, missing := wanted(parked, b)
	b.Requeued.Missing = missing
	for _, k := range keys {
		if err := w.unpark(parked, k, &b.Requeued); err != nil {
			return fmt.Errorf("queue parked point %d again: %w", number(k), err)
		}
	}
	return nil
}

// wanted are the keys of the parked points that b asks back, and the numbers of those that are not there.
func wanted(parked *bolt.Bucket, b *Batch) (keys [][]byte, missing []uint64) {
	if b.RequeueAll {
		c := parked.Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			keys = append(keys, bytes.Clone(k))
		}
		return keys, nil
	}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(b.Requeue))) {
		k := numberKey(n)
		if parked.Get(k) == nil {
			missing = append(missing, n)
			continue
		}
		keys = append(keys, k)
	}
	return keys, missing
}

// unpark queues one parked point. One that is damaged, or has no line, stays.
func (w *writer) unpark(parked *bolt.Bucket, k []byte, sum *Requeued) error {
	p, err := parkedPoint(k, parked.Get(k))
	if err != nil || len(p.Line) == 0 {
		sum.NoLine++
		return nil
	}
	if err := w.dropParked(parked, k); err != nil {
		return err
	}
	p.Seq, p.Replaces = w.c.NextSeq, 0
	w.c.NextSeq++
	sum.Points++
	if p.Series != "" {
		moved := p
		moved.Line = nil
		sum.Moved = append(sum.Moved, moved)
	}
	return w.queue(&p, 0)
}

// dropParked takes one point out of the ring; the caller says in which column it goes on.
func (w *writer) dropParked(parked *bolt.Bucket, k []byte) error {
	w.c.Bytes[inParked] -= cost(k, parked.Get(k))
	w.c.Points.Parked--
	return parked.Delete(k)
}

// parkedPoint decodes a parked record as the point that it was.
func parkedPoint(k, v []byte) (Point, error) {
	data, err := unseal(k, v)
	if err != nil {
		return Point{}, err
	}
	d := decoder{b: data}
	_, _ = d.varint(), d.string()
	if d.bad {
		return Point{}, errFormat
	}
	return decodePoint(number(k), d.b)
}

// supersedeParked ends a parked point that the update p replaces: queued again later it would overwrite its successor.
func (w *writer) supersedeParked(p *Point) error {
	parked, k := w.bucket(bucketParked), numberKey(p.Replaces)
	if p.Replaces == 0 || parked.Get(k) == nil {
		return nil
	}
	w.c.Points.Superseded++
	return w.dropParked(parked, k)
}

// hasSuccessor reports whether an update of an encoded point is queued. The updates in the outbox are looked up once for a
// settlement, and only if a point that may be updated was refused.
func (w *writer) hasSuccessor(seq uint64, point []byte) bool {
	p, err := decodePoint(seq, point)
	if err != nil || p.Series == "" {
		return false
	}
	if w.replaced == nil {
		w.replaced = make(map[uint64]bool)
		_ = w.bucket(bucketOutbox).ForEach(func(k, v []byte) error {
			if data, err := unseal(k, v); err == nil {
				if p, err := decodePoint(number(k), data); err == nil {
					w.replaced[p.Replaces] = true
				}
			}
			return nil
		})
	}
	return w.replaced[seq]
}

// ParkedAfter lists refused points with numbers above after and the server's reasons, oldest first, at most limit. It is safe
// from any goroutine.
func (s *Store) ParkedAfter(after uint64, limit int) (list []Parked, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketParked)).Cursor()
		for k, v := seekAfter(c, after); k != nil && len(list) < limit; k, v = c.Next() {
			data, err := unseal(k, v)
			if err != nil {
				continue // stays until the ring drops it
			}
			if p, err := decodeParked(number(k), data); err == nil {
				list = append(list, p)
			}
		}
		return nil
	})
	return list, err
}
