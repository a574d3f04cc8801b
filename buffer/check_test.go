package buffer

import (
	"strings"
	"testing"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

func TestCheckFindsWhatDoesNotAddUp(t *testing.T) {
	o := options(t.TempDir())
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, &Batch{Points: []Point{point(1), point(2)}, Journal: readings(3, 0)})
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	err = s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketOutbox)).Delete(numberKey(1)) })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "bucket outbox holds 1 records") {
		t.Errorf("Check = %v, want the lost point", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStats(t *testing.T) {
	s := open(t, options(t.TempDir()))
	if st := s.Stats(); st.OldestEnd != reading.NoTime || st.MaxBytes != 16<<20 || st.Commits != 0 {
		t.Errorf("fresh: %+v", st)
	}
	commit(t, s, &Batch{Points: []Point{{Kind: Health, Line: line(0)}, point(7), point(3)}, Journal: readings(3, 0)})
	st := s.Stats()
	if st.OldestEnd != 7*minute || st.Commits != 1 || st.JournalRecords != 1 || st.JournalBytes < 60 || st.OutboxBytes < 200 {
		t.Errorf("after a commit: %+v", st)
	}
	if st.UsedBytes > st.FileBytes || st.UsedBytes < 3*pageSize || st.Written < pageSize {
		t.Errorf("sizes: %+v", st)
	}
}
