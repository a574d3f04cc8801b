package buffer

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// Requeued is what became of parked points that were asked back.
type Requeued struct {
	Points  int64    // back in the outbox, each under a new sequence number
	NoLine  int64    // stay parked: no line could be made of them
	Busy    int64    // stay parked: they may be updated, and are on their way to another uplink just now
	Missing []uint64 // asked for, but not parked
	Numbers int64    // sequence numbers given: one to a point, whichever uplinks had it parked

	Moved []Point // those of Points that may still be updated, with their new Seq
}

// requeue puts parked points back at the end of the outbox, each the same point as before under a new number. It waits only for the
// uplinks that had it parked.
func (w *writer) requeue(b *Batch) error {
	b.Requeued = Requeued{}
	if !b.RequeueAll && len(b.Requeue) == 0 {
		return nil
	}
	only := -1
	if b.RequeueFor != "" {
		if only = w.c.index(b.RequeueFor); only < 0 {
			return fmt.Errorf("BUG: there is no uplink %q", b.RequeueFor)
		}
	}
	parked := w.bucket(bucketParked)
	seqs, missing := wantedBack(parked, b), []uint64(nil)
	for _, seq := range seqs {
		keys := w.parkedOf(parked, seq, only)
		if len(keys) == 0 {
			missing = append(missing, seq)
			continue
		}
		if err := w.unpark(parked, seq, keys, &b.Requeued); err != nil {
			return fmt.Errorf("queue parked point %d again: %w", seq, err)
		}
	}
	if !b.RequeueAll {
		slices.Sort(missing)
		b.Requeued.Missing = missing
	}
	return nil
}

// wantedBack are the numbers of parked points that b asks back.
func wantedBack(parked *bolt.Bucket, b *Batch) (seqs []uint64) {
	if b.RequeueAll {
		_ = parked.ForEach(func(k, _ []byte) error {
			seqs = append(seqs, number(k))
			return nil
		})
		return slices.Compact(seqs)
	}
	return slices.Compact(slices.Sorted(slices.Values(b.Requeue)))
}

// parkedOf are the keys of what is parked under a number for an uplink that there is; only that one, if only is not -1.
func (w *writer) parkedOf(parked *bolt.Bucket, seq uint64, only int) [][]byte {
	return slices.DeleteFunc(parkedUnder(parked, seq), func(k []byte) bool {
		u := w.c.byID(parkedFor(k))
		return u < 0 || only >= 0 && u != only
	})
}

// unpark queues one point for the uplinks that had it parked under keys. One that is damaged, or has no line, stays.
func (w *writer) unpark(parked *bolt.Bucket, seq uint64, keys [][]byte, sum *Requeued) error {
	p, err := parkedPoint(keys[0], parked.Get(keys[0]))
	if err != nil || len(p.Line) == 0 {
		sum.NoLine += int64(len(keys))
		return nil
	}
	back := make(map[int]bool)
	for _, k := range keys {
		back[w.c.byID(parkedFor(k))] = true
	}
	n := w.c.NextSeq
	if p.Series != "" {
		if w.bucket(bucketOutbox).Get(numberKey(seq)) != nil && w.inFlightAnywhere(seq) {
			sum.Busy += int64(len(keys))
			return nil
		}
		if err := w.renumber(seq, n, back); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if err := w.dropParked(parked, k); err != nil {
			return err
		}
	}
	p.Seq, p.Replaces = n, 0
	w.c.NextSeq++
	sum.Points += int64(len(keys))
	sum.Numbers++
	if p.Series != "" {
		moved := p
		moved.Line = nil
		sum.Moved = append(sum.Moved, moved)
	}
	return w.enter(&p, func(u int) bool { return back[u] })
}

// renumber gives a point that may be updated the number that its like is about to be queued again under, wherever else it waits or is parked: an
// update knows one number to replace. The uplinks for which it waits in the outbox are added to back.
func (w *writer) renumber(seq, n uint64, back map[int]bool) error {
	parked, outbox := w.bucket(bucketParked), w.bucket(bucketOutbox)
	for _, k := range parkedUnder(parked, seq) {
		u := w.c.byID(parkedFor(k))
		if u < 0 || back[u] {
			continue
		}
		data, err := unseal(k, parked.Get(k))
		if err != nil {
			continue // stays until the ring drops it
		}
		to := parkedKey(n, parkedFor(k))
		if err := parked.Put(to, seal(to, bytes.Clone(data))); err != nil {
			return err
		}
		if err := parked.Delete(k); err != nil {
			return err
		}
	}
	k := numberKey(seq)
	if outbox.Get(k) == nil {
		return nil
	}
	for u := range w.c.uplinks {
		if w.waits(u, seq) {
			w.c.points(u).Queued--
			back[u] = true
		}
	}
	return w.unqueue(outbox, k)
}

// ParkedAfter lists refused points behind one that was listed, or from the first on, with the servers' reasons: oldest first, at
// most limit. It is safe from any goroutine.
func (s *Store) ParkedAfter(after *Parked, limit int) (list []Parked, err error) {
	names := s.cur.Load()
	err = s.view(func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(bucketParked)).Cursor()
		k, v := c.First()
		if after != nil {
			k, v = c.Seek(append(parkedKey(after.Seq, after.id), 0))
		}
		for ; k != nil && len(list) < limit; k, v = c.Next() {
			if p, ok := names.parkedAt(k, v); ok {
				list = append(list, p)
			}
		}
		return nil
	})
	return list, err
}

// parkedAt is the refused point of an entry, with the name of its uplink. A damaged one stays until the ring drops it.
func (b *books) parkedAt(k, v []byte) (Parked, bool) {
	data, err := unseal(k, v)
	if err != nil {
		return Parked{}, false
	}
	p, err := decodeParked(number(k), data)
	p.id = parkedFor(k)
	p.Uplink = b.nameOf(p.id)
	return p, err == nil
}

// ParkedPoints lists refused points with the servers' reasons, oldest first, at most limit; all of them if limit is 0.
func (s *Store) ParkedPoints(limit int) ([]Parked, error) {
	if limit <= 0 {
		limit = math.MaxInt
	}
	return s.ParkedAfter(nil, limit)
}

// nameOf is the name of the uplink with an id, "" if there is only one, or none of that id.
func (b *books) nameOf(id uint16) string {
	u := b.byID(id)
	if u < 0 || len(b.uplinks) == 1 {
		return ""
	}
	return b.uplinks[u].name
}
