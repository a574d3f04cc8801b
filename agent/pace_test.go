package agent

import (
	"testing"
	"time"

	"edgeagent/testbed"
)

// broker simulates one that has backlog messages waiting and then makes one every gap, has at most limit unacknowledged,
// and answers after rtt; it runs a pace against it until end and reports the commits and the messages taken.
func broker(p *pace, limit, backlog int, gap, rtt, sync, end time.Duration) (commits, taken int, longest time.Duration) {
	now, made := time.Duration(0), time.Duration(0)
	waiting, inFlight, lastCommit := backlog, 0, time.Duration(0)
	for now < end {
		for gap > 0 && made+gap <= now {
			made += gap
			waiting++
		}
		if n := min(waiting, limit-inFlight, 500); n > 0 {
			waiting, inFlight, taken = waiting-n, inFlight+n, taken+n
			p.took(n, n, 100*n, now)
		}
		due, wait := p.due(now)
		if due {
			now += sync
			longest = max(longest, now-lastCommit)
			lastCommit = now
			commits++
			p.committed(true, now)
			inFlight = 0
			now += rtt
			continue
		}
		next := made + gap
		if gap == 0 {
			next = end
		}
		if wait > 0 {
			next = min(next, now+wait)
		}
		if waiting > 0 && inFlight < limit {
			next = now + 100*time.Microsecond
		}
		now = max(next, now+10*time.Microsecond)
	}
	return commits, taken, longest
}

func TestPaceFollowsTheInFlightLimit(t *testing.T) {
	const interval = 5 * time.Second
	cases := []struct {
		name                  string
		limit, backlog        int
		gap, rtt              time.Duration
		minCommits, maxCommit int
		minTaken              int
	}{
		{"backlog at a limit of 20: a commit each 20", 20, 100_000, 0, time.Millisecond, 3000, 6000, 60_000},
		{"backlog at a limit of 1: learned after one interval", 1, 100_000, 0, time.Millisecond, 2000, 9000, 2000},
		{"backlog without a limit: batch cap", 65535, 1_000_000, 0, time.Millisecond, 10, 400, 900_000},
		{"backlog at a limit of 20, 60 ms away", 20, 100_000, 0, 60 * time.Millisecond, 500, 1000, 15_000},
		{"backlog at a limit of 20, 120 ms away", 20, 100_000, 0, 120 * time.Millisecond, 300, 500, 7_000},
		{"backlog at a limit of 20, 600 ms away", 20, 100_000, 0, 600 * time.Millisecond, 70, 120, 1_500},
		{"one a second: by interval", 20, 0, time.Second, time.Millisecond, 5, 20, 55},
		{"ten a second without a limit: by interval", 65535, 0, 100 * time.Millisecond, time.Millisecond, 10, 20, 590},
		{"a thousand a second without a limit: by interval or cap", 65535, 0, time.Millisecond, time.Millisecond, 10, 40, 58_000},
		{"a thousand a second at a limit of 20", 20, 0, time.Millisecond, time.Millisecond, 2000, 6000, 55_000},
	}
	for _, c := range cases {
		commits, taken, longest := broker(newPace(interval), c.limit, c.backlog, c.gap, c.rtt, 6*time.Millisecond, time.Minute)
		if commits < c.minCommits || commits > c.maxCommit || taken < c.minTaken {
			t.Errorf("%s: %d commits (want %d to %d), %d taken (want %d)", c.name, commits, c.minCommits, c.maxCommit, taken, c.minTaken)
		}
		if longest > interval+time.Second+50*time.Millisecond {
			t.Errorf("%s: a reading waited %v", c.name, longest)
		}
	}
}

// An answer that noise delays once must not cost a whole interval.
func TestPaceAsksTwice(t *testing.T) {
	for _, delay := range []time.Duration{500 * time.Microsecond, 2500 * time.Microsecond, 10 * time.Millisecond, 40 * time.Millisecond} {
		p := newPace(5 * time.Second)
		now := time.Second
		for range 5 {
			p.took(20, 20, 2000, now)
			began := now
			for {
				due, wait := p.due(now)
				if due {
					break
				}
				now += wait
			}
			if now-began > 200*time.Millisecond {
				t.Errorf("first message %v after the acknowledgement: a window of 20 waited %v", delay, now-began)
			}
			p.committed(true, now)
			now += delay
		}
	}
}

// A broker may pass its limit now and then, as mosquitto 2.0.11 does, and its answers may come late: whatever the order, no
// window waits for the interval.
func TestPaceWithABrokerThatVaries(t *testing.T) {
	rng := testbed.Random(t)
	for range 200 {
		p := newPace(5 * time.Second)
		now, total := time.Second, time.Duration(0)
		for range 50 {
			n := []int{20, 20, 20, 21, 40, 57}[rng.IntN(6)]
			for left := n; left > 0; {
				k := min(left, 1+rng.IntN(20))
				p.took(k, k, 100*k, now)
				left -= k
				now += time.Duration(rng.IntN(500)) * time.Microsecond
			}
			began := now
			for {
				due, wait := p.due(now)
				if due {
					break
				}
				now += wait
			}
			total += now - began
			p.committed(true, now)
			now += time.Duration(rng.IntN(20_000)) * time.Microsecond
		}
		if total > 12*time.Second {
			t.Errorf("50 windows waited %v in all", total)
		}
	}
}

func TestPaceUnlearnsALimit(t *testing.T) {
	p := newPace(5 * time.Second)
	broker(p, 20, 1000, 0, time.Millisecond, 6*time.Millisecond, time.Second)
	if p.usual != 20 || p.proofs < enoughProofs {
		t.Fatalf("learned %d, seen %d times; want 20, at least 3", p.usual, p.proofs)
	}
	commits, _, _ := broker(p, 65535, 0, 20*time.Millisecond, time.Millisecond, 6*time.Millisecond, 10*time.Minute)
	if commits > 250 {
		t.Errorf("%d commits in ten minutes at an interval of 5 s after the limit was lifted", commits)
	}
}
