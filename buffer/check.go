package buffer

import (
	"errors"
	"fmt"

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
	Outbox         int64 `json:"outbox"` // points, whichever uplinks they wait for
	OutboxBytes    int64 `json:"outbox_bytes"`
	ParkedBytes    int64 `json:"parked_bytes"`
	RejectedBytes  int64 `json:"rejected_bytes"`
	Rejected       int64 `json:"rejected"`    // messages kept in the ring
	Quarantined    int64 `json:"quarantined"` // damaged records kept
	SideBytes      int64 `json:"side_bytes"`
	SideKept       int64 `json:"side_kept"`    // late readings in the side output
	SideDropped    int64 `json:"side_dropped"` // late readings that have left it, since it was full
	TraceBytes     int64 `json:"readings_bytes"`
	TraceKept      int64 `json:"readings_kept"`    // readings kept for tracing
	TraceDropped   int64 `json:"readings_dropped"` // readings that have left the trace, by age or for room
	OldestEnd      int64 `json:"oldest_end"`       // End of the first of the oldest 100 queued points that has one, ns; reading.NoTime if none
	Commits        int64 `json:"commits"`          // write transactions since the store began
	Written        int64 `json:"written"`          // bytes of pages written since Open
}

// lookForEnd bounds how many points Stats looks at for one that has an End.
const lookForEnd = 100

// Stats reports sizes as of the last commit. It is safe from any goroutine.
func (s *Store) Stats() Stats {
	c := s.cur.Load()
	b, written := s.pages()
	st := Stats{
		FileBytes:      s.fileBytes(),
		MaxBytes:       s.o.MaxSize,
		JournalBytes:   c.Bytes[inJournal],
		JournalRecords: c.Records,
		Outbox:         c.Outbox,
		OutboxBytes:    c.Bytes[inOutbox],
		ParkedBytes:    c.Bytes[inParked],
		RejectedBytes:  c.Bytes[inRejected],
		Rejected:       c.Rejected,
		Quarantined:    c.Bad,
		SideBytes:      c.Bytes[inSide],
		SideKept:       c.Side,
		SideDropped:    int64(c.NextSide-1) - c.Side,
		TraceBytes:     c.trace.bytes,
		TraceKept:      c.trace.kept(),
		TraceDropped:   int64(c.trace.first - 1),
		OldestEnd:      reading.NoTime,
		Commits:        int64(c.Commits),
		Written:        written,
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

// pages are bbolt's numbers of the present file, and the bytes written since Open.
func (s *Store) pages() (bolt.Stats, int64) {
	s.file.RLock()
	defer s.file.RUnlock()
	b := s.db.Stats()
	return b, s.written + b.TxStats.GetPageAlloc()
}

// maxFaults is how many faults Check lists.
const maxFaults = 20

// Check walks the whole file: bbolt's own consistency check, then whether the counters agree with what is there and the points
// balance. On a damaged file bbolt may panic in a goroutine of its own, so a doubtful file is checked in a child process.
func (s *Store) Check() error {
	return errors.Join(s.sound(), s.traceFault())
}

// traceFault is what is wrong with the numbers of the trace. It is no damage: the trace puts itself right as it goes on.
func (s *Store) traceFault() error {
	return s.view(auditTrace)
}

// sound is Check without the trace.
func (s *Store) sound() error {
	faults := s.treeFaults()
	if len(faults) == 0 {
		faults = s.look(auditTx)
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("check %s: %w", s.path, err)
	}
	return nil
}

// treeFaults is what bbolt's own check finds.
func (s *Store) treeFaults() []error {
	return s.look(func(tx *bolt.Tx) (faults []error) {
		for fault := range tx.Check() {
			if len(faults) < maxFaults {
				faults = append(faults, fault)
			}
		}
		return faults
	})
}

// look is what find finds; a store that cannot be read is a fault as well.
func (s *Store) look(find func(*bolt.Tx) []error) (faults []error) {
	err := s.view(func(tx *bolt.Tx) error {
		faults = find(tx)
		return nil
	})
	if err != nil {
		faults = append(faults, err)
	}
	return faults
}

// A tally counts records and their cost, fed with keys in order.
type tally struct {
	records, bytes int64
	first, last    uint64
}

func (t *tally) add(k, v []byte) {
	if n := number(k); t.bytes == 0 || n != t.last {
		if t.records == 0 {
			t.first = n
		}
		t.records++
		t.last = n
	}
	t.bytes += cost(k, v)
}
