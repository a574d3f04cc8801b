package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// saveLags stores all that has changed, a slice a commit, and reports the largest slice.
func saveLags(r *rig) (slices, keys, bytes int) {
	r.t.Helper()
	for {
		r.batch.Lags = r.batch.Lags[:0]
		r.e.fillLags(&r.batch, storeSize)
		if len(r.batch.Lags) == 0 {
			return slices, keys, bytes
		}
		size := 0
		for _, l := range r.batch.Lags {
			size += len(l.Data) + len(l.Source) + len(l.Sensor)
		}
		slices, keys, bytes = slices+1, max(keys, len(r.batch.Lags)), max(bytes, size)
		r.note()
		r.batch.Lags = r.batch.Lags[:0]
	}
}

func adviceText(t *testing.T, e *Engine) string {
	t.Helper()
	text, err := json.Marshal(e.advise(0.01))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What has been stored comes back, in slices of a bounded size whatever the fleet's.
func TestLagsOverARestart(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Sources, s.Rules.MaxSensors = []string{"b", "a"}, 1000 })
	f := newFleet(rand.New(rand.NewPCG(3, 3)), 9000, 300, 10)
	for i := range f.readings {
		f.readings[i].Source = uint16(i % 2)
	}
	f.feed(r)
	r.e.lags.tick(time.Hour)
	n, keys, bytes := saveLags(r)
	if n < 4 || keys > lagSliceKeys || bytes > lagSliceBytes+8192 {
		t.Errorf("%d slices of at most %d keys and %d bytes; want some, of bounded size", n, keys, bytes)
	}
	want := adviceText(t, r.e)
	r.restart()
	if got := adviceText(t, r.e); got != want {
		t.Errorf("after a restart\n%s\nwant\n%s", got, want)
	}
	if age := r.e.lags.sources[1].age; age != time.Hour {
		t.Errorf("age %v after a restart, want an hour", age)
	}
	if n, _, _ := saveLags(r); n != 0 {
		t.Errorf("%d slices to store after a restart, want none", n)
	}
	// sources are known by name: one is gone, one has another place
	r.reopen(func(s *Setup) { s.Sources = []string{"a", "c"} })
	if a, c := r.e.lags.sources[0].young.n(), r.e.lags.sources[1].young.n(); a != 4500 || c != 0 {
		t.Errorf("%d readings of a, %d of c; want 4500 and 0", a, c)
	}
	saveLags(r)
	if got := storedLags(t, r.store); got["a"] != 303 || got["b"] != 0 {
		t.Errorf("stored %v, want 303 of a alone", got)
	}
	r.reopen(func(s *Setup) { s.Rules.Size = 60 * second })
	if n := r.e.lags.sources[0].young.n(); n != 0 {
		t.Errorf("%d readings after the size of windows changed, want none", n)
	}
}

// storedLags counts the records of each source in the store.
func storedLags(t *testing.T, s *buffer.Store) map[string]int {
	t.Helper()
	n := map[string]int{}
	if err := s.Lags(func(l buffer.Lag) { n[l.Source]++ }); err != nil {
		t.Fatal(err)
	}
	return n
}

// What is kept of a sensor goes when the sensor is forgotten, and only so many sensors are stored as their share allows.
func TestLagsOfForgottenSensors(t *testing.T) {
	r := newRig(t, func(s *Setup) {
		s.Sources, s.Rules.MaxSensors, s.Rules.SensorExpiry = []string{"a"}, 4, day
	})
	feed := func(name string, at int64) {
		res := reading.Result{Readings: []reading.Reading{{Series: reading.Series(name), Time: at, Value: 1}}}
		r.e.Message(Input{Result: &res, Now: Moment{Wall: at, Trusted: true}, Live: true, Arrival: at})
	}
	for i := range 4 {
		feed(fmt.Sprint("old ", i), t0+int64(i))
	}
	saveLags(r)
	feed("new", t0+3*day)
	saveLags(r)
	var got []string
	if err := r.store.Lags(func(l buffer.Lag) { got = append(got, l.Sensor) }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"\x010", "\x011", "\x012", "new"}) || r.e.lags.stored != 1 {
		t.Errorf("stored %q, counted %d; want the source and the new sensor", got, r.e.lags.stored)
	}
	feed("one more", t0+3*day)
	r.batch.Lags = r.batch.Lags[:0]
	r.e.fillLags(&r.batch, lagShare*lagCost) // room for one
	if n := len(r.batch.Lags); n != 3 || r.batch.Lags[2].Sensor != youngPast.key() {
		t.Errorf("%d records without room for a second sensor: %+v", n, r.batch.Lags)
	}
}

// A kill between the forgetting of a sensor and the slice that deletes it leaves a record that the next start deletes.
func TestLagsOfNobody(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Sources = []string{"a"} })
	r.batch.Lags = []buffer.Lag{{Source: "a", Sensor: "gone", Data: (&sensorLag{}).encode()}, {Source: "a", Sensor: youngLag.key(), Data: []byte("damaged")}}
	r.note()
	r.batch.Lags = nil
	r.restart()
	saveLags(r)
	if got := storedLags(t, r.store); len(got) != 0 {
		t.Errorf("stored %v, want nothing", got)
	}
}

func TestGenerations(t *testing.T) {
	const h = time.Hour
	for _, c := range []struct {
		name   string
		n      int64
		ticks  []time.Duration
		turned int
	}{
		{"before a day", lagEnough, []time.Duration{23 * h}, 0},
		{"after a day", lagEnough, []time.Duration{12 * h, 24 * h}, 1},
		{"few, after a day", lagEnough - 1, []time.Duration{24 * h, 100 * h}, 0},
		{"few, after a week", 3, []time.Duration{100 * h, 168 * h}, 1},
		{"nothing comes any more", lagEnough, []time.Duration{24 * h, 48 * h, 100 * h, 192 * h}, 2},
	} {
		l := newLags(Rules{Size: 300e9}, []string{"a"})
		l.sources[0].young.past.add(0, c.n)
		turned := 0
		for _, up := range c.ticks {
			if l.tick(up) {
				turned++
			}
		}
		s := &l.sources[0]
		wantYoung, wantAged := c.n, int64(0)
		if turned > 0 {
			wantYoung, wantAged = 0, c.n
		}
		if turned > 1 {
			wantAged = 0
		}
		if turned != c.turned || s.young.n() != wantYoung || s.aged.n() != wantAged {
			t.Errorf("%s: turned %d times, %d and %d readings; want %d, %d and %d", c.name, turned, s.young.n(), s.aged.n(), c.turned, wantYoung, wantAged)
		}
	}
}

// A sensor whose clock is set right is seen to be right a day later.
func TestSampleFollowsTheDay(t *testing.T) {
	var l sensorLag
	random := rand.New(rand.NewPCG(1, 1))
	for range 8640 {
		l.note(3_600_000, random.Uint64())
	}
	l.turn()
	for range 1000 {
		l.note(1000, random.Uint64())
	}
	if s := l.shape(); !s.steady() || s.off() || s.median != 1000 {
		t.Errorf("after a day with a right clock: %+v", s)
	}
}
