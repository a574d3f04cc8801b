package buffer

import (
	"bytes"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// setNumbers has the store go on at a number, as after years.
func setNumbers(t *testing.T, s *Store, n uint64) {
	t.Helper()
	c := *s.cur.Load()
	c.NextSeq, c.NextRecord, c.NextRaw, c.Commits = n, n, n, n
	c.Points.Finalized, c.Points.Uploaded = int64(n), int64(n)
	if err := s.db.Update(func(tx *bolt.Tx) error {
		return putSealed(tx.Bucket([]byte(bucketState)), []byte(keyCounters), c.encode())
	}); err != nil {
		t.Fatal(err)
	}
	s.cur.Store(&c)
}

// Trial F5: numbers of points, records and messages just below the bounds of 32 bits count on, in order, over restarts.
func TestNumbersPast32Bits(t *testing.T) {
	for _, n := range []uint64{1<<31 - 2, 1<<32 - 2, 1<<62 - 2} {
		o := options(t.TempDir())
		o.RejectedRing = 1 << 16
		s := open(t, o)
		setNumbers(t, s, n)
		for i := range 5 {
			if i == 3 {
				closeChecked(t, s)
				s = open(t, o)
			}
			record, err := s.Commit(&Batch{Points: []Point{point(i)}, Journal: readings(1, i), Rejected: []Raw{{Topic: "t", Payload: []byte{byte(i)}}}})
			if err != nil || record != n+uint64(i) {
				t.Fatalf("from %d: commit %d has number %d, %v", n, i, record, err)
			}
		}
		if got, want := seqs(peek(t, s, n)), []uint64{n + 1, n + 2, n + 3, n + 4}; !slices.Equal(got, want) {
			t.Errorf("points after %d: %v, want %v", n, got, want)
		}
		var records []uint64
		if err := s.Journal(func(r uint64, _ []Entry) error { records = append(records, r); return nil }); err != nil {
			t.Fatal(err)
		}
		if want := []uint64{n, n + 1, n + 2, n + 3, n + 4}; !slices.Equal(records, want) {
			t.Errorf("records %v, want %v", records, want)
		}
		commit(t, s, &Batch{Settle: []Settlement{{Through: n + 2}}, ForgetJournal: n + 2})
		c := s.Counts()
		if got := seqs(peek(t, s, 0)); !slices.Equal(got, []uint64{n + 3, n + 4}) || c.Finalized != int64(n+5) || c.Uploaded != int64(n+3) || c.Queued != 2 {
			t.Errorf("from %d after a settlement: %v wait, %+v", n, got, c)
		}
	}
}

// Trial B9: while a server takes its time over a batch no transaction is open, so pages are used again and the file does
// not grow; what was handed out stays as it was.
func TestSlowUploadPinsNothing(t *testing.T) {
	s := open(t, options(t.TempDir()))
	add := func(i int) {
		b := &Batch{State: bytes.Repeat([]byte{byte(i)}, 2000), Journal: readings(100, i*100)}
		if i >= 20 {
			b.ForgetJournal = s.cur.Load().NextRecord - 20
		}
		if i < 20 {
			b.Points = []Point{point(i)}
		}
		commit(t, s, b)
	}
	for i := range 60 {
		add(i)
	}
	inFlight := peek(t, s, 0)
	if n := s.db.Stats().OpenTxN; n != 0 || len(inFlight) != 20 {
		t.Fatalf("%d transactions are open while %d points are with the server, want none and 20", n, len(inFlight))
	}
	before := s.Stats()
	for i := 60; i < 600; i++ {
		add(i)
	}
	after := s.Stats()
	if after.FileBytes != before.FileBytes || after.UsedBytes > 2*before.UsedBytes {
		t.Errorf("the file has %d bytes with %d used, before %d with %d", after.FileBytes, after.UsedBytes, before.FileBytes, before.UsedBytes)
	}
	for i, p := range inFlight {
		if string(p.Line) != string(line(i)) {
			t.Errorf("point %d became %q, want %q", i, p.Line, line(i))
		}
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: inFlight[19].Seq}}})
	if c := s.Counts(); c.Uploaded != 20 || c.Queued != 0 {
		t.Errorf("counts %+v", c)
	}
}
