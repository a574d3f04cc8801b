package buffer

import (
	"encoding/binary"
	"fmt"
	"math"

	bolt "go.etcd.io/bbolt"
)

// encode writes all of an uplink but its name, which is its key.
func (u *uplink) encode(place int) []byte {
	dst := binary.AppendUvarint(nil, uint64(place))
	dst = binary.AppendUvarint(dst, uint64(u.id))
	for _, n := range u.points.columns() {
		dst = binary.AppendVarint(dst, *n)
	}
	dst = appendSpans(dst, u.settled)
	var over spans
	for _, n := range u.overtaken {
		over = over.with(Span{n, n})
	}
	return appendSpans(dst, over)
}

// decodeUplink reads what encode wrote.
func decodeUplink(name string, data []byte) (u uplink, place int, err error) {
	d := decoder{b: data}
	at, id := d.uvarint(), d.uvarint()
	u.name, u.id, place = name, uint16(id), int(at&math.MaxUint16)
	for _, n := range u.points.columns() {
		*n = d.varint()
	}
	u.settled = d.spans()
	for _, sp := range d.spans() {
		for n := sp.First; ; n++ {
			u.overtaken = append(u.overtaken, n)
			if n == sp.Last || len(u.overtaken) > maxOvertaken {
				break
			}
		}
	}
	if d.bad || len(d.b) > 0 || max(at, id) > math.MaxUint16 || len(u.overtaken) > maxOvertaken {
		return uplink{}, 0, errFormat
	}
	return u, place, nil
}

// maxOvertaken bounds a record: more points are never on their way to one server.
const maxOvertaken = 1 << 20

// columns are all the counts, in a fixed order.
func (c *PointCounts) columns() [11]*int64 {
	return [...]*int64{&c.Finalized, &c.Updated, &c.LateReports, &c.LateReadings, &c.Health, &c.Carried,
		&c.Uploaded, &c.Queued, &c.Parked, &c.Evicted, &c.Superseded}
}

// putUplinks makes the bucket hold the uplinks there are, and writes no more than has changed.
func (w *writer) putUplinks() error {
	bucket := w.tx.Bucket([]byte(bucketUplinks))
	var gone [][]byte
	_ = bucket.ForEach(func(k, _ []byte) error {
		if w.c.index(string(k)) < 0 {
			gone = append(gone, k)
		}
		return nil
	})
	for _, k := range gone {
		if err := bucket.Delete(k); err != nil {
			return fmt.Errorf("forget uplink %q: %w", k, err)
		}
	}
	for i := range w.c.uplinks {
		u := &w.c.uplinks[i]
		if w.changed {
			w.tidy(u)
		}
		v := seal([]byte(u.name), u.encode(i))
		if string(bucket.Get([]byte(u.name))) == string(v) {
			continue
		}
		if err := bucket.Put([]byte(u.name), v); err != nil {
			return fmt.Errorf("store uplink %q: %w", u.name, err)
		}
	}
	return nil
}

// tidy forgets what the outbox no longer holds.
func (w *writer) tidy(u *uplink) {
	if len(u.settled) == 0 && len(u.overtaken) == 0 {
		return
	}
	outbox := w.tx.Bucket([]byte(bucketOutbox))
	c := outbox.Cursor()
	var kept spans
	for _, sp := range u.settled {
		if k, _ := c.Seek(numberKey(sp.First)); k == nil || number(k) > sp.Last {
			continue
		}
		if n := len(kept); n > 0 {
			if k, _ := seekAfter(c, kept[n-1].Last); number(k) >= sp.First {
				kept[n-1].Last = sp.Last
				continue
			}
		}
		kept = append(kept, sp)
	}
	u.settled = kept
	var over []uint64
	for _, n := range u.overtaken {
		if outbox.Get(numberKey(n)) != nil && !kept.has(n) {
			over = append(over, n)
		}
	}
	u.overtaken = over
}

// readUplinks makes the books of a store from its counters and the records of its uplinks, which each hands out with their names. Of a
// damaged record, which goes to lost, the name alone is left: then nothing is known to be done. What was done waits once more, which
// changes nothing at the server, and counts as carried.
func readUplinks(c counters, each func(fn func(k, v []byte) error) error, parked func(id uint16) int64, lost func(name string, err error)) books {
	byPlace, damaged := map[int]uplink{}, []string(nil)
	ids := map[uint16]bool{}
	_ = each(func(k, v []byte) error {
		data, err := unseal(k, v)
		var u uplink
		var place int
		if err == nil {
			u, place, err = decodeUplink(string(k), data)
		}
		if _, twice := byPlace[place]; err == nil && (twice || ids[u.id]) {
			err = errFormat
		}
		if err != nil {
			lost(string(k), err)
			damaged = append(damaged, string(k))
			return nil
		}
		byPlace[place], ids[u.id] = u, true
		return nil
	})
	b := books{counters: c}
	for place := range max(len(byPlace)+len(damaged), 1) {
		u, ok := byPlace[place]
		b.uplinks = append(b.uplinks, u)
		if ok {
			continue
		}
		u = uplink{id: freeID(ids), name: defaultUplink}
		if len(damaged) > 0 {
			u.name, damaged = damaged[0], damaged[1:]
		}
		ids[u.id] = true
		b.uplinks[place] = u
		b.mend(place, parked(u.id))
	}
	return b
}

// freeID is the smallest that is not taken.
func freeID(taken map[uint16]bool) (id uint16) {
	for taken[id] {
		id++
	}
	return id
}

// mend lets everything in the outbox, and what is parked under its id, wait for an uplink of which no more is known.
func (b *books) mend(place int, parked int64) {
	p := b.points(place)
	more := b.Outbox - p.Queued + parked - p.Parked
	p.Queued, p.Parked = b.Outbox, parked
	if more > 0 {
		p.Carried += more
	} else {
		p.Evicted -= more
	}
}

// loadUplinks makes the books of the store in tx.
func (s *Store) loadUplinks(tx *bolt.Tx, c counters) books {
	parked := func(id uint16) int64 { return countParked(tx.Bucket([]byte(bucketParked)), id) }
	return readUplinks(c, tx.Bucket([]byte(bucketUplinks)).ForEach, parked, func(name string, err error) {
		s.o.Logger.Warn("store: what an uplink has done is not known; all that is queued is sent to it again",
			"uplink", name, "error", &RecordError{Bucket: bucketUplinks, Key: name, Cause: err})
	})
}

// countParked counts what is parked for an uplink.
func countParked(b *bolt.Bucket, id uint16) (n int64) {
	_ = b.ForEach(func(k, _ []byte) error {
		if parkedFor(k) == id {
			n++
		}
		return nil
	})
	return n
}
