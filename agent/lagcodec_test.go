package agent

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// sampleLags are counts with something in each sketch.
func sampleLags() *lags {
	l := newLags(Rules{Size: 300e9}, []string{"a"})
	src := &l.sources[0]
	src.age = 5e9
	for _, c := range []*lagCounts{&src.young, &src.aged} {
		c.lag.max = -7
		c.lag.ahead.add(7, 1)
		c.lag.lag.add(90_000, 300)
		c.behind.add(0, 3)
		c.past.add(600_000, 1)
	}
	return &l
}

func TestLagRecordsRoundTrip(t *testing.T) {
	l := sampleLags()
	for which := range numLagRecords {
		data := l.encode(&l.sources[0], which)
		var back sourceLags
		if err := l.decode(data, &back, which); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int64{true: 5e9}[which < agedLag]; int64(back.age) != want {
			t.Errorf("record %d: age %d, want %d", which, back.age, want)
		}
		back.age = 5e9
		if again := l.encode(&back, which); !slices.Equal(again, data) {
			t.Errorf("record %d came back as %x, want %x", which, again, data)
		}
		for name, other := range map[string]lags{
			"another size":  newLags(Rules{Size: 60e9}, []string{"a"}),
			"another scope": newLags(Rules{Size: 300e9, PerSensor: true}, []string{"a"}),
		} {
			var fresh sourceLags
			c := fresh.generation(which)
			if err := other.decode(data, &fresh, which); err != nil || c.n()+c.behind.total()+c.lag.total() != 0 {
				t.Errorf("record %d, %s: %v, %+v; want none and no error", which, name, err, fresh)
			}
		}
		if r, ok := recordOf(which.key()); !ok || r != which {
			t.Errorf("key of record %d is read as %d, %v", which, r, ok)
		}
	}
	for _, name := range []string{"", "a", "01", "\x01", "\x016", "\x010x"} {
		if r, ok := recordOf(name); ok {
			t.Errorf("%q is read as record %d", name, r)
		}
	}
}

func TestSampleRoundTrip(t *testing.T) {
	s := sensorLag{}
	for i := range int64(40) {
		s.note(i*1e5-2e6, 17)
	}
	s.note(1<<40, 3)
	var as sensorLag
	if err := as.decode(s.encode()); err != nil || as.seen != 41 || as.n != lagSamples {
		t.Errorf("sensor came back as %+v, %v", as, err)
	}
	slices.Sort(s.ms[:])
	if s.ms != as.ms {
		t.Errorf("sample %v, want %v", as.ms, s.ms)
	}
}

// What a card has made of a record is an error or counts something, and nothing worse.
func TestDamagedLagRecords(t *testing.T) {
	l := sampleLags()
	var s sensorLag
	for i := range int64(30) {
		s.note(i, 5)
	}
	sensor := s.encode()
	for n := range sensor {
		if err := new(sensorLag).decode(sensor[:n]); !errors.Is(err, errLagRecord) {
			t.Fatalf("sensor cut to %d bytes: %v", n, err)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for which := range numLagRecords {
		whole := l.encode(&l.sources[0], which)
		for n := range whole {
			var into sourceLags
			if err := l.decode(whole[:n], &into, which); !errors.Is(err, errLagRecord) || into.generation(which).n() != 0 {
				t.Fatalf("record %d cut to %d bytes: %v, %+v", which, n, err, into)
			}
		}
		for range 5_000 {
			var into sourceLags
			if data := damage(rng, whole); !damageTold(l.decode(data, &into, which)) {
				t.Fatalf("record %d as %x: it is told as no damage", which, data)
			}
			var k sensorLag
			data := damage(rng, sensor)
			err := k.decode(data)
			if !damageTold(err) || err == nil && (k.n > lagSamples || uint32(k.n) > k.seen) {
				t.Fatalf("sensor as %x: %v, %+v", data, err, k)
			}
		}
	}
}

func damageTold(err error) bool { return err == nil || errors.Is(err, errLagRecord) }

// damage changes some bytes of a copy.
func damage(rng *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	for range 1 + rng.IntN(3) {
		data[rng.IntN(len(data))] = byte(rng.Uint32())
	}
	return data
}
