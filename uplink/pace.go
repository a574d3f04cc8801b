package uplink

import "time"

// A pace bounds how many bytes of lines one request carries, and how soon one follows another. Two bounds shrink a
// request: what the server called too large, which is remembered and tried to exceed only now and then, and what a slow
// link could not carry in time, which is forgotten as fast as it came. What a server that limits the rate refuses is
// paid for on a metered link all the same, so after such answers requests keep a distance.
type pace struct {
	full     int           // the configured bound, bytes
	limit    int           // what the server takes, as far as known
	slow     int           // what the link carries in time
	proven   int           // the largest body that was taken since limit last fell
	good     int           // requests near limit that were taken since it last changed
	patience int           // how many of those it takes before limit grows
	grown    bool          // limit grew since the server last found a body too large
	gap      time.Duration // between an answer and the next request
	minGap   time.Duration // where gap begins: a twentieth of RetryMin; it ends at twice RetryMin
	fed      bool          // the server took a request since it last asked for time
}

// Steps of a pace.
const (
	minPatience = 16
	maxPatience = 1024
	minSlow     = 4 << 10 // bytes; a slow link does not shrink a request below
	gapStep     = 32      // an accepted request shortens the gap by this part of it
)

func newPace(full int, retryMin time.Duration) pace {
	return pace{full: full, limit: full, slow: full, patience: minPatience, minGap: retryMin / 20}
}

// bytes is the most that the next request should carry; a single line may exceed it.
func (p *pace) bytes() int { return min(p.limit, p.slow) }

// tooLarge is called after the server refused a request of size bytes with several lines. The bound is halved, but not
// below what was taken before.
func (p *pace) tooLarge(size int) {
	size = min(size, p.limit)
	if p.proven >= size { // the server takes less than it did
		p.proven = 0
	}
	if p.grown {
		p.patience = min(2*p.patience, maxPatience)
	}
	p.limit = max(1, size/2, p.proven)
	p.good, p.grown = 0, false
}

// hopeless is called when the server takes nothing at all, however small: that says nothing about sizes.
func (p *pace) hopeless() { p.limit, p.proven, p.good, p.grown = p.full, 0, 0, false }

// timedOut halves after a request of size bytes was not answered in time.
func (p *pace) timedOut(size int) {
	p.slow = max(min(size, p.slow)/2, min(minSlow, p.full))
}

// busy is called when the server asked for time. Only one that took a request just before limits the rate; one that asks
// again and again is ill, and that is for the back-off.
func (p *pace) busy() {
	if p.fed {
		p.gap = min(max(2*p.gap, p.minGap), 40*p.minGap)
	}
	p.fed = false
}

// taken is called for every request of size bytes that the server took.
func (p *pace) taken(size int) {
	p.slow, p.fed = min(2*p.slow, p.full), true
	if p.gap -= p.gap / gapStep; p.gap < p.minGap/2 {
		p.gap = 0
	}
	p.proven = max(p.proven, min(size, p.limit))
	if p.limit == p.full || size < p.limit/2 {
		return
	}
	if p.good++; p.good < p.patience {
		return
	}
	p.good, p.grown = 0, true
	p.limit = min(p.limit+p.limit/4+1, p.full)
	if p.limit == p.full {
		p.patience = minPatience
	}
}
