package buffer

import (
	"fmt"
	"math"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

func (w *writer) putJournal(b *Batch) error {
	if len(b.Journal) == 0 {
		return nil
	}
	return w.putEntries(w.c.NextRecord, b.Journal)
}

func (w *writer) putEntries(n uint64, entries []Entry) error {
	total, err := putRecord(w.bucket(bucketJournal), n, packEntries(nil, entries))
	if err != nil {
		return fmt.Errorf("store journal record %d: %w", n, err)
	}
	w.c.Records++
	w.c.Bytes[inJournal] += total
	return nil
}

func (w *writer) forgetJournal(b *Batch) error {
	if b.ForgetJournal == 0 {
		return nil
	}
	records, total, err := deleteUpTo(w.bucket(bucketJournal), b.ForgetJournal)
	w.c.Records -= records
	w.c.Bytes[inJournal] -= total
	return err
}

// compactJournal rewrites the records up to b.CompactJournal as one that has the number of the last of them.
func (w *writer) compactJournal(b *Batch) error {
	if b.CompactJournal == 0 || b.Keep == nil {
		return nil
	}
	last := b.CompactJournal
	kept, err := w.keptEntries(last, b.Keep)
	if err != nil {
		return err
	}
	records, total, err := deleteUpTo(w.bucket(bucketJournal), last)
	if err != nil {
		return err
	}
	w.c.Records -= records
	w.c.Bytes[inJournal] -= total
	if len(kept) == 0 {
		return nil
	}
	return w.putEntries(last, kept)
}

func (w *writer) keptEntries(last uint64, keep func(uint64, Entry) bool) ([]Entry, error) {
	bucket := w.bucket(bucketJournal)
	var f keeper
	var bad []badRecord
	err := eachEntries(bucket, last, &bad, func(n uint64, entries []Entry) error {
		f.keep = func(e Entry) bool { return keep(n, e) }
		for _, e := range entries {
			f.add(e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, r := range bad {
		if err := w.quarantine(r); err != nil {
			return nil, err
		}
	}
	return f.kept, nil
}

// A keeper collects the entries that are still wanted. A dropped entry that carried a tick leaves a bare one, since what the
// kept entries before it had put out by then must come out the same after a restart. Of ticks that follow each other only
// one per sensor stays: with nothing kept between them the second puts out nothing.
type keeper struct {
	keep  func(Entry) bool
	kept  []Entry
	ticks map[string]bool // sensors that ticked since the last kept reading
}

func (f *keeper) add(e Entry) {
	sensor := e.Series.Sensor()
	if e.Kind != BareTick && f.keep(e) {
		f.kept = append(f.kept, e)
		clear(f.ticks)
	} else if e.Tick && !f.ticks[sensor] {
		f.kept = append(f.kept, Entry{Series: reading.Series(sensor), Time: e.Time, Kind: BareTick, Tick: true})
	}
	if e.Tick {
		if f.ticks == nil {
			f.ticks = make(map[string]bool)
		}
		f.ticks[sensor] = true
	}
}

// eachEntries calls fn with the entries of every journal record up to last, and collects the damaged ones in bad.
func eachEntries(b *bolt.Bucket, last uint64, bad *[]badRecord, fn func(n uint64, e []Entry) error) error {
	var u unpacker
	return eachRecord(b, last, func(n uint64, data []byte, err error) error {
		var entries []Entry
		if err == nil {
			entries, err = u.unpack(data)
		}
		if err != nil {
			*bad = append(*bad, badRecord{bucketJournal, n, err})
			return nil
		}
		return fn(n, entries)
	})
}

// Journal calls fn with the entries of each journal record, oldest first. The entries are valid during the call. An error
// of fn ends the walk and is returned as it is. Records that are damaged go to quarantine, each with a log line.
func (s *Store) Journal(fn func(record uint64, e []Entry) error) error {
	var bad []badRecord
	err := s.view(func(tx *bolt.Tx) error {
		return eachEntries(tx.Bucket([]byte(bucketJournal)), math.MaxUint64, &bad, fn)
	})
	if err != nil {
		return err
	}
	return s.quarantineAll(bad)
}

// JournalFull reports whether the journal with extra bytes more would pass its share, half of Options.MaxSize. EntrySize
// says what an entry adds.
func (s *Store) JournalFull(extra int64) bool {
	return s.cur.Load().Bytes[inJournal]+extra > s.lim.journal
}
