package agent

import "time"

// Bounds of a batch: it is committed when it has this many messages or bytes, whatever the interval.
const (
	maxBatchMessages = 8192
	maxBatchBytes    = 4 << 20
)

// How the broker's in-flight limit is learned.
const (
	firstLimit   = 10                   // what is assumed before anything is known: the lowest default of common brokers
	shortestHush = 2 * time.Millisecond // a silence shorter than this tells nothing
	longestHush  = 2 * time.Second      // nor need one be longer than this
	fading       = 30 * time.Second     // in which a silence of the past loses most of its weight
	enoughProofs = 3                    // so often a broker must be seen to wait at a number before it is believed
	probeEvery   = 64                   // commits at a believed limit between two tests of whether it still holds
)

// A pace decides when to commit: when the oldest waiting message is an interval old, when the batch is full, or when the
// broker has fallen silent because its in-flight limit is reached. That limit no broker tells, some pass it now and then, and a
// site that publishes unevenly falls silent of itself. So a silence is asked only when it is twice as long as those that lately
// ended of themselves: then commit, acknowledge, and see whether the broker goes on at once. One that did so again and again at
// about the same number of unacknowledged messages is believed, and no silence is waited for any more. A broker that sends past
// that number has no such limit. All times are Moment.Up.
type pace struct {
	interval time.Duration

	messages int // in the batch
	bytes    int
	oldest   time.Duration // when the oldest of them came
	unacked  int           // QoS 1 messages taken on this connection and not acknowledged

	low     int           // from this many unacknowledged messages on a silence is asked
	usual   int           // at this many the broker was seen to wait; 0 for nowhere
	proofs  int           // how often in a row it waited there
	commits int           // since it was last tested whether it sends more than that
	last    time.Duration // when the newest message came
	freed   bool          // the silence that ends next may have been ended by us: by acknowledgements or a new connection
	longest time.Duration // silence of late that ended of itself
	gap     time.Duration // smoothed time between messages

	hushed  int           // unacked when a silent broker was last acknowledged; 0 if the last commit tells nothing
	hush    time.Duration // how long it had been silent
	ackedAt time.Duration
}

func newPace(interval time.Duration) *pace {
	return &pace{interval: interval, low: firstLimit, freed: true}
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
	if !p.freed {
		p.silence(now, n)
	}
	p.last, p.freed = now, false
	p.messages += n
	p.bytes += bytes
	p.unacked += qos1
	if p.usual > 0 && !p.believed() && p.unacked > p.band() {
		p.usual, p.proofs = 0, 0 // it sends past that
	}
}

// silence notes that the one before now has ended of itself, with n messages.
func (p *pace) silence(now time.Duration, n int) {
	quiet := min(now-p.last, longestHush/2)
	p.gap += (quiet/time.Duration(n) - p.gap) / 16
	p.longest = max(p.longest-p.longest*quiet/fading, quiet) // at most 1e18: both are a second or less
}

// learn judges, at the first message after a silent broker was acknowledged, whether it had been waiting for that: it went on far
// sooner than it had been silent.
func (p *pace) learn(now time.Duration) {
	if p.hushed == 0 {
		return
	}
	hushed, delay := p.hushed, now-p.ackedAt
	p.hushed = 0
	if 2*delay > p.hush+shortestHush {
		p.longest = max(p.longest, min(p.hush+delay, longestHush/2))
		if p.hush >= longestHush {
			p.low = max(2*hushed, p.low)
		}
		return
	}
	p.low = min(p.low, hushed)
	if p.usual == 0 || hushed > p.band() || p.usual > hushed+hushed/4+2 {
		p.usual, p.proofs = hushed, 1
		return
	}
	p.usual = min(p.usual, hushed)
	if p.proofs++; p.proofs > 1 {
		p.longest /= 4 // what seemed to end of itself was the broker, waiting
	}
}

// band is the most unacknowledged messages that still are about the usual number.
func (p *pace) band() int { return p.usual + p.usual/4 + 2 }

// believed reports whether the broker's limit is taken to be the usual number.
func (p *pace) believed() bool { return p.proofs >= enoughProofs && p.commits < probeEvery }

// quiet is how long a silence must be to be asked.
func (p *pace) quiet() time.Duration {
	if p.proofs >= enoughProofs { // a test: a broker that sends more does so soon
		return min(max(shortestHush, 8*p.gap), longestHush)
	}
	return min(max(shortestHush, 2*p.longest), longestHush)
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
	if p.believed() && p.unacked >= p.usual {
		return true, 0
	}
	if p.unacked < p.low {
		return false, wait
	}
	quiet := p.quiet()
	if now-p.last >= quiet {
		return true, 0
	}
	return false, min(wait, p.last+quiet-now)
}

// full reports whether the batch has reached its bounds.
func (p *pace) full() bool { return p.messages >= maxBatchMessages || p.bytes >= maxBatchBytes }

// committed ends the batch; its acknowledgements have been written at now if acked.
func (p *pace) committed(acked bool, now time.Duration) {
	if acked && p.unacked > 0 {
		p.freed = true
		if hush := now - p.last; hush >= p.quiet() && p.proofs < enoughProofs {
			p.hushed, p.hush, p.ackedAt = p.unacked, hush, now
		}
	}
	if p.commits++; p.commits > probeEvery {
		p.commits = 0
	}
	p.messages, p.bytes, p.unacked = 0, 0, 0
}

// connected starts a connection, on which nothing is in flight. Another broker may have another limit.
func (p *pace) connected() {
	p.unacked, p.hushed, p.low = 0, 0, firstLimit
	p.usual, p.proofs, p.freed = 0, 0, true
}
