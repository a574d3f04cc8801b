package buffer

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"testing"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// sideOutput is all that the side output holds.
func sideOutput(t testing.TB, s *Store) (all []SideReading) {
	t.Helper()
	for after := uint64(0); ; {
		list, last, err := s.SideAfter(after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if last == 0 {
			return all
		}
		all, after = append(all, list...), last
	}
}

// lateBytes is what the queued late readings cost, by the words of doc.go.
func (m *model) lateBytes() (n int64) {
	for _, p := range m.outbox() {
		if p.Kind == LateReading {
			n += cost(numberKey(p.Seq), seal(nil, appendPoint(nil, &p)))
		}
	}
	return n
}

// lateReadings are n of them, the first with number from.
func lateReadings(n, from int) (list []SideReading) {
	for i := from; i < from+n; i++ {
		list = append(list, SideReading{Series: reading.Series(fmt.Sprintf("s%d\x00room\x00%d", i%7, i%3)), Time: int64(i) * 1e9, Value: float64(i) / 4,
			Arrival: 1.8e18 + int64(i)*1e6, Behind: int64(i) * minute})
	}
	return list
}

func TestSideReadingsComeBackAsTheyWere(t *testing.T) {
	edges := []SideReading{
		{"a", math.MinInt64 + 2, math.MaxFloat64, reading.NoTime, math.MaxInt64},
		{"a\x00room\x001", -1, -0.1, math.MaxInt64, 0},
		{"a", math.MaxInt64 - 1, 0, 0, 1},
	}
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Side: edges})
	commit(t, s, &Batch{})
	commit(t, s, &Batch{Side: lateReadings(2*sidePerRecord+1, 0)})
	want := append(edges, lateReadings(2*sidePerRecord+1, 0)...)
	if got := sideOutput(t, s); !reflect.DeepEqual(got, want) {
		t.Fatalf("side output\n%+v\nwant\n%+v", got, want)
	}
	if st := s.Stats(); st.SideKept != int64(len(want)) || st.SideDropped != 0 || st.SideBytes <= 0 {
		t.Errorf("stats %+v, want %d kept, none dropped", st, len(want))
	}
}

func TestSideOutputKeepsWithinItsShare(t *testing.T) {
	o := options(t.TempDir())
	o.SideOutput = true
	s := open(t, o)
	share, n := o.MaxSize/16, 0
	for ; s.Stats().SideDropped < 20000; n += 700 {
		commit(t, s, &Batch{Side: lateReadings(700, n)})
		st := s.Stats()
		if st.SideBytes > share || st.SideKept+st.SideDropped != int64(n+700) {
			t.Fatalf("after %d: %d bytes of %d, %d kept, %d dropped", n+700, st.SideBytes, share, st.SideKept, st.SideDropped)
		}
		if st.SideDropped > 0 && st.SideBytes < share*9/10 {
			t.Fatalf("after %d: only %d bytes of %d are used", n+700, st.SideBytes, share)
		}
	}
	got := sideOutput(t, s)
	if want := lateReadings(len(got), n-len(got)); !reflect.DeepEqual(got, want) {
		t.Fatalf("the newest %d are not what is kept", len(got))
	}
	t.Logf("%d late readings in %d bytes", len(got), share)
}

func TestSideOutputHasItsShareOfThePoints(t *testing.T) {
	tests := []struct {
		name  string
		on    bool
		kept  int64 // bytes of late readings
		share int64 // of the points, sixteenths of MaxSize
	}{
		{"off", false, 0, 4},
		{"on and empty", true, 0, 3},
		{"on and in use", true, 1 << 19, 3},
		{"switched off, and something is left", false, 1 << 20, 3},
	}
	for _, tt := range tests {
		w := writer{lim: Options{MaxSize: 16 << 20, SideOutput: tt.on}.limits()}
		w.c.Bytes[inSide] = tt.kept
		if got := w.outboxShare(); got != tt.share<<20 {
			t.Errorf("%s: share %d, want %d", tt.name, got, tt.share<<20)
		}
	}
}

// TestSideOutputMoves carries the side output through an export, a compaction and damage.
func TestSideOutputMoves(t *testing.T) {
	o := options(t.TempDir())
	o.SideOutput = true
	s := open(t, o)
	want := lateReadings(1000, 5)
	commit(t, s, &Batch{State: []byte("{}"), Side: want, Points: []Point{point(1)}})
	var file bytes.Buffer
	if _, err := s.Export(&file, ExportHeader{}); err != nil {
		t.Fatal(err)
	}
	closeChecked(t, s)
	if _, _, err := Compact(o); err != nil {
		t.Fatal(err)
	}
	holds := func(what string, s *Store) {
		t.Helper()
		if got := sideOutput(t, s); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d late readings, want %d", what, len(got), len(want))
		}
		closeChecked(t, s)
	}
	holds("compacted", open(t, o))
	other := o
	other.Dir = t.TempDir()
	if _, err := Import(other, io.Reader(&file), func([]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	holds("imported", open(t, other))
	hurt(t, o.Dir)
	s = open(t, o)
	if sum := load(t, s).Salvaged; sum == nil || sum.Late != int64(len(want)) {
		t.Fatalf("salvaged %+v", sum)
	}
	holds("salvaged", s)
}

// hurt makes a store damaged that holds everything all the same: a bucket is gone that nothing is in.
func hurt(t *testing.T, dir string) {
	t.Helper()
	db, err := bolt.Open(Path(dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(bucketMarks)) })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir + "/" + cleanName); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedSideRecordIsLeftOut(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Side: lateReadings(3, 0)})
	commit(t, s, &Batch{Side: lateReadings(2, 3)})
	err := s.db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketSide))
		k, v := b.Cursor().First()
		bad := bytes.Clone(v)
		bad[len(bad)-1] ^= 1
		return b.Put(k, bad)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := sideOutput(t, s); !reflect.DeepEqual(got, lateReadings(2, 3)) {
		t.Errorf("side output %+v, want what is not damaged", got)
	}
	if st := s.Stats(); st.SideKept != 5 {
		t.Errorf("%d kept, want 5: the record is still there", st.SideKept)
	}
}

// TestLateReadingsCostLittle measures what a commit writes that holds late readings, in a store whose ring is full.
func TestLateReadingsCostLittle(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize, o.SideOutput = 32<<20, true
	s := open(t, o)
	for n := 0; s.Stats().SideDropped == 0; n += 5000 {
		commit(t, s, &Batch{Side: lateReadings(5000, n)})
	}
	most, mean := largest(t, s, 200, func(i int) *Batch {
		b := small(i)
		b.Side = lateReadings(100, i*100)
		return b
	})
	t.Logf("with 100 late readings at most %d bytes a commit, %d on average", most, mean)
	if mean >= 56<<10 || most >= 80<<10 {
		t.Errorf("%d bytes a commit on average, %d at most; want under 56 and 80 KiB", mean, most)
	}
}
