package agent

import (
	"testing"
	"time"
)

// While readings come the log sums up every five minutes; when nothing comes, goes or changes, ever less often, down to once an hour;
// and a change is summed up at the next five minutes.
func TestSummaryRhythm(t *testing.T) {
	var s summaries
	p := pulse{received: 1, uplink: "up", broker: true}
	var got []int
	for minute := 5; minute <= 12*60; minute += 5 {
		switch {
		case minute <= 30:
			p.received++
		case minute == 600:
			p.broker = false
		case minute == 700:
			p.uploaded++
		}
		if s.due(p, time.Duration(minute)*time.Minute) {
			got = append(got, minute)
		}
	}
	want := []int{5, 10, 15, 20, 25, 30, 35, 45, 65, 105, 165, 225, 285, 345, 405, 465, 525, 585, 600, 605, 615, 635, 675, 700, 705, 715}
	if len(got) != len(want) {
		t.Fatalf("summaries at %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("summaries at %v, want %v", got, want)
			break
		}
	}
}
