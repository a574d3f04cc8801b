package uplink

import (
	"bytes"
	"strconv"
)

// A leap finds out how far a run of entries that are refused for their age goes. After an outage longer than the server keeps points
// there may be tens of thousands of them before the first that it takes, and one request for each would hold the rest up for
// hours. But what is refused for its age is so by its time alone: of two lines that were each refused so when they were sent
// alone, all with times between theirs would be too. So single lines further and further ahead are tried until one is taken,
// and then the edge is found by halving. Nothing is concluded from what the server says of more than one line.
type leap struct {
	peer      string
	low, high int64 // times, ns, of what was refused
	step      int   // how far to go next, until an entry was taken
	taken     int   // index of the first entry that was taken; beyond the last if none was
}

// startLeap begins at the entry before next, which a refused, if it is refused for its age.
func (b *batch) startLeap(a *answer) {
	if at, ok := stampOf(b.entries[b.next-1].Line); ok && a.tooOld() {
		b.leap = &leap{peer: a.peer, low: at, high: at, step: 2, taken: len(b.entries)}
	}
}

// leapsTo gives the index of the entry to try alone; false if no leap is due.
func (b *batch) leapsTo() (int, bool) {
	l := b.leap
	if l == nil || b.next >= l.taken {
		b.leap = nil
		return 0, false
	}
	if l.taken < len(b.entries) {
		return b.next + (l.taken-b.next)/2, true
	}
	return min(b.next-1+l.step, len(b.entries)-1), true
}

// landed notes that peer has taken entry i. It returns as took does.
func (b *batch) landed(i int, peer string) (through uint64, parked []Refused) {
	b.leap.taken = i
	b.stride = loneStride
	return b.proved(b.entries[i], peer)
}

// fell notes that entry i was refused: what lies before it within the times that are known to be refused is doubted with it.
func (b *batch) fell(i int, a *answer) {
	b.refusals++
	b.last = a.reason
	l := b.leap
	at, ok := stampOf(b.entries[i].Line)
	if !ok || !a.tooOld() || a.peer != l.peer {
		b.leap = nil
		return
	}
	l.low, l.high, l.step = min(l.low, at), max(l.high, at), 2*l.step
	for b.next <= i {
		at, ok := stampOf(b.entries[b.next].Line)
		if !ok || at < l.low || at > l.high {
			b.leap = nil
			return
		}
		b.doubt(a, a.reason)
	}
}

// stampOf is the time at the end of a line.
func stampOf(line []byte) (ns int64, ok bool) {
	ns, err := strconv.ParseInt(string(line[bytes.LastIndexByte(line, ' ')+1:]), 10, 64)
	return ns, err == nil
}
