package buffer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fillUp fills journal and outbox to their shares.
func fillUp(t testing.TB, s *Store) {
	t.Helper()
	text := []byte(strings.Repeat("temperature,sensor=x max=1 ", 8))
	for i := 0; ; i++ {
		b := &Batch{State: []byte("state")}
		if !s.JournalFull(1 << 18) {
			b.Journal = readings(4096, i*4096)
		}
		for range 2000 {
			b.Points = append(b.Points, Point{Line: text})
		}
		if _, err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
		if b.Journal == nil && s.Counts().Evicted > 0 {
			return
		}
	}
}

// timed runs fn and reports what it took.
func timed(t testing.TB, fn func() error) time.Duration {
	t.Helper()
	start := time.Now()
	if err := fn(); err != nil {
		t.Fatal(err)
	}
	return time.Since(start)
}

// BenchmarkStartAtTheCap measures what a start costs on a full store of 256 MiB: after a clean stop, the check after an unclean one, and
// carrying everything over when it is damaged; and how long it takes to check and to compact it while it is in use.
func BenchmarkStartAtTheCap(b *testing.B) {
	o := options(b.TempDir())
	o.MaxSize, o.NoSync = 256<<20, false
	s := open(b, o)
	s.db.NoSync = true
	fillUp(b, s)
	st := s.Stats()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(o.Dir, fileName)
	var clean, look, check, damaged, examine, rewrite time.Duration
	for b.Loop() {
		look += timed(b, func() error { return inspectFile(path) })
		check += timed(b, func() error { return checkInChild()(b.Context(), path) })
		clean += timed(b, func() (err error) {
			s, err = Open(o)
			return err
		})
		examine += timed(b, func() (err error) { _, err = s.Examine(b.Context()); return err })
		rewrite += timed(b, func() (err error) { _, _, err = s.Rewrite(b.Context()); return err })
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if err := spoil(path); err != nil {
			b.Fatal(err)
		}
		damaged += timed(b, func() (err error) {
			if s, err = Open(o); err != nil {
				return err
			}
			return s.Close()
		})
	}
	b.Logf("file of %d MiB, %d MiB used", st.FileBytes>>20, st.UsedBytes>>20)
	for name, d := range map[string]time.Duration{"ms-tree": look, "ms-check": check, "ms-open": clean, "ms-salvage": damaged, "ms-examine": examine, "ms-rewrite": rewrite} {
		b.ReportMetric(float64(d.Milliseconds())/float64(b.N), name)
	}
}

// spoil zeroes both meta pages of a file.
func spoil(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(make([]byte, 2*pageSize), 0); err != nil {
		return err
	}
	return f.Close()
}

// BenchmarkVerify measures the walk through the tree that every start makes before bbolt has the file.
func BenchmarkVerify(b *testing.B) {
	o := options(b.TempDir())
	o.MaxSize = 64 << 20
	s := open(b, o)
	fillUp(b, s)
	closeChecked(b, s)
	for b.Loop() {
		if err := inspectFile(s.path); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStartOfADrainedFile measures a start on a file of about 75 MiB that is all free pages, as compaction would spare.
func BenchmarkStartOfADrainedFile(b *testing.B) {
	o := options(b.TempDir())
	o.MaxSize = 128 << 20
	s := open(b, o)
	fillUp(b, s)
	commit(b, s, &Batch{Settle: []Settlement{{Through: 1 << 60}}, ForgetJournal: 1 << 60})
	b.Logf("file of %d KiB, %d KiB used", s.Stats().FileBytes>>10, s.Stats().UsedBytes>>10)
	closeChecked(b, s)
	for b.Loop() {
		db, err := openBolt(s.path, o.bolt(time.Now().Add(time.Second), o.MaxSize))
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
