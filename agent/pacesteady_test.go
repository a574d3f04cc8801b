package agent

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A site publishes messages: next is how long after one the next is published.
type site struct {
	name string
	next func(rng *rand.Rand, n int) time.Duration
}

// sites publish a thousand a second or less, none of them evenly.
var sites = []site{
	{"a thousand a second, each at random", func(rng *rand.Rand, _ int) time.Duration {
		return time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
	}},
	{"a thousand a second that the network holds up now and then", func(rng *rand.Rand, n int) time.Duration {
		if rng.IntN(200) == 0 {
			return time.Duration(5+rng.IntN(40)) * time.Millisecond
		}
		return time.Duration(rng.ExpFloat64() * float64(900*time.Microsecond))
	}},
	{"a thousand sensors, each once a second, all at once", func(rng *rand.Rand, n int) time.Duration {
		if n%1000 == 0 {
			return 900*time.Millisecond + time.Duration(rng.IntN(100))*time.Millisecond
		}
		return time.Duration(rng.IntN(60)) * time.Microsecond
	}},
	{"bursts of 1 to 60, ten a second", func(rng *rand.Rand, n int) time.Duration {
		if rng.IntN(30) == 0 {
			return time.Duration(20+rng.IntN(160)) * time.Millisecond
		}
		return time.Duration(rng.IntN(100)) * time.Microsecond
	}},
	{"fifty a second, each at random", func(rng *rand.Rand, _ int) time.Duration {
		return time.Duration(rng.ExpFloat64() * float64(20*time.Millisecond))
	}},
}

// play runs p against a site whose broker has at most limit messages in flight and is rtt away, and reports commits, messages,
// and how long in all the broker had messages waiting that it was not allowed to send.
func (s site) play(p *pace, rng *rand.Rand, limit int, rtt, end time.Duration) (commits, taken int, held time.Duration) {
	const sync = 6 * time.Millisecond
	var now, published time.Duration
	waiting, inFlight, made := 0, 0, 0
	for now < end {
		for published <= now {
			waiting++
			made++
			published += s.next(rng, made)
		}
		if n := min(waiting, limit-inFlight); n > 0 {
			waiting, inFlight, taken = waiting-n, inFlight+n, taken+n
			p.took(n, n, 100*n, now)
		}
		due, wait := p.due(now)
		if due {
			commits++
			now += sync
			p.committed(true, now)
			for published <= now+rtt { // what was published meanwhile comes in its turn
				waiting++
				made++
				published += s.next(rng, made)
			}
			inFlight = 0
			now += rtt
			continue
		}
		next := published
		if wait > 0 {
			next = min(next, now+wait)
		}
		if waiting > 0 && inFlight >= limit {
			held += next - now
		}
		now = max(next, now+10*time.Microsecond)
	}
	return commits, taken, held
}

// A site without a limit costs about a commit an interval, however unevenly it publishes: each wears the card.
func TestPaceAtASteadySite(t *testing.T) {
	for _, s := range sites {
		seed := rand.Uint64()
		for _, rtt := range []time.Duration{200 * time.Microsecond, 40 * time.Millisecond} {
			commits, taken, _ := s.play(newPace(5*time.Second), rand.New(rand.NewPCG(seed, 0)), 1<<20, rtt, 10*time.Minute)
			t.Logf("%s, %v away, seed %d: %d commits, %d messages in ten minutes", s.name, rtt, seed, commits, taken)
			if commits > 240 {
				t.Errorf("%s, %v away: %d commits in ten minutes, want at most 240", s.name, rtt, commits)
			}
		}
	}
}

// At a limit of 20 the same sites are not held up for long.
func TestPaceAtASteadySiteWithALimit(t *testing.T) {
	for _, s := range sites {
		seed := rand.Uint64()
		for _, rtt := range []time.Duration{200 * time.Microsecond, 40 * time.Millisecond} {
			commits, taken, held := s.play(newPace(5*time.Second), rand.New(rand.NewPCG(seed, 0)), 20, rtt, time.Minute)
			t.Logf("%s, %v away, seed %d: %d commits, %d messages, held %v in a minute", s.name, rtt, seed, commits, taken, held)
			if held > 2*time.Second {
				t.Errorf("%s, %v away: messages were held at the broker for %v, want at most 2 s of a minute", s.name, rtt, held)
			}
		}
	}
}

// A site that is silent for ten minutes and then has two hundred messages at once learns what the limit is in its first burst.
func TestPaceAtASiteThatIsSilentForLong(t *testing.T) {
	s := site{next: func(_ *rand.Rand, n int) time.Duration {
		if n%200 == 0 {
			return 10 * time.Minute
		}
		return 100 * time.Microsecond
	}}
	for _, rtt := range []time.Duration{200 * time.Microsecond, 40 * time.Millisecond} {
		_, taken, held := s.play(newPace(5*time.Second), rand.New(rand.NewPCG(1, 0)), 20, rtt, time.Hour)
		if taken < 6*200 || held > 10*time.Second {
			t.Errorf("%v away: %d messages in an hour, held %v; want 1200, at most 10 s", rtt, taken, held)
		}
	}
}
