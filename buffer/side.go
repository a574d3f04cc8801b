package buffer

import (
	"encoding/binary"
	"fmt"
	"slices"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// A SideReading is one reading that was counted late, as the side output keeps it.
type SideReading struct {
	Series  reading.Series
	Time    int64 // event time, ns
	Value   float64
	Arrival int64 // when its message came, ns; reading.NoTime if that is not known
	Behind  int64 // by how much M was past Time when it was judged, ns; never negative
}

// sidePerRecord bounds the readings of one record: the ring drops whole records, and the smallest store has room for a few.
const sidePerRecord = 256

// A record of the side output is packed as the length of a journal record, that record, and for each of its entries the difference
// of Arrival to the entry before (varint, wraps) and Behind (uvarint). Its number is that of its first reading, so that the number of
// the next tells how many it holds.
func packSide(list []SideReading) []byte {
	entries := make([]Entry, len(list))
	for i, r := range list {
		entries[i] = Entry{Series: r.Series, Time: r.Time, Value: r.Value, Kind: Late}
	}
	packed := packEntries(nil, entries)
	dst := append(binary.AppendUvarint(nil, uint64(len(packed))), packed...)
	var last int64
	for _, r := range list {
		dst = binary.AppendVarint(dst, r.Arrival-last)
		dst = binary.AppendUvarint(dst, uint64(r.Behind))
		last = r.Arrival
	}
	return dst
}

// unpackSide decodes what packSide made.
func unpackSide(u *unpacker, data []byte) ([]SideReading, error) {
	d := decoder{b: data}
	packed := d.bytes()
	if d.bad {
		return nil, errFormat
	}
	entries, err := u.unpack(packed)
	if err != nil {
		return nil, err
	}
	list := make([]SideReading, len(entries))
	var arrival int64
	for i, e := range entries {
		arrival += d.varint()
		list[i] = SideReading{Series: e.Series, Time: e.Time, Value: e.Value, Arrival: arrival, Behind: int64(d.uvarint())}
	}
	if d.bad || len(d.b) > 0 {
		return nil, errFormat
	}
	return list, nil
}

// putSide adds the late readings of a batch to the side output.
func (w *writer) putSide(b *Batch) error {
	for list := range slices.Chunk(b.Side, sidePerRecord) {
		if err := w.putSideRecord(packSide(list), len(list)); err != nil {
			return err
		}
	}
	return w.trimSide()
}

// putSideRecord adds one packed record of n readings.
func (w *writer) putSideRecord(data []byte, n int) error {
	total, err := putRecord(w.bucket(bucketSide), w.c.NextSide, data)
	if err != nil {
		return fmt.Errorf("keep late readings: %w", err)
	}
	w.c.NextSide += uint64(n)
	w.c.Side += int64(n)
	w.c.Bytes[inSide] += total
	return nil
}

// trimSide brings the side output within its share, oldest records first. A damaged one stays until its turn comes, so numbers
// have no gaps.
func (w *writer) trimSide() error {
	if w.c.Bytes[inSide] <= w.lim.side {
		return nil
	}
	if err := w.trim(bucketSide, inSide, w.lim.side, func() {}); err != nil {
		return err
	}
	w.c.Side = sideHeld(w.bucket(bucketSide), &w.c.counters)
	return nil
}

// sideHeld is how many readings the side output holds, by the numbers of its records.
func sideHeld(b *bolt.Bucket, c *counters) int64 {
	k, v := b.Cursor().First()
	var t tally
	if k != nil {
		t.add(k, v)
	}
	return t.side(c)
}

// side is how many readings a tally of the side output tells of.
func (t *tally) side(c *counters) int64 {
	if t.records == 0 {
		return 0
	}
	return int64(c.NextSide - t.first)
}

// SideAfter copies out late readings of the records after number after, oldest first, until there are at least atLeast; last is
// the number of the last record looked at, 0 when there are no more. Damaged records are left out. It is safe beside Commit.
func (s *Store) SideAfter(after uint64, atLeast int) (list []SideReading, last uint64, err error) {
	var u unpacker
	err = s.view(func(tx *bolt.Tx) error {
		return recordsAfter(tx.Bucket([]byte(bucketSide)), after, func(n uint64, data []byte, bad error) error {
			if len(list) >= atLeast {
				return errEnough
			}
			last = n
			if bad != nil {
				return nil
			}
			some, err := unpackSide(&u, data)
			if err == nil {
				list = append(list, some...)
			}
			return nil
		})
	})
	return list, last, err
}

// auditSide compares the counters with what the side output holds.
func (c *counters) auditSide(t tally) error {
	if held := t.side(c); held != c.Side || t.bytes != c.Bytes[inSide] {
		return fmt.Errorf("bucket %s holds %d late readings in %d bytes, the counters say %d in %d", bucketSide, held, t.bytes, c.Side, c.Bytes[inSide])
	}
	return nil
}

// side carries the late readings that are kept. Where a record is lost the numbers close up, so it counts as dropped.
func (c *carrier) side() error {
	if _, ok := c.base.buckets[bucketSide]; !ok {
		return nil // of an older schema
	}
	var u unpacker
	return c.base.records(bucketSide, func(n uint64, data []byte) error {
		list, err := unpackSide(&u, data)
		if err != nil {
			return c.lost(err)
		}
		if c.w.c.Side == 0 {
			c.w.c.NextSide = max(c.w.c.NextSide, n)
		}
		if err := c.w.putSideRecord(data, len(list)); err != nil {
			return err
		}
		c.sum.Late += int64(len(list))
		return c.step(len(data))
	}, c.lost)
}

// sideMissing is 1 if the side output does not hold what the counters say, 0 if it does.
func (w *wreck) sideMissing() int64 {
	if _, ok := w.buckets[bucketSide]; !ok {
		return 0
	}
	var records int64
	_ = w.records(bucketSide, func(uint64, []byte) error { records++; return nil }, func(error) error { return nil })
	w.again()
	return w.missing(bucketSide, records, w.counters.Bytes[inSide])
}
