package buffer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// corrupt flips a bit of the value at key, behind the store's back.
func corrupt(t *testing.T, s *Store, bucket string, key []byte) {
	t.Helper()
	err := s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		v := bytes.Clone(b.Get(key))
		v[len(v)/2] ^= 1
		return b.Put(key, v)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamagedRecordsGoToQuarantine(t *testing.T) {
	o := options(t.TempDir())
	logger, text := logged()
	o.Logger = logger
	s := open(t, o)
	long := Entry{Series: reading.Series(strings.Repeat("n", 1000)), Time: 1}
	for i := range 4 {
		commit(t, s, &Batch{Journal: []Entry{long}, Packets: []Packet{{uint16(i), 1}}, Points: []Point{point(i)},
			Marks: []Mark{{Sensor: fmt.Sprint(i)}}, Late: []LateCount{{Series: reading.Series(fmt.Sprint(i))}}})
	}
	corrupt(t, s, bucketJournal, partKey(numberKey(2), 1))
	corrupt(t, s, bucketPackets, partKey(numberKey(3), 0))
	corrupt(t, s, bucketOutbox, numberKey(1))
	corrupt(t, s, bucketMarks, []byte("1"))
	corrupt(t, s, bucketLate, []byte("2"))
	err := s.db.Update(func(tx *bolt.Tx) error { // a part is lost
		return tx.Bucket([]byte(bucketJournal)).Delete(partKey(numberKey(4), 0))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.cur.Load().Bytes[inJournal] -= 674 // what the lost part was counted as

	snap := load(t, s)
	if len(snap.Packets) != 3 || len(snap.Marks) != 3 || len(snap.Late) != 3 {
		t.Errorf("loaded %d packet records, %d marks, %d late counts; want 3 each", len(snap.Packets), len(snap.Marks), len(snap.Late))
	}
	if got := journal(t, s); len(got) != 2 || got[1] == nil || got[3] == nil {
		t.Errorf("journal has %d records, want 1 and 3", len(got))
	}
	if got := seqs(peek(t, s, 0)); !slices.Equal(got, []uint64{2, 3, 4}) {
		t.Errorf("peeked %v, want 2 to 4", got)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: 2}}})
	want := PointCounts{Finalized: 4, Uploaded: 1, Evicted: 1, Queued: 2}
	if got := s.Counts(); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if st := s.Stats(); st.Quarantined != 4 || st.JournalRecords != 2 {
		t.Errorf("%d in quarantine, %d journal records; want 4 and 2", st.Quarantined, st.JournalRecords)
	}
	for _, want := range []string{"record 2 in bucket journal", "record 4 in bucket journal", "record 3 in bucket packets", "record 1 in bucket outbox", "bucket marks", "bucket late"} {
		if strings.Count(text.String(), want) != 1 {
			t.Errorf("log does not say %q once:\n%s", want, text)
		}
	}
	journal(t, s)
	load(t, s)
}

func TestQuarantineIsBounded(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 1 << 20
	s := open(t, o)
	series := reading.Series(strings.Repeat("n", 3000))
	for range 20 {
		n := commit(t, s, &Batch{Journal: []Entry{{Series: series}}})
		corrupt(t, s, bucketJournal, partKey(numberKey(n), 2))
		journal(t, s)
	}
	c := s.cur.Load()
	if c.Bad < 2 || c.Bytes[inQuarantine] > 1<<20/64 || c.Bytes[inJournal] != 0 {
		t.Errorf("%d records, %d bytes in quarantine, want some within %d", c.Bad, c.Bytes[inQuarantine], 1<<20/64)
	}
}

func TestRecordError(t *testing.T) {
	err := error(&RecordError{Bucket: "journal", Key: "7", Cause: errChecksum})
	if err.Error() != "record 7 in bucket journal is damaged: checksum does not match" || !errors.Is(err, errChecksum) {
		t.Errorf("%v", err)
	}
}
