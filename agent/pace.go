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
// broker has fallen silent because its in-flight limit is reached. That limit no broker tells, and some pass it now and
// then. So what is learned is low, the least number of unacknowledged messages at which a silent broker was seen to wait for
// them: it went on right after they were acknowledged. From low on a silence is asked: short at first; longer when an answer
// came too late to tell; and when a silence that was long enough ends in nothing, low was too low. All times are Moment.Up.
type pace struct {
	interval time.Duration

	messages int // in the batch
	bytes    int
	oldest   time.Duration // when the oldest of them came
	unacked  int           // QoS 1 messages taken on this connection and not acknowledged

	low      int           // from this many unacknowledged messages on the broker may be waiting
	usual    int           // at this many it was seen to wait the last time
	proven   bool          // it has been seen to wait at all
	sure     bool          // and was so the last time: at the usual number no silence needs to be waited for
	patience time.Duration // the least silence that tells something
	trip     time.Duration // how long a broker that waited takes to go on
	commits  int           // since it was last tested whether the broker sends more than that
	last     time.Duration
	gap      time.Duration // smoothed time between messages

	hushed  int           // unacked when a silent broker was last acknowledged; 0 if the last commit tells nothing
	hush    time.Duration // how long it had been silent
	ackedAt time.Duration
}

func newPace(interval time.Duration) *pace {
	return &pace{interval: interval, low: firstLimit}
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
	if p.sure && p.testing() && p.unacked >= p.usual {
		p.sure = false // it sends on past that
	}
	p.last = now
	p.messages += n
	p.bytes += bytes
	p.unacked += qos1
}

// testing reports whether it is time to see whether the broker sends more than low.
func (p *pace) testing() bool { return p.commits >= probeEvery }

// learn judges, at the first message after a silent broker was acknowledged, whether it had been waiting for that.
func (p *pace) learn(now time.Duration) {
	if p.hushed == 0 {
		return
	}
	hushed, delay := p.hushed, now-p.ackedAt
	p.hushed = 0
	if p.waited(delay) {
		p.low, p.usual = min(p.low, hushed), hushed
		p.proven, p.sure, p.patience = true, true, 0
		p.trip = max(delay, p.trip-p.trip/4)
		return
	}
	p.sure = false
	if enough := min(max(promptly, 5*delay), longestHush); p.hush < enough {
		p.patience = enough
		return
	}
	p.low, p.proven, p.patience = max(2*hushed, p.low), false, 0
}

// waited reports whether a broker that went on so long after it was acknowledged had been waiting for that: it went on far
// sooner than its silence had lasted, or about as soon as it did before.
func (p *pace) waited(delay time.Duration) bool {
	switch {
	case delay < promptly && 2*delay < p.hush+shortestHush:
		return true
	case delay < farthest && 4*delay < p.hush:
		return true
	}
	return p.proven && delay <= 2*p.trip+shortestHush
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
	if p.unacked < p.low {
		return false, wait
	}
	if p.sure && p.unacked >= p.usual && !p.testing() {
		return true, 0
	}
	quiet := min(max(shortestHush, 4*p.gap, p.patience), longestHush)
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
	if p.commits++; p.commits > probeEvery {
		p.commits = 0
	}
	p.messages, p.bytes, p.unacked = 0, 0, 0
}

// connected starts a connection, on which nothing is in flight. Another broker may have another limit.
func (p *pace) connected() {
	p.unacked, p.hushed = 0, 0
	p.proven, p.sure, p.patience = false, false, 0
}
