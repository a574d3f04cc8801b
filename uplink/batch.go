package uplink

import (
	"math/rand/v2"
	"slices"
)

// A batch is peeked entries on their way to the server. It decides which of them go into the next request, and what an
// answer proves. It knows no server and no outbox.
//
// All of it goes out at once. If that is refused, the entries left of the first refused one are found by halving, left
// half first, so that what is known is always a prefix: entries[:next]. Behind a refused entry the rest is tried with
// 16, 128, 1024, … entries, and behind two neighbours with 1, 8, 64, …: a run of refused ones costs one request each,
// a lone one some ten. Of n entries with k refused ones that is O(k log n) requests.
//
// A refusal is not believed at once: doubt.go says what it takes. Entries that are refused for their age are found in fewer
// requests: leap.go.
type batch struct {
	entries []Entry
	next    int   // entries[:next] are stored at the server, or doubted
	told    int   // entries[:told] were given out for settlement
	bad     int   // if not 0, a refused entry is in entries[next:bad]
	stride  int   // how many entries to try next; 0 is all
	lastBad int   // index behind the last refused entry
	hints   []int // indexes of entries that the server named, ascending
	guessed bool  // hints are what to expect, not all of them named by the server: what lies between may be refused as well
	naive   bool  // one was wrong: no more hints
	doubted []doubt
	asking  int            // which of them is tried once more before any is believed
	sure    int            // index behind the last one that was believed; 0 if none was
	rewinds int            // how often doubted entries were tried again
	series  map[string]int // how many lines of each were refused and believed
	leap    *leap          // how far a run of old entries goes is being found out

	refusals int    // answers that refused, since the server last took a line
	enough   int    // refusals that ask for a proof, once an entry is refused
	wary     bool   // a proof is asked for at once
	probes   int    // lines tried as proof since then
	last     string // reason of the last of them
	control  *Entry // the newest line that the server has taken of this batch
}

// Bounds of the search.
const (
	loneStride = 16
	strideStep = 8
	maxRefused = 24 // refusals in a row until a proof is asked for, above what halving of any batch needs
	maxSamples = 6  // lines of the batch tried as proof after the newest and control
	maxRewinds = 3  // then refusals are believed as they come: servers by turns must not hold a poison line up for ever
)

// newBatch begins with entries. If wary, a proof is asked for before anything else is sent.
func newBatch(entries []Entry, wary bool) *batch {
	return &batch{entries: entries, enough: 1, wary: wary}
}

// done reports whether nothing is left to do. A nil batch is done.
func (b *batch) done() bool {
	return b == nil || b.next == len(b.entries) && len(b.doubted) == 0
}

// unknown reports whether the server has said nothing of the entries that are not settled.
func (b *batch) unknown() bool {
	return b == nil || b.told == b.next && b.bad == 0 && b.stride == 0 && len(b.doubted) == 0 && b.refusals == 0
}

// span chooses what to send next: entries[b.next:end], of at most maxBytes but at least one.
func (b *batch) span(maxBytes int) (end int) {
	end = len(b.entries)
	switch {
	case b.bad > 0:
		end = b.next + max(1, (b.bad-b.next)/2)
	case b.stride > 0:
		end = min(end, b.next+b.stride)
	}
	if i, named := slices.BinarySearch(b.hints, b.next); named {
		end = b.next + 1
	} else if i < len(b.hints) && (b.bad == 0 || b.hints[i] < b.bad) && (!b.guessed || b.hints[i] < end) {
		end = b.hints[i]
	}
	size := 0
	for i := b.next; i < end; i++ {
		if size += len(b.entries[i].Line) + 1; size > maxBytes && i > b.next {
			return i
		}
	}
	return end
}

// took notes that peer has stored the entries up to end. Now its refusals before are believed: it returns them, and the
// sequence number up to which all is settled.
func (b *batch) took(end int, peer string) (through uint64, parked []Refused) {
	if _, named := slices.BinarySearch(b.hints, b.next); named {
		b.hints, b.naive = nil, true
	}
	last := b.entries[end-1]
	b.next = end
	if b.bad <= end {
		b.bad = 0
	}
	b.stride *= strideStep
	return b.proved(last, peer)
}

// refused notes that a's peer refused the entries from next to end, for reason, which may say more than the server did.
func (b *batch) refused(end int, a *answer, reason string) {
	b.refusals++
	b.last = reason
	if end-b.next > 1 {
		b.bad = end
		b.hint(a.hints, end)
		return
	}
	neighbours := b.lastBad == b.next && b.next > 0
	b.doubt(a, reason)
	if neighbours {
		b.startLeap(a)
	}
	switch {
	case b.expected(b.next - 1): // and no reason to think worse of the rest
	case neighbours:
		b.stride = 1
	default:
		b.stride = loneStride
	}
}

// hint takes over the indexes that the server named in the refused entries up to end.
func (b *batch) hint(hints []int, end int) {
	if b.naive {
		return
	}
	kept := b.hints[:0]
	for _, h := range b.hints {
		if h >= end {
			kept = append(kept, h)
		}
	}
	for _, h := range hints {
		if h += b.next; h < end {
			kept = append(kept, h)
		}
	}
	b.guessed = b.guessed && len(hints) == 0
	slices.Sort(kept)
	b.hints = slices.Compact(kept)
}

// wantsProof reports whether a single line should be tried now: when an entry is refused before the server has taken
// any, after many refusals in a row, and when nothing but doubts is left. It is what tells a few bad lines from a
// server that takes none.
func (b *batch) wantsProof() bool {
	return b.wary || b.next == len(b.entries) || len(b.doubted) > 0 && b.refusals >= b.enough
}

// disproved notes that the server refused the line tried as proof.
func (b *batch) disproved(reason string) {
	b.refusals++
	b.probes++
	b.last = reason
}

// wantsNewest reports whether the outbox's newest line is the next to try, which is the first.
func (b *batch) wantsNewest() bool { return b.probes == 0 }

// sample chooses the line to try after the newest was no proof: the last one taken of this batch, then some of what is
// still unknown. It reports false when enough were tried. A line that is sent again is the same bytes, and it is the
// newest of its point that the server has, so it changes nothing there.
func (b *batch) sample() (Entry, bool) {
	switch n := len(b.entries) - b.next; {
	case b.control != nil && b.probes == 1:
		return *b.control, true
	case n < 2 || b.probes > min(maxSamples, n):
		return Entry{}, false
	default:
		return b.entries[b.next+rand.IntN(n-1)], true // the last one may be the outbox's newest
	}
}
