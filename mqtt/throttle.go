package mqtt

import "time"

// A throttle holds back lines that repeat. What goes on and on is told less and less often.
type throttle struct {
	every, most time.Duration // the interval at first, and the longest that it grows to by doubling
	burst       int           // lines alike let through in the first interval; in a grown one it is one
	seen        map[string]*repeats
}

type repeats struct {
	every  time.Duration // the present interval
	since  time.Time     // when it began
	last   time.Time     // when it was asked for last
	passed int
	held   int // since the last line let through
}

// throttleKeys bounds the memory for different lines.
const throttleKeys = 32

// allow reports whether a line may go out now, and how many alike were held back before it. what tells lines apart.
func (t *throttle) allow(now time.Time, what string) (held int, ok bool) {
	r := t.seen[what]
	if r == nil {
		if t.seen == nil || len(t.seen) >= throttleKeys {
			t.seen = make(map[string]*repeats)
		}
		r = &repeats{every: t.every, since: now, last: now}
		t.seen[what] = r
	}
	if now.Sub(r.since) >= r.every {
		goesOn := now.Sub(r.last) < 2*r.every
		r.every = min(2*r.every, t.most)
		if !goesOn {
			r.every = t.every
		}
		r.since, r.passed = now, 0
	}
	r.last = now
	if r.passed >= t.burst || r.passed > 0 && r.every > t.every {
		r.held++
		return 0, false
	}
	r.passed++
	held, r.held = r.held, 0
	return held, true
}

// reset forgets what was told: the next line of each kind is the first of something new.
func (t *throttle) reset() { clear(t.seen) }
