package buffer

import (
	"fmt"
	"testing"
)

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 4096} {
		b.Run(fmt.Sprint("entries=", n), func(b *testing.B) {
			o := options(b.TempDir())
			o.NoSync = false
			o.MaxSize = 256 << 20
			s := open(b, o)
			entries := readings(n, 0)
			start := written(b)
			for i := 0; b.Loop(); i++ {
				batch := small(i)
				batch.Journal = entries
				if s.JournalFull(int64(n) * 64) {
					batch.ForgetJournal = uint64(i)
				}
				if _, err := s.Commit(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(written(b)-start)/float64(b.N), "B-written/op")
		})
	}
}

func BenchmarkLoadJournalOfAMillion(b *testing.B) {
	for _, perCommit := range []int{100, 4096} {
		b.Run(fmt.Sprint("record=", perCommit), func(b *testing.B) {
			o := options(b.TempDir())
			o.MaxSize = 256 << 20
			s := open(b, o)
			for i := 0; i < 1e6; i += perCommit {
				if _, err := s.Commit(&Batch{Journal: readings(perCommit, i)}); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				count := 0
				if err := s.Journal(func(_ uint64, e []Entry) error { count += len(e); return nil }); err != nil || count < 1e6 {
					b.Fatal(count, err)
				}
			}
			b.ReportMetric(float64(s.Stats().UsedBytes)/1e6, "B/entry")
		})
	}
}

func BenchmarkOpenAtTheCap(b *testing.B) {
	o := options(b.TempDir())
	o.MaxSize = 256 << 20
	s := open(b, o)
	for i := 0; !s.JournalFull(1 << 18); i += 4096 {
		if _, err := s.Commit(&Batch{Journal: readings(4096, i)}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		var err error
		if s, err = Open(o); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
