package agent

import "time"

// Bounds of a batch: it is committed when it has this many messages or bytes, whatever the interval.
const (
	maxBatchMessages = 8192
	maxBatchBytes    = 4 << 20
)

// How the broker's in-flight limit is learned.
const (
	firstLimit   = 10                    // what is assumed before anything is known: the lowest default of common brokers
	shortestHush = 2 * time.Millisecond  // a silence shorter than this tells nothing
	longestHush  = time.Second           // nor need one be longer than this
	promptly     = 50 * time.Millisecond // a near broker that waited for an acknowledgement goes on within this
	farthest     = 2 * time.Second       // and the farthest within this
	probeEvery   = 64                    // commits at a known limit between two tests of whether it still holds
)

// A pace decides when to commit: when the oldest waiting message is an interval old, when the batch is full, or when the
// broker has fallen silent because its in-flight limit is reached. That limit no broker tells. It is learned: a broker that
// is silent at n unacknowledged messages and goes on right after they are acknowledged has a limit of n; one that sends
// another message at n, or does not go on, has a higher one or just nothing to send. All times are Moment.Up.
type pace struct {
	interval time.Duration

	messages int // in the batch
	bytes    int
	oldest   time.Duration // when the oldest of them came
	unacked  int           // QoS 1 messages taken on this connection and not acknowledged

	limit   int           // believed in-flight limit
	sure    bool          // it has been seen to hold
	proven  int           // the last limit seen to hold; 0 none. A broker may pass its limit once and keep it afterwards
	trip    time.Duration // how long the broker took then to go on
	doubt   int           // where the broker was silent and did not go on promptly: perhaps only the answer was slow; 0 none
	slow    time.Duration // how slow
	commits int           // at the limit since it was last tested
	last    time.Duration
	gap     time.Duration // smoothed time between messages

	hushed  int           // unacked when a silent broker was last acknowledged; 0 if the last commit tells nothing
	hush    time.Duration // how long it had been silent
	ackedAt time.Duration
}

func newPace(interval time.Duration) *pace {
	return &pace{interval: interval, limit: firstLimit}
}

// took notes n messages of size bytes together that came by now, of which qos1 want an acknowledgement.
func (p *pace) took(n, qos1, bytes int, now time.Duration) {
	if n == 0 {
		return
	}
	p.learn(now)
	if p.messages == 0 {
		p.oldest = now
	}
	if gap := (now - p.last) / time.Duration(n); gap < time.Second {
		p.gap += (gap - p.gap) / 8
	}
	p.last = now
	p.messages += n
	p.bytes += bytes
	p.unacked += qos1
	if p.unacked > p.limit {
		p.limit, p.sure = p.unacked, false
	}
}

// learn judges, at the first message after a silent broker was acknowledged, whether it had been waiting for that.
func (p *pace) learn(now time.Duration) {
	if p.hushed == 0 {
		return
	}
	hushed, delay := p.hushed, now-p.ackedAt
	p.hushed = 0
	if p.waited(hushed, delay) {
		p.limit, p.proven, p.doubt, p.sure, p.trip = hushed, hushed, 0, true, delay
		return
	}
	if p.doubt == 0 || hushed < p.doubt {
		p.doubt, p.slow = hushed, delay
	} else {
		p.doubt = 0 // asked twice
	}
	if hushed >= p.limit {
		p.limit, p.sure = 2*hushed, false
	}
	if hushed >= p.proven {
		p.proven = 0
	}
}

// waited reports whether a broker that was acknowledged after falling silent at hushed messages, and went on after delay,
// had been waiting for that: it went on far sooner than its silence had lasted, or about as soon as before at this limit.
func (p *pace) waited(hushed int, delay time.Duration) bool {
	switch {
	case delay < promptly && 2*delay < p.hush+shortestHush:
		return true
	case delay < farthest && 4*delay < p.hush:
		return true
	}
	return hushed == p.proven && delay <= 2*p.trip+shortestHush
}

// due reports whether to commit at now, when nothing more is queued, and else when to ask again; 0 for not before
// something comes.
func (p *pace) due(now time.Duration) (bool, time.Duration) {
	if p.messages == 0 {
		return false, 0
	}
	if p.full() || now-p.oldest >= p.interval {
		return true, 0
	}
	wait := p.oldest + p.interval - now
	if p.sure && p.unacked >= p.limit && p.commits < probeEvery {
		return true, 0
	}
	quiet := min(max(shortestHush, 4*p.gap), longestHush)
	switch {
	case p.unacked >= p.limit, p.proven > 0 && p.unacked >= p.proven:
	case p.doubt > 0 && p.unacked >= p.doubt:
		quiet = max(quiet, promptly, min(5*p.slow, longestHush)) // long enough to tell
	default:
		return false, wait
	}
	if now-p.last >= quiet {
		return true, 0
	}
	return false, min(wait, p.last+quiet-now)
}

// full reports whether the batch has reached its bounds.
func (p *pace) full() bool { return p.messages >= maxBatchMessages || p.bytes >= maxBatchBytes }

// committed ends the batch; its acknowledgements have been written at now if acked.
func (p *pace) committed(acked bool, now time.Duration) {
	if acked && p.unacked > 0 && !p.full() {
		p.hushed, p.hush, p.ackedAt = p.unacked, now-p.last, now
	}
	p.commits++
	if p.commits > probeEvery {
		p.commits = 0
	}
	p.messages, p.bytes, p.unacked = 0, 0, 0
}

// connected starts a connection, on which nothing is in flight. Another broker may have another limit.
func (p *pace) connected() {
	p.unacked, p.hushed, p.sure, p.proven, p.doubt = 0, 0, false, 0, 0
}
