package agent

import (
	"slices"

	"edgeagent/reading"
)

// lagSample is how many of the newest readings the lag is shown for.
const lagSample = 1024

// lag samples arrival minus event time of the newest live readings that brought their own time.
type lag struct {
	ring []int64 // ns
	next int
}

func (l *lag) note(arrival int64, rs []reading.Reading) {
	for _, r := range rs {
		if r.ArrivalTimed {
			continue
		}
		if len(l.ring) < lagSample {
			l.ring = append(l.ring, arrival-r.Time)
			continue
		}
		l.ring[l.next] = arrival - r.Time
		l.next = (l.next + 1) % lagSample
	}
}

// quantiles are the values, in seconds, below which the given shares of the sample lie; zeros for an empty sample.
func (l *lag) quantiles(shares ...float64) []float64 {
	out := make([]float64, len(shares))
	if len(l.ring) == 0 {
		return out
	}
	sorted := slices.Sorted(slices.Values(l.ring))
	for i, q := range shares {
		out[i] = float64(sorted[int(q*float64(len(sorted)-1)+0.5)]) / 1e9
	}
	return out
}
