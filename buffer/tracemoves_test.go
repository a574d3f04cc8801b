package buffer

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"edgeagent/testbed"
)

// TestTraceMoves carries the trace through an export, a compaction, an upgrade's kind of copy and a rewrite; a salvage does without.
func TestTraceMoves(t *testing.T) {
	o := tracing(t, time.Hour)
	s := open(t, o)
	want := judged(5000, 3)
	keep(t, s, time.Minute, want)
	commit(t, s, &Batch{Points: []Point{point(1)}})
	var file bytes.Buffer
	if _, err := s.Export(&file, ExportHeader{}); err != nil {
		t.Fatal(err)
	}
	holds := func(what string, s *Store) {
		t.Helper()
		if got := traced(t, s); !reflect.DeepEqual(got, want) || s.Stats().TraceKept != int64(len(want)) {
			t.Errorf("%s: %d readings, want %d", what, len(got), len(want))
		}
		keep(t, s, 2*time.Minute, nil)
		closeChecked(t, s)
	}
	if _, _, err := s.Rewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	holds("rewritten", s)
	if _, _, err := Compact(o); err != nil {
		t.Fatal(err)
	}
	holds("compacted", open(t, o))
	other := o
	other.Dir, other.MaxSize = t.TempDir(), 8<<20
	if _, err := Import(other, io.Reader(&file), func([]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	holds("imported", open(t, other))
	hurt(t, o.Dir)
	s = open(t, o)
	if sum := load(t, s).Salvaged; sum == nil || sum.Points != 1 {
		t.Fatalf("salvaged %+v", sum)
	}
	if got := traced(t, s); got != nil {
		t.Errorf("%d readings are salvaged, want none", len(got))
	}
	keep(t, s, 0, judged(3, 0))
	if got := traced(t, s); !reflect.DeepEqual(got, judged(3, 0)) {
		t.Errorf("after the salvage the trace is %+v", got)
	}
}

// What is torn or changed is an error, and no panic.
func TestTraceOfDamagedBytes(t *testing.T) {
	good := packTrace(judged(20, 0), 5*traceMs, 5*minute)
	var u traceUnpacker
	for i := range good {
		if _, err := u.unpack(good[:i]); err == nil {
			t.Errorf("cut to %d of %d bytes it is taken for whole", i, len(good))
		}
	}
	rng := testbed.Random(t)
	for range 5000 {
		bad := bytes.Clone(good)
		bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
		if list, err := u.unpack(bad); err == nil && len(list) > len(bad) {
			t.Fatalf("%d readings of %d bytes", len(list), len(bad))
		}
	}
}

// Damage of the trace alone is no damage of the store: damaged records are counted by a check, left out, and go when their turn comes.
func TestDamagedTrace(t *testing.T) {
	for name, hurt := range map[string]func(tx *bolt.Tx) error{
		"a record": func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucketTrace))
			k, v := b.Cursor().First()
			return b.Put(k, append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, v[7:]...))
		},
		"its numbers": func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketState)).Put([]byte(keyTrace), []byte("x")) },
		"numbers that lag": func(tx *bolt.Tx) error {
			return putSealed(tx.Bucket([]byte(bucketState)), []byte(keyTrace), (&traceBook{next: 2, bytes: 1}).encode())
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := tracing(t, time.Hour)
			s := open(t, o)
			keep(t, s, 0, judged(3, 0))
			keep(t, s, 0, judged(2, 3))
			if err := s.db.Update(hurt); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(o.Dir + "/" + cleanName); err != nil {
				t.Fatal(err)
			}
			bad, err := CheckFile(Path(o.Dir))
			if err != nil || bad != map[string]int{"a record": 1}[name] {
				t.Errorf("check: %d, %v", bad, err)
			}
			o.Check = checkInChild()
			s = open(t, o)
			if load(t, s).Salvaged != nil {
				t.Error("the store was taken for damaged")
			}
			want := judged(5, 0)
			if name == "a record" {
				want = want[3:]
			}
			if got := traced(t, s); !reflect.DeepEqual(got, want) {
				t.Errorf("trace %+v, want what is not damaged", got)
			}
			keep(t, s, time.Minute, judged(2, 5))
			keep(t, s, 10*time.Hour, judged(1, 7))
			if got := traced(t, s); !reflect.DeepEqual(got, judged(1, 7)) {
				t.Errorf("after long: %+v", got)
			}
		})
	}
}
