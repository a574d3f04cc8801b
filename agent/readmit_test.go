package agent

import (
	"testing"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// said is a message as the ring keeps it: what it counted as, and the readings of it that were taken.
func said(arrival float64, refused []buffer.Refused, taken ...reading.Reading) *buffer.Raw {
	r := &buffer.Raw{Topic: "t", Arrival: at(arrival), Refused: refused}
	for _, t := range taken {
		r.Taken = append(r.Taken, markOf(t))
	}
	return r
}

func one(reason reading.Reason) []buffer.Refused { return []buffer.Refused{{Reason: reason, N: 1}} }

// timed is a reading of sensor a, s seconds after t0.
func timed(s, v float64) reading.Reading {
	return reading.Reading{Series: "a", Time: at(s), Value: v}
}

func TestReadmit(t *testing.T) {
	refusal := func(reason reading.Reason) reading.Refusal { return reading.Refusal{Reason: reason} }
	cases := []struct {
		name  string
		raw   *buffer.Raw
		now   reading.Result   // what it decodes to by now
		first map[string]int64 // of the ledger before
		want  map[string]int64 // and after
		keep  []buffer.Refused // what it stays in the ring as; nil: it leaves
		taken int              // marks of readings then
	}{
		{
			"a value found at last", said(1, one(reading.NoValue)), reading.Result{Readings: []reading.Reading{timed(1, 20)}},
			map[string]int64{"received": 1, "no_value": 1}, map[string]int64{"received": 1, "windowed": 1}, nil, 0,
		}, {
			"late by now", said(1, one(reading.Value)), reading.Result{Readings: []reading.Reading{timed(-5000, 20)}},
			map[string]int64{"received": 2, "windowed": 1, "value": 1}, map[string]int64{"received": 2, "windowed": 1, "late": 1}, nil, 0,
		}, {
			"a repeat by now", said(1, one(reading.Value)), reading.Result{Readings: []reading.Reading{timed(0, 1)}},
			map[string]int64{"received": 2, "windowed": 1, "value": 1}, map[string]int64{"received": 2, "windowed": 1, "duplicate": 1}, nil, 0,
		}, {
			"a whole batch in place of one refusal", said(1, one(reading.Decode)),
			reading.Result{Readings: []reading.Reading{timed(3, 3), timed(1, 1), timed(2, 2)}},
			map[string]int64{"received": 1, "decode": 1}, map[string]int64{"received": 3, "windowed": 3}, nil, 0,
		}, {
			"one of two records", said(1, []buffer.Refused{{Reason: reading.Range, N: 2}}),
			reading.Result{Readings: []reading.Reading{timed(1, 20)}, Refusals: []reading.Refusal{refusal(reading.Range)}},
			map[string]int64{"received": 2, "range": 2}, map[string]int64{"received": 2, "windowed": 1, "range": 1}, one(reading.Range), 1,
		}, {
			"another reason", said(1, []buffer.Refused{{Reason: reading.Range, N: 2}}),
			reading.Result{Readings: []reading.Reading{timed(1, 20)}, Refusals: []reading.Refusal{refusal(reading.Time)}},
			map[string]int64{"received": 2, "range": 2}, map[string]int64{"received": 2, "windowed": 1, "time": 1}, one(reading.Time), 1,
		}, {
			"fewer records than before", said(1, []buffer.Refused{{Reason: reading.NoValue, N: 3}}), reading.Result{Readings: []reading.Reading{timed(1, 20)}},
			map[string]int64{"received": 3, "no_value": 3}, map[string]int64{"received": 3, "windowed": 1, "no_value": 2}, nil, 0,
		}, {
			"still ahead of the clock", said(1, one(reading.Future)), reading.Result{Readings: []reading.Reading{timed(1e9, 20)}},
			map[string]int64{"received": 1, "future": 1}, map[string]int64{"received": 1, "future": 1}, one(reading.Future), 0,
		}, {
			"arrived before the clock was right", said(1, one(reading.NoValue)),
			reading.Result{Readings: []reading.Reading{{Series: "a", Time: 40 * second, ArrivalTimed: true}}},
			map[string]int64{"received": 1, "no_value": 1}, map[string]int64{"received": 1, "clock": 1}, one(reading.Clock), 0,
		}, {
			"counted by another store", said(1, nil), reading.Result{Readings: []reading.Reading{timed(1, 20)}},
			map[string]int64{}, map[string]int64{"received": 1, "windowed": 1}, nil, 0,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(s *Setup) { s.Rules.MaxFuture = 120 * second })
			for _, f := range c.raw.Refused {
				res := reading.Result{}
				for range f.N {
					res.Refusals = append(res.Refusals, reading.Refusal{Reason: f.Reason})
				}
				r.e.Message(Input{Result: &res, Now: r.now})
			}
			if c.first["windowed"] > 0 {
				r.live("a", 0, 1)
			}
			r.counts("before", c.first)
			keep, _ := r.e.Readmit(c.raw, &c.now, r.now)
			r.counts("after", c.want)
			switch {
			case keep == nil != (c.keep == nil):
				t.Errorf("stays in the ring: %v, want %v", keep, c.keep)
			case keep != nil && (len(keep.Refused) != 1 || keep.Refused[0] != c.keep[0] || len(keep.Taken) != c.taken):
				t.Errorf("stays as %+v with %d taken, want %+v with %d", keep.Refused, len(keep.Taken), c.keep, c.taken)
			}
		})
	}
}

