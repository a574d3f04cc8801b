package buffer

import (
	"strings"
	"testing"
)

// A flood of late readings that the server refuses, for its retention, pushes out late readings and no window; windows that it refuses push out late
// readings first. Whatever goes is counted, and the youngest of its kind stay.
func TestParkedWindowsOutlastLateReadings(t *testing.T) {
	lines := map[PointKind]string{Finalized: "temperature max=1 1", LateReading: "late_readings value=1 1"}
	for _, uplinks := range [][]string{nil, {"a", "b"}} {
		o := options(t.TempDir())
		o.MaxSize, o.SideOutput, o.Uplinks = 1<<20, true, uplinks
		s := open(t, o)
		park := func(kind PointKind, n int) (last uint64) {
			for n > 0 {
				b := Batch{}
				for range min(n, 50) {
					b.Points = append(b.Points, Point{Kind: kind, Series: "s", Line: []byte(lines[kind] + strings.Repeat("0", 60))})
				}
				n -= len(b.Points)
				commit(t, s, &b)
				last = b.Points[len(b.Points)-1].Seq
				for _, u := range s.Books() {
					settle := Settlement{Uplink: u.Name, Through: last}
					for _, p := range b.Points {
						settle.Parked = append(settle.Parked, Parked{Seq: p.Seq, Reason: "points beyond retention policy dropped=1"})
					}
					commit(t, s, &Batch{Settle: []Settlement{settle}})
				}
			}
			return last
		}
		kinds := func() (windows, late int, youngest uint64) {
			t.Helper()
			list, err := s.ParkedPoints(0)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				if strings.HasPrefix(string(p.Line), "late_readings ") {
					late++
					youngest = max(youngest, p.Seq)
				} else {
					windows++
				}
			}
			return windows, late, youngest
		}
		n := max(len(uplinks), 1)
		park(Finalized, 40)
		last := park(LateReading, 2000)
		windows, late, youngest := kinds()
		if windows != 40*n || late == 0 || late >= 2000*n || youngest != last {
			t.Errorf("%d uplinks: %d windows and %d late readings are parked up to %d, want 40 and some up to %d", n, windows, late, youngest, last)
		}
		var parked, evicted int64
		for _, u := range s.Books() {
			parked, evicted = parked+u.Points.Parked, evicted+u.Points.Evicted
		}
		if int(parked) != windows+late || evicted != int64(2040*n)-parked {
			t.Errorf("%d uplinks: %d parked, %d evicted; %d are there", n, parked, evicted, windows+late)
		}
		park(Finalized, 2000)
		if windows, late, _ := kinds(); late != 0 || windows < 100 {
			t.Errorf("%d uplinks: after windows %d late readings and %d windows", n, late, windows)
		}
	}
}
