package agent

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/influxdata/line-protocol/v2/lineprotocol"
	"pgregory.net/rapid"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
)

// apart takes the late readings out of lines, and tells behind how many others each stands.
func apart(lines []string) (others []string, late map[int][]string) {
	late = make(map[int][]string)
	for _, line := range lines {
		if strings.HasPrefix(line, "late_readings,") {
			late[len(others)] = append(late[len(others)], line)
			continue
		}
		others = append(others, line)
	}
	return others, late
}

// side is all that the store keeps of late readings.
func (b *bench) side() []buffer.SideReading {
	b.t.Helper()
	list, _, err := b.store.SideAfter(0, 1<<20)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// sideHolds compares the side output, series@time value, and its points with what is expected.
func (r *rig) sideHolds(what string, want ...string) {
	r.t.Helper()
	var kept []string
	r.note()
	for _, l := range r.side() {
		kept = append(kept, fmt.Sprintf("%s@%v %v", strings.ReplaceAll(string(l.Series), "\x00", " "), float64(l.Time-t0)/1e9, l.Value))
	}
	if !slices.Equal(kept, want) {
		r.t.Errorf("%s: the side output holds %q, want %q", what, kept, want)
	}
	_, late := apart(r.queued())
	n := 0
	for _, lines := range late {
		n += len(lines)
	}
	points := r.store.Counts().LateReadings
	if r.setup.Rules.Side == SideUplink && (n != len(want) || points != int64(len(want))) || r.setup.Rules.Side != SideUplink && n+int(points) > 0 {
		r.t.Errorf("%s: %d late readings queued of %d made, %d kept", what, n, points, len(want))
	}
}

// compareLate wants the side output, and the points made of it, to be the late readings of the oracle, each in its place.
func compareLate(t *rapid.T, want sim.Result, naming sim.Naming, b *bench) {
	t.Helper()
	var kept []buffer.SideReading
	expected := make(map[int][]sim.Line)
	for _, l := range want.Late {
		if b.setup.Rules.Side != SideDrop {
			kept = append(kept, buffer.SideReading{Series: l.Reading.Series, Time: l.Reading.Time, Value: l.Reading.Value, Arrival: reading.NoTime, Behind: l.Behind})
		}
		if b.setup.Rules.Side == SideUplink {
			expected[l.After] = append(expected[l.After], naming.LateLine(l))
		}
	}
	if got := b.side(); !slices.Equal(got, kept) {
		t.Fatalf("side output %+v\nwant %+v", got, kept)
	}
	_, got := apart(b.lines)
	for after, lines := range got {
		if len(expected[after]) != len(lines) {
			t.Fatalf("behind %d points %q, want %+v", after, lines, expected[after])
		}
		for i, text := range lines {
			line, err := sim.ParseLine([]byte(text), lineprotocol.Nanosecond)
			if err != nil || !reflect.DeepEqual(line, expected[after][i]) {
				t.Fatalf("late reading %q, %v; want %+v", text, err, expected[after][i])
			}
		}
		delete(expected, after)
	}
	if len(expected) > 0 {
		t.Fatalf("not put out: %+v", expected)
	}
	if c := b.store.Counts(); c.LateReadings != int64(len(want.Late))*map[SideOutput]int64{SideUplink: 1}[b.setup.Rules.Side] {
		t.Fatalf("points %+v, want a late reading for each of %d", c, len(want.Late))
	}
}

func TestSideOutputOfLateReadings(t *testing.T) {
	for _, side := range []SideOutput{SideDrop, SideKeep, SideUplink} {
		r := newRig(t, func(s *Setup) { s.Rules.Side = side })
		r.live("a", 0, 20)
		r.live("a", 1200, 21)
		r.live("b\x00room\x001", 30, 22.5)
		r.live("a", 60, 23)
		r.live("a", 60, 23) // repeat: duplicate
		r.live("a", 60, 24) // other value: late
		r.retained("a", 70, 25)
		r.counts("side output", counts{"received": 7, "windowed": 2, "late": 3, "duplicate": 1, "retained": 1})
		want := []string{"b room 1@30 22.5", "a@60 23", "a@60 24"}
		if side == SideDrop {
			want = nil
		}
		r.sideHolds("before a restart", want...)
		r.restart()
		r.sideHolds("after it", want...)
		put := []string{"a@0 count=1 max=20"}
		if side == SideUplink {
			put = append(put, "late_readings room=1 b@30 lateness_s=1170 value=22.5", "late_readings a@60 lateness_s=1140 value=23", "late_readings a@60 lateness_s=1140 value=24")
		}
		r.puts("in their order", put...)
	}
}

// TestSideOutputAfterAChange turns the side output off and on: nothing that is kept goes by that.
func TestSideOutputAfterAChange(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.Side = SideKeep })
	r.live("a", 3600, 1)
	r.live("a", 1, 2)
	r.reopen(func(s *Setup) { s.Rules.Side = SideDrop })
	r.live("a", 2, 3)
	r.sideHolds("off", "a@1 2")
	r.reopen(func(s *Setup) { s.Rules.Side = SideKeep })
	r.live("a", 3, 4)
	r.sideHolds("on again", "a@1 2", "a@3 4")
}

// TestArrivalOfLateReadings looks at when readings came: with their own message, also where another released them.
func TestArrivalOfLateReadings(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.Side, s.Rules.MaxFuture = SideKeep, 2*minute })
	r.now.Trusted = false
	feed := func(arrival float64, series reading.Series, s float64) {
		r.e.Message(Input{Result: &reading.Result{Readings: []reading.Reading{{Series: series, Time: at(s)}}}, Arrival: at(arrival), Now: r.now})
	}
	feed(1, "a", 0)
	feed(2, "a", 48*3600) // held
	feed(3, "b", 20*3600)
	feed(4, "b", 43*3600)
	feed(5, "b", 66*3600)
	r.reopen(nil)
	feed(6, "c", 48*3600+1) // late, and vouches for the held one, which is late by now
	r.e.Message(Input{Result: &reading.Result{Readings: []reading.Reading{{Series: "d", Time: at(7)}}}, Now: r.now})
	want := []buffer.SideReading{
		{Series: "a", Time: at(48 * 3600), Arrival: at(2), Behind: 18 * hour},
		{Series: "c", Time: at(48*3600 + 1), Arrival: at(6), Behind: 18*hour - second},
		{Series: "d", Time: at(7), Arrival: reading.NoTime, Behind: 66*hour - 7*second},
	}
	r.note()
	if got := r.side(); !slices.Equal(got, want) {
		t.Errorf("side output %+v\nwant %+v", got, want)
	}
}
