package buffer

import (
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// auditTx compares the numbers of a store with what its buckets hold.
func auditTx(tx *bolt.Tx) []error {
	c, err := readCounters(tx)
	if err != nil {
		return []error{err}
	}
	a := newAuditor(c, tx.Bucket([]byte(bucketUplinks)).ForEach)
	for _, name := range buckets {
		_ = tx.Bucket([]byte(name)).ForEach(func(k, v []byte) error { a.add(name, k, v); return nil })
	}
	return a.faults()
}

// An auditor is fed all keys and values of the buckets, each bucket's in order, and says where the numbers of the store differ.
type auditor struct {
	books          books
	unknown        map[string]bool // uplinks whose records are damaged: there is nothing to compare
	held           map[string]*tally
	queued, parked []int64 // by uplink
}

// newAuditor begins with the counters and the records of the uplinks.
func newAuditor(c counters, uplinks func(fn func(k, v []byte) error) error) *auditor {
	a := &auditor{unknown: make(map[string]bool), held: make(map[string]*tally)}
	a.books = readUplinks(c, uplinks, func(uint16) int64 { return c.Points.Parked }, func(name string, _ error) { a.unknown[name] = true })
	a.queued, a.parked = make([]int64, len(a.books.uplinks)), make([]int64, len(a.books.uplinks))
	for _, name := range buckets {
		a.held[name] = new(tally)
	}
	a.held[bucketTrace] = new(tally)
	return a
}

func (a *auditor) add(bucket string, k, v []byte) {
	a.held[bucket].add(k, v)
	switch bucket {
	case bucketOutbox:
		for i := range a.books.uplinks {
			if !a.books.uplinks[i].settled.has(number(k)) {
				a.queued[i]++
			}
		}
	case bucketParked:
		if i := a.books.byID(parkedFor(k)); i >= 0 {
			a.parked[i]++
		}
	}
}

func (a *auditor) faults() (faults []error) {
	c := &a.books.counters
	for _, b := range [...]struct {
		bucket         string
		records, bytes int64
	}{
		{bucketJournal, c.Records, c.Bytes[inJournal]},
		{bucketOutbox, c.Outbox, c.Bytes[inOutbox]},
		{bucketParked, a.held[bucketParked].records, c.Bytes[inParked]}, // a record for each uplink: see below
		{bucketRejected, c.Rejected, c.Bytes[inRejected]},
		{bucketBad, c.Bad, c.Bytes[inQuarantine]},
	} {
		if t := a.held[b.bucket]; t.records != b.records || t.bytes != b.bytes {
			faults = append(faults, fmt.Errorf("bucket %s holds %d records of %d bytes, the counters say %d of %d",
				b.bucket, t.records, t.bytes, b.records, b.bytes))
		}
	}
	if err := c.auditSide(*a.held[bucketSide]); err != nil {
		faults = append(faults, err)
	}
	for i, u := range a.books.uplinks {
		p := a.books.points(i)
		switch {
		case a.unknown[u.name]:
		case !p.Balanced():
			faults = append(faults, fmt.Errorf("points of uplink %q do not balance: %+v", u.name, *p))
		case a.queued[i] != p.Queued || a.parked[i] != p.Parked:
			faults = append(faults, fmt.Errorf("for uplink %q %d points wait and %d are parked, its books say %d and %d",
				u.name, a.queued[i], a.parked[i], p.Queued, p.Parked))
		}
	}
	return faults
}
