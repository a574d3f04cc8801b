package buffer

import (
	"errors"
	"fmt"
	"math"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// Stats are for status pages and the log. Bytes are as counted against the shares, but for the first two and Written.
type Stats struct {
	FileBytes      int64 `json:"file_bytes"` // size of the file
	MaxBytes       int64 `json:"max_bytes"`  // its cap
	UsedBytes      int64 `json:"used_bytes"` // pages in use
	JournalBytes   int64 `json:"journal_bytes"`
	JournalRecords int64 `json:"journal_records"`
	OutboxBytes    int64 `json:"outbox_bytes"`
	ParkedBytes    int64 `json:"parked_bytes"`
	RejectedBytes  int64 `json:"rejected_bytes"`
	Rejected       int64 `json:"rejected"`    // messages kept in the ring
	Quarantined    int64 `json:"quarantined"` // damaged records kept
	SideBytes      int64 `json:"side_bytes"`
	SideKept       int64 `json:"side_kept"`    // late readings in the side output
	SideDropped    int64 `json:"side_dropped"` // late readings that have left it, since it was full
	OldestEnd      int64 `json:"oldest_end"`   // End of the first of the oldest 100 queued points that has one, ns; reading.NoTime if none
	Commits        int64 `json:"commits"`      // write transactions since the store began
	Written        int64 `json:"written"`      // bytes of pages written since Open
}

// lookForEnd bounds how many points Stats looks at for one that has an End.
const lookForEnd = 100

// Stats reports sizes as of the last commit. It is safe from any goroutine.
func (s *Store) Stats() Stats {
	c, b := s.cur.Load(), s.db.Stats()
	tx := b.TxStats
	st := Stats{
		FileBytes:      s.fileBytes(),
		MaxBytes:       s.o.MaxSize,
		JournalBytes:   c.Bytes[inJournal],
		JournalRecords: c.Records,
		OutboxBytes:    c.Bytes[inOutbox],
		ParkedBytes:    c.Bytes[inParked],
		RejectedBytes:  c.Bytes[inRejected],
		Rejected:       c.Rejected,
		Quarantined:    c.Bad,
		SideBytes:      c.Bytes[inSide],
		SideKept:       c.Side,
		SideDropped:    int64(c.NextSide-1) - c.Side,
		OldestEnd:      reading.NoTime,
		Commits:        int64(c.Commits),
		Written:        tx.GetPageAlloc(),
	}
	_ = s.view(func(tx *bolt.Tx) error { // a store that refuses work has no oldest point to show
		st.UsedBytes = tx.Size() - int64(b.FreePageN+b.PendingPageN)*pageSize
		cur := tx.Bucket([]byte(bucketOutbox)).Cursor()
		k, v := cur.First()
		for i := 0; k != nil && i < lookForEnd && st.OldestEnd == reading.NoTime; i++ {
			if p, ok := s.point(k, v); ok && p.End != 0 {
				st.OldestEnd = p.End
			}
			k, v = cur.Next()
		}
		return nil
	})
	return st
}

// maxFaults is how many faults Check lists.
const maxFaults = 20

// Check walks the whole file: bbolt's own consistency check, then whether the counters agree with what is there and the points
// balance. On a damaged file bbolt may panic in a goroutine of its own, so a doubtful file is checked in a child process.
func (s *Store) Check() error {
	var faults []error
	err := s.view(func(tx *bolt.Tx) error {
		for fault := range tx.Check() {
			if len(faults) < maxFaults {
				faults = append(faults, fault)
			}
		}
		if len(faults) == 0 {
			faults = s.audit(tx)
		}
		return nil
	})
	if err := errors.Join(append(faults, err)...); err != nil {
		return fmt.Errorf("check %s: %w", s.path, err)
	}
	return nil
}

// audit compares the counters with what the buckets hold.
func (s *Store) audit(tx *bolt.Tx) (faults []error) {
	c, err := readCounters(tx)
	if err != nil {
		return []error{err}
	}
	type area struct {
		bucket         string
		records, bytes int64
	}
	for _, a := range []area{
		{bucketJournal, c.Records, c.Bytes[inJournal]},
		{bucketOutbox, c.Points.Queued, c.Bytes[inOutbox]},
		{bucketParked, c.Points.Parked, c.Bytes[inParked]},
		{bucketRejected, c.Rejected, c.Bytes[inRejected]},
		{bucketBad, c.Bad, c.Bytes[inQuarantine]},
	} {
		records, bytes := tally(tx.Bucket([]byte(a.bucket)))
		if records != a.records || bytes != a.bytes {
			faults = append(faults, fmt.Errorf("bucket %s holds %d records of %d bytes, the counters say %d of %d",
				a.bucket, records, bytes, a.records, a.bytes))
		}
	}
	if err := auditSide(tx, &c); err != nil {
		faults = append(faults, err)
	}
	if !c.Points.Balanced() {
		faults = append(faults, fmt.Errorf("points do not balance: %+v", c.Points))
	}
	return faults
}

// tally counts records and their cost.
func tally(b *bolt.Bucket) (records, bytes int64) {
	last := uint64(math.MaxUint64)
	c := b.Cursor()
	for k, v := c.First(); k != nil; k, v = c.Next() {
		if number(k) != last {
			records++
		}
		last = number(k)
		bytes += cost(k, v)
	}
	return records, bytes
}
