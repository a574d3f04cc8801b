package crash

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
)

// lateAtServer wants a point at the server for each late reading, with the last value of those that share series and time.
func (w *world) lateAtServer(want []sim.Late, made int64) {
	w.t.Helper()
	if made != int64(len(want)) {
		w.t.Errorf("%d points of late readings were made, want %d", made, len(want))
	}
	var lines []sim.Line
	for _, p := range w.server.Points("edge", "late_readings") {
		lines = append(lines, sim.Line{Measurement: "late_readings", Tags: []reading.Tag{{Key: "sensor", Value: p.Tags["sensor"]}}, Time: p.Time, Fields: p.Fields})
	}
	lateHeld(w.t, lines, want)
}

// lateHeld wants what a server holds of late readings to be the last of those that share series and time.
func lateHeld(t *testing.T, lines []sim.Line, want []sim.Late) {
	t.Helper()
	type identity struct {
		sensor string
		time   int64
	}
	left := make(map[identity]map[string]any)
	for _, l := range want {
		left[identity{l.Reading.Series.Sensor(), l.Reading.Time}] = map[string]any{"value": l.Reading.Value, "lateness_s": float64(l.Behind) / 1e9}
	}
	for _, l := range slices.DeleteFunc(slices.Clone(lines), func(l sim.Line) bool { return !isLate(l) }) {
		at := slices.IndexFunc(l.Tags, func(tag reading.Tag) bool { return tag.Key == "sensor" })
		id := identity{l.Tags[at].Value, l.Time}
		if !reflect.DeepEqual(l.Fields, left[id]) {
			t.Errorf("late reading %+v: fields %v, want %v", id, l.Fields, left[id])
		}
		delete(left, id)
	}
	if len(left) > 0 {
		t.Errorf("%d late readings are not at the server: %v", len(left), left)
	}
}

// lateInStore wants the store of the stopped agent to keep each late reading once, in the order in which they were judged.
func (w *world) lateInStore(want []sim.Late) {
	w.t.Helper()
	s, err := buffer.OpenReadOnly(buffer.Options{Dir: w.dir})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := errors.Join(lateIn(s, want), s.Close()); err != nil {
		w.t.Error(err)
	}
}

// lateIn compares the side output of a store with the late readings of the oracle.
func lateIn(s *buffer.Store, want []sim.Late) error {
	kept, _, err := s.SideAfter(0, 1<<20)
	if err != nil || len(kept) != len(want) {
		return fmt.Errorf("%d late readings are kept, want %d: %w", len(kept), len(want), err)
	}
	for i, k := range kept {
		l := want[i]
		if k.Series != l.Reading.Series || k.Time != l.Reading.Time || k.Value != l.Reading.Value || k.Behind != l.Behind || k.Arrival <= k.Time {
			return fmt.Errorf("late reading %d is kept as %+v, want %+v", i, k, l)
		}
	}
	return nil
}

func isLate(l sim.Line) bool { return l.Measurement == "late_readings" }

// lateAmong wants each late reading among lines, and no other; a line may be there twice.
func lateAmong(lines []sim.Line, want []sim.Late) error {
	left := make(map[string]bool)
	for _, l := range want {
		left[shown(gatewayTag.LateLine(l))] = true
	}
	for _, l := range lines {
		text := shown(l)
		if _, known := left[text]; isLate(l) && !known {
			return fmt.Errorf("late reading %s is of a reading that was not late", text)
		}
		left[text] = false
	}
	for text, missing := range left {
		if missing {
			return fmt.Errorf("late reading %s is missing", text)
		}
	}
	return nil
}
