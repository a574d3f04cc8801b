package uplink

import "time"

// Bounds of what is logged of parked points.
const (
	parksQuiet = time.Hour // without one, after which they are told one by one again
	maxTold    = 10        // points that are told one by one
)

// parks are how much has been logged of parked points. Thousands may be parked in a minute, and one sensor whose type conflicts has one
// parked with every window: the first are told one by one, further ones are summed up, first often and then seldom.
type parks struct {
	told int           // one by one
	held int64         // not told yet
	last time.Time     // when one was parked
	sum  time.Time     // when they were last summed up
	wait time.Duration // until they may be again
}

// parked is told which points were parked just now.
func (b *board) parked(points []Refused) {
	if len(points) == 0 {
		return
	}
	b.mu.Lock()
	told, more := b.parks.note(len(points), b.now())
	b.mu.Unlock()
	for _, p := range points[:told] {
		b.log.Warn("point parked", "seq", p.Seq, "reason", p.Reason, "to", b.where)
	}
	if more > 0 {
		b.log.Warn("more points parked", "points", more, "reason", points[len(points)-1].Reason, "to", b.where)
	}
}

// note takes n more points into the books. It gives how many of them are told one by one, and the number to sum up; 0 is none.
func (p *parks) note(n int, now time.Time) (told int, more int64) {
	if now.Sub(p.last) >= parksQuiet {
		p.told, p.wait = 0, 0
	}
	p.last = now
	told = min(n, maxTold-p.told)
	p.told += told
	p.held += int64(n - told)
	if p.held == 0 || now.Sub(p.sum) < p.wait {
		return told, 0
	}
	more, p.held, p.sum = p.held, 0, now
	p.wait = min(max(2*p.wait, repeatAfter), repeatMost)
	return told, more
}