// Readings of a message that were judged when it came are not judged again: each mark stands for one.
func TestUntaken(t *testing.T) {
	a, b := timed(1, 20), timed(1, 21)
	raw := said(1, nil, a, b)
	cases := []struct {
		name     string
		in, want []reading.Reading
	}{
		{"the same", []reading.Reading{a, b}, nil},
		{"one more", []reading.Reading{a, timed(2, 20), b}, []reading.Reading{timed(2, 20)}},
		{"one twice", []reading.Reading{a, a}, []reading.Reading{a}},
		{"other value", []reading.Reading{timed(1, 22)}, []reading.Reading{timed(1, 22)}},
	}
	for _, c := range cases {
		got := untaken(append([]reading.Reading(nil), c.in...), raw.Taken)
		if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What a message counts as is its own: not what a held reading that it releases counts as.
func TestVerdictIsOfTheMessage(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.MaxFuture, s.Rules.MaxSensors = 120*second, 1 })
	r.now.Trusted = false
	r.live("a", 0, 1)
	r.live("b", 2*86400, 2) // held
	r.live("a", 2*86400-60, 3)
	if r.e.mendable() {
		t.Errorf("a reading counts as %v", r.e.verdict.refused)
	}
	r.counts("after", map[string]int64{"received": 2, "windowed": 1, "sensors": 1, "held": 1})
}

// A kill before the commit leaves a message in the ring and counted as rejected; one after it, out of the ring and counted anew.
func TestReadmitIsOneTransaction(t *testing.T) {
	r := newRig(t, nil)
	raw := said(1, one(reading.NoValue))
	r.e.Message(Input{Result: &reading.Result{Refusals: []reading.Refusal{{Reason: reading.NoValue}}}, Now: r.now})
	r.batch.Rejected = []buffer.Raw{*raw}
	r.note()
	r.batch.Rejected = nil
	ring := func(want int) {
		t.Helper()
		if list, _, err := r.store.RejectedAfter(0, 10, 1<<20); len(list) != want || err != nil {
			t.Errorf("%d messages in the ring, %v; want %d", len(list), err, want)
		}
	}
	again := func() {
		res := reading.Result{Readings: []reading.Reading{timed(1, 20)}}
		if keep, taken := r.e.Readmit(raw, &res, r.now); keep != nil || !taken {
			t.Errorf("readmitted: stays as %v, taken %v", keep, taken)
		}
	}
	again()
	r.restart()
	r.counts("killed before the commit", counts{"received": 1, "no_value": 1})
	ring(1)
	again()
	r.batch.Readmitted = []buffer.Readmission{{N: 1}}
	r.note()
	r.batch.Readmitted = nil
	r.restart()
	r.counts("killed after it", counts{"received": 1, "windowed": 1})
	ring(0)
}
