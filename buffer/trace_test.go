package buffer

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/testbed"
	bolt "go.etcd.io/bbolt"
)

// traced is all that the trace holds.
func traced(t testing.TB, s *Store) (all []TraceReading) {
	t.Helper()
	for after := uint64(0); ; {
		list, last, err := s.TraceAfter(after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if last == 0 {
			return all
		}
		all, after = append(all, list...), last
	}
}

// tracing are options of a store that keeps readings for so long.
func tracing(t testing.TB, keep time.Duration) Options {
	o := options(t.TempDir())
	o.Retain = keep
	return o
}

// judged are n readings as a fleet of 200 sends them, the first with number from.
func judged(n, from int) (list []TraceReading) {
	for i := from; i < from+n; i++ {
		list = append(list, TraceReading{Series: reading.Series(fmt.Sprintf("hall/sensor-%03d", i%200)), Source: "hall", Time: 1.7e18 + int64(i)*5e6,
			Value: float64(2000+i%1000) / 100, Arrival: 1.7e18 + int64(i)*5e6 + 40e6, Size: 5 * minute, Outcome: Outcome(i % 4)})
	}
	return list
}

// keep commits readings after the agent has run for up.
func keep(t testing.TB, s *Store, up time.Duration, list []TraceReading) {
	t.Helper()
	commit(t, s, &Batch{State: []byte("{}"), Trace: Trace{Readings: list, Size: 5 * minute, Up: int64(up)}})
}

func TestTraceComesBackAsItWas(t *testing.T) {
	edges := []TraceReading{
		{"a", "s", math.MinInt64 + 2, math.MaxFloat64, reading.NoTime, 5 * minute, WasLate},
		{"a\x00room\x001", "s", -1, -0.1, math.MaxInt64 / traceMs * traceMs, 5 * minute, Refusal(reading.Overflow)},
		{"a", "", math.MaxInt64 - 1, math.Copysign(0, -1), 0, 5 * minute, Refusal(reading.Decode)},
		{"a", "other", 0, math.SmallestNonzeroFloat64, -traceMs, 5 * minute, WasRetained},
		{"a", "s", 1, -40, traceMs, 5 * minute, WasDuplicate},
		{"a", "s", 1, 0, traceMs, 5 * minute, WasWindowed},
		{"a", "s", 1, 1099511627.776, traceMs, 5 * minute, WasWindowed},
	}
	s := open(t, tracing(t, time.Hour))
	keep(t, s, 0, edges)
	keep(t, s, 0, nil)
	keep(t, s, 0, judged(2*tracePerRecord+1, 0))
	want := append(edges, judged(2*tracePerRecord+1, 0)...)
	got := traced(t, s)
	if !reflect.DeepEqual(got, want) || math.Signbit(got[2].Value) != true {
		t.Fatalf("trace\n%+v\nwant\n%+v", got[:8], want[:8])
	}
	if st := s.Stats(); st.TraceKept != int64(len(want)) || st.TraceDropped != 0 || st.TraceBytes <= 0 {
		t.Errorf("stats %+v, want %d kept, none dropped", st, len(want))
	}
}

// Every value with at most three decimals takes few bytes, and all come back to the last bit.
func TestTraceValuesAreExact(t *testing.T) {
	rng := testbed.Random(t)
	var list []TraceReading
	for range 5000 {
		v := math.Float64frombits(rng.Uint64())
		if rng.IntN(2) == 0 {
			v = float64(rng.IntN(200000)-100000) / powers[rng.IntN(len(powers))]
		}
		if math.IsNaN(v) {
			continue
		}
		list = append(list, TraceReading{Series: "a", Time: rng.Int64(), Arrival: reading.NoTime, Value: v})
	}
	var u traceUnpacker
	got, err := u.unpack(packTrace(list, 0, 0))
	if err != nil || !reflect.DeepEqual(got, list) {
		t.Fatalf("%v, or values that differ", err)
	}
}

// Nothing is made or written where no readings are kept, and what was kept goes when it is switched off.
func TestTraceOff(t *testing.T) {
	o := tracing(t, 0)
	s := open(t, o)
	has := func(s *Store) (bucket, numbers bool) {
		err := s.view(func(tx *bolt.Tx) error {
			bucket, numbers = tx.Bucket([]byte(bucketTrace)) != nil, tx.Bucket([]byte(bucketState)).Get([]byte(keyTrace)) != nil
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return bucket, numbers
	}
	keep(t, s, 0, judged(5, 0))
	if b, n := has(s); b || n || s.Stats().TraceKept != 0 {
		t.Errorf("off: bucket %v, numbers %v", b, n)
	}
	closeChecked(t, s)
	o.Retain = time.Hour
	s = open(t, o)
	keep(t, s, 0, nil)
	if b, n := has(s); b || n {
		t.Errorf("on, without a reading: bucket %v, numbers %v", b, n)
	}
	keep(t, s, 0, judged(5000, 0))
	closeChecked(t, s)
	o.Retain = 0
	s = open(t, o)
	if got := traced(t, s); len(got) != 5000 {
		t.Errorf("%d readings before the first commit, want 5000: a look at it changes nothing", len(got))
	}
	keep(t, s, 0, nil)
	if b, n := has(s); b || n || s.Stats().TraceBytes != 0 {
		t.Errorf("off again: bucket %v, numbers %v, %+v", b, n, s.Stats())
	}
}

// Age counts while agents run, over restarts; a record is kept for its time and a sixteenth more at most.
func TestTraceAge(t *testing.T) {
	o := tracing(t, time.Hour)
	wall := day
	o.Now = func() time.Time { return wall }
	s := open(t, o)
	n := 0
	step := func(up time.Duration) (oldest int) {
		t.Helper()
		keep(t, s, up, []TraceReading{{Series: "a", Time: int64(n), Arrival: reading.NoTime}})
		n++
		return int(traced(t, s)[0].Time)
	}
	for i := range 60 { // one a minute
		if got := step(time.Duration(i) * time.Minute); got != 0 {
			t.Fatalf("after %d minutes the oldest is %d", i, got)
		}
	}
	wall = wall.AddDate(70, 0, 0) // no clock can empty it
	if got := step(60 * time.Minute); got != 0 {
		t.Errorf("after an hour and a wrong clock the oldest is %d", got)
	}
	closeChecked(t, s)
	wall = time.Unix(0, 0) // or pin it
	s = open(t, o)
	for i := range 3 { // 61 to 63 minutes: up counts from the start of the process
		if got := step(time.Duration(i+1) * time.Minute); got != 0 {
			t.Errorf("after %d minutes the oldest is %d", 61+i, got)
		}
	}
	if got := step(4 * time.Minute); got != 4 { // 64 min are past an hour and a sixteenth: all beyond the hour goes
		t.Errorf("after 64 minutes the oldest is %d, want 4", got)
	}
	if st := s.Stats(); st.TraceDropped != 4 || st.TraceKept != int64(n-4) {
		t.Errorf("stats %+v, want 4 dropped", st)
	}
	if got := step(400 * time.Minute); got != n-1 {
		t.Errorf("after long the oldest is %d, want the newest", got)
	}
}

func TestTraceKeepsWithinItsShare(t *testing.T) {
	o := tracing(t, 100*time.Hour)
	o.MaxSize = 4 << 20
	s := open(t, o)
	n := 0
	for ; s.Stats().TraceDropped < 100000; n += 5000 {
		keep(t, s, 0, judged(5000, n))
		st := s.Stats()
		if st.TraceBytes > o.MaxSize/8 || st.TraceKept+st.TraceDropped != int64(n+5000) || st.TraceDropped > 0 && st.TraceBytes < o.MaxSize/16 {
			t.Fatalf("after %d: %d bytes, %d kept, %d dropped", n+5000, st.TraceBytes, st.TraceKept, st.TraceDropped)
		}
	}
	got := traced(t, s)
	if want := judged(len(got), n-len(got)); !reflect.DeepEqual(got, want) {
		t.Fatalf("the newest %d are not what is kept", len(got))
	}
	if size := s.Stats().FileBytes; size > o.MaxSize {
		t.Errorf("the file has %d bytes of at most %d", size, o.MaxSize)
	}
}

// A program that does not know the trace leaves it alone, and the other way round.
func TestTraceIsNoPartOfTheSchema(t *testing.T) {
	for _, name := range buckets {
		if name == bucketTrace {
			t.Error("a store without a trace would count as damaged")
		}
	}
	o := tracing(t, time.Hour)
	s := open(t, o)
	keep(t, s, 0, judged(3, 0))
	err := s.db.Update(func(tx *bolt.Tx) error { // as a later version might
		b, err := tx.CreateBucket([]byte("unheard-of"))
		return errors.Join(err, b.Put([]byte("k"), []byte("v")))
	})
	if err != nil {
		t.Fatal(err)
	}
	closeChecked(t, s)
	if _, err := CheckFile(Path(o.Dir)); err != nil {
		t.Error(err)
	}
	s = open(t, o)
	if load(t, s).Salvaged != nil || len(traced(t, s)) != 3 {
		t.Error("a bucket of another version counts as damage")
	}
}
