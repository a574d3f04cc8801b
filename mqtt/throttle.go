package mqtt

import "time"

// A throttle holds back lines that repeat.
type throttle struct {
	every time.Duration
	burst int // lines alike let through in each interval
	seen  map[string]*repeats
}

type repeats struct {
	since  time.Time
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
		r = &repeats{since: now}
		t.seen[what] = r
	}
	if now.Sub(r.since) >= t.every {
		r.since, r.passed = now, 0
	}
	if r.passed >= t.burst {
		r.held++
		return 0, false
	}
	r.passed++
	held, r.held = r.held, 0
	return held, true
}
