package buffer

import (
	"encoding/binary"
	"slices"

	bolt "go.etcd.io/bbolt"
)

// parkedKey is where a point is that was refused by the server of an uplink: that of a store's first has no more than the number.
func parkedKey(seq uint64, id uint16) []byte {
	if id == 0 {
		return numberKey(seq)
	}
	return binary.BigEndian.AppendUint16(numberKey(seq), id)
}

// parkedFor is the id of the uplink for which a point is parked.
func parkedFor(k []byte) uint16 {
	if len(k) < 10 {
		return 0
	}
	return binary.BigEndian.Uint16(k[8:])
}

// byID finds the uplink with an id; -1 if there is none.
func (b *books) byID(id uint16) int {
	return slices.IndexFunc(b.uplinks, func(u uplink) bool { return u.id == id })
}

// park keeps a point of the outbox with the server's reason, unless an update has overtaken it.
func (w *writer) park(u int, p *Parked, k, v []byte) error {
	point, err := unseal(k, v)
	if err != nil {
		return err // cannot be: a damaged point is in quarantine before it is offered
	}
	if slices.Contains(w.c.uplinks[u].overtaken, number(k)) {
		w.c.points(u).Superseded++
		return nil
	}
	return w.putParked(u, number(k), p, point)
}

func (w *writer) putParked(u int, seq uint64, p *Parked, point []byte) error {
	k := parkedKey(seq, w.c.uplinks[u].id)
	data := seal(k, appendParked(nil, p, point))
	w.c.points(u).Parked++
	w.c.Bytes[inParked] += cost(k, data)
	return w.bucket(bucketParked).Put(k, data)
}

// trimParked brings the ring of parked points back to its share: late readings go first, the oldest of them, and others only when there are none
// left. A flood of readings that are too old for the server must not push out the windows that it refused.
func (w *writer) trimParked() error {
	if w.c.Bytes[inParked] <= w.lim.parked {
		return nil
	}
	parked := w.bucket(bucketParked)
	over := w.c.Bytes[inParked] - slack(w.lim.parked)
	late, freed := oldestParked(parked, over, isParkedLate)
	if err := w.evictParked(parked, late); err != nil || freed >= over {
		return err
	}
	rest, _ := oldestParked(parked, over-freed, func([]byte) bool { return true })
	return w.evictParked(parked, rest)
}

// oldestParked are the keys of the oldest parked points of a kind that together free so many bytes, or of all there are.
func oldestParked(parked *bolt.Bucket, bytes int64, of func(v []byte) bool) (keys [][]byte, freed int64) {
	c := parked.Cursor()
	for k, v := c.First(); k != nil && freed < bytes; k, v = c.Next() {
		if of(v) {
			keys = append(keys, k)
			freed += cost(k, v)
		}
	}
	return keys, freed
}

// isParkedLate reports whether a parked record is one of a late reading, without trying its checksum.
func isParkedLate(v []byte) bool {
	d := decoder{b: v}
	_, _ = d.varint(), d.string()
	return !d.bad && isLateReading(d.b)
}

func (w *writer) evictParked(parked *bolt.Bucket, keys [][]byte) error {
	for _, k := range keys {
		if u := w.c.byID(parkedFor(k)); u >= 0 {
			w.c.points(u).Evicted++
		}
		if err := w.dropParked(parked, k); err != nil {
			return err
		}
	}
	return nil
}

// dropParked takes one point out of the ring; the caller says in which column it goes on.
func (w *writer) dropParked(parked *bolt.Bucket, k []byte) error {
	w.c.Bytes[inParked] -= cost(k, parked.Get(k))
	if u := w.c.byID(parkedFor(k)); u >= 0 {
		w.c.points(u).Parked--
	}
	return parked.Delete(k)
}

// parkedUnder are the keys of what is parked under a number, for any uplink.
func parkedUnder(parked *bolt.Bucket, seq uint64) (keys [][]byte) {
	c := parked.Cursor()
	for k, _ := c.Seek(numberKey(seq)); k != nil && number(k) == seq; k, _ = c.Next() {
		keys = append(keys, slices.Clone(k))
	}
	return keys
}

// supersedeParked ends parked points that an update replaces: queued again later they would overwrite their successor.
func (w *writer) supersedeParked(seq uint64) error {
	parked := w.bucket(bucketParked)
	for _, k := range parkedUnder(parked, seq) {
		if u := w.c.byID(parkedFor(k)); u >= 0 {
			w.c.points(u).Superseded++
		}
		if err := w.dropParked(parked, k); err != nil {
			return err
		}
	}
	return nil
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
