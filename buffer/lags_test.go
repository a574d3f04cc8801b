package buffer

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// lagsOf reads all lags as text.
func lagsOf(t testing.TB, s *Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	last := ""
	err := s.Lags(func(l Lag) {
		key := l.Source + "/" + l.Sensor
		if key <= last {
			t.Errorf("%q after %q", key, last)
		}
		last = key
		all[key] = string(l.Data)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func putAll(t testing.TB, s *Store, lags ...Lag) { commit(t, s, &Batch{Lags: lags}) }

func wantLags(t testing.TB, what string, s *Store, want map[string]string) {
	t.Helper()
	if got := lagsOf(t, s); !maps.Equal(got, want) {
		t.Errorf("%s: %.200q, want %.200q", what, fmt.Sprint(got), fmt.Sprint(want))
	}
}

// Lags of any length come back, shrink, grow and go, and so they do from a store that is compacted or carried to another card.
func TestLags(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	long := strings.Repeat("0123456789", 300)
	putAll(t, s, Lag{"b", "", []byte(long)}, Lag{"b", "one", []byte("1")}, Lag{"b", "one more", []byte("2")}, Lag{"a b", "", []byte("x")})
	want := map[string]string{"a b/": "x", "b/": long, "b/one": "1", "b/one more": "2"}
	wantLags(t, "as put", s, want)
	putAll(t, s, Lag{"b", "", []byte(long[:500])}, Lag{"b", "one", nil}, Lag{"nobody", "", nil})
	want["b/"] = long[:500]
	delete(want, "b/one")
	wantLags(t, "changed", s, want)

	var file bytes.Buffer
	if _, err := s.Export(&file, ExportHeader{Gateway: "g"}); err != nil {
		t.Fatal(err)
	}
	closeChecked(t, s)
	if _, _, err := Compact(o); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	wantLags(t, "compacted", s, want)
	o.Dir = t.TempDir()
	if _, err := Import(o, &file, func([]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	wantLags(t, "imported", open(t, o), want)
}

// What a card has damaged ends the record, is counted by a check, and is overwritten.
func TestDamagedLags(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	long := strings.Repeat("0123456789", 150)
	putAll(t, s, Lag{"a", "", []byte(long)}, Lag{"a", "s", []byte("1")})
	corrupt(t, s, bucketLags, partKey([]byte("a\x00\x00"), 1))
	wantLags(t, "damaged", s, map[string]string{"a/": long[:partSize-crcSize], "a/s": "1"})
	closeChecked(t, s)
	if bad, err := CheckFile(Path(o.Dir)); bad != 1 || err != nil {
		t.Errorf("a check finds %d damaged records, %v; want 1", bad, err)
	}
	s = open(t, o)
	putAll(t, s, Lag{"a", "", []byte("new")})
	wantLags(t, "overwritten", s, map[string]string{"a/": "new", "a/s": "1"})
}

// A damaged file is carried over with its lags; what is lost of them leaves the store whole all the same.
func TestLagsAreCarriedOver(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("state"), Journal: readings(3, 0)})
	var lags []Lag
	want := map[string]string{}
	for i := range 500 {
		l := Lag{"a", fmt.Sprintf("sensor %03d", i), bytes.Repeat([]byte{byte(i)}, 100)}
		lags = append(lags, l)
		want["a/"+l.Sensor] = string(l.Data)
	}
	putAll(t, s, lags...)
	corrupt(t, s, bucketLags, partKey([]byte("a\x00sensor 007\x00"), 0))
	delete(want, "a/sensor 007")
	closeChecked(t, s)
	file := Path(o.Dir)
	o.Dir = t.TempDir()
	sum, err := Rescue(o, file)
	if err != nil {
		t.Fatal(err)
	}
	wantLags(t, "carried over", open(t, o), want)
	if !sum.Whole {
		t.Errorf("salvage %+v, want it whole", sum)
	}
}

// With a slice of lags a commit stays under 64 KiB and costs the same however often that was: fleets of ten thousand sensors on 64 MiB.
func TestLagsWearTheCardEvenly(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 64 << 20
	s := open(t, o)
	s.db.NoGrowSync = true
	const sensors, slice = 10_000, 30
	i, turn := 0, byte(0)
	lagged := func(n int) *Batch {
		b := small(n)
		for range slice {
			b.Lags = append(b.Lags, Lag{"thermometers", fmt.Sprintf("hall/sensor-%05d", i), bytes.Repeat([]byte{turn}, 80)})
			if i = (i + 1) % sensors; i == 0 {
				turn++
			}
		}
		return b
	}
	source := func(n int) *Batch {
		b := small(n)
		b.Lags = []Lag{{"thermometers", "", bytes.Repeat([]byte{byte(n)}, 5<<10)}}
		return b
	}
	var means []int64
	for round := range 4 {
		most, mean := largest(t, s, sensors/slice, lagged)
		means = append(means, mean)
		t.Logf("round %d: at most %d bytes a commit, %d on average", round, most, mean)
		if most >= 64<<10 {
			t.Errorf("round %d: a commit with a slice wrote %d bytes, want under 64 KiB", round, most)
		}
	}
	if slices.Max(means[1:]) > means[1]*11/10 {
		t.Errorf("bytes a commit by round: %d, want them to stay", means)
	}
	if most, mean := largest(t, s, 50, source); most >= 64<<10 {
		t.Errorf("a commit with a source's sketches wrote %d bytes, %d on average, want under 64 KiB", most, mean)
	}
	if _, mean := largest(t, s, 50, small); mean > 36<<10 {
		t.Errorf("a commit without one wrote %d bytes on average", mean)
	}
	if st := s.Stats(); st.UsedBytes > 3<<20 {
		t.Errorf("%d bytes in use", st.UsedBytes)
	}
}
