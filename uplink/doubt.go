package uplink

import "slices"

// A doubt is a refusal that is not believed yet. Refused entries wait in doubted until the same server has taken any line after
// them, having been there all the time: another one behind the same name, or the same one before it was started again, may
// refuse every line (see wantsProof). And then the first of them is tried once more, and the last (see asks), since a server that was ill
// for a moment refused what it takes now; when they are refused again, they and those between are believed. What turns out to be
// refused by another server, or taken when it is tried once more, begins anew.
type doubt struct {
	Refused
	index int    // in entries
	peer  string // who refused; see batch.trouble
	long  bool   // it was called too long
}

// Which of the doubted entries is asked about.
const (
	askNone = iota
	askFirst
	askLast
)

// gone is the peer of doubts whose server was not there all the time since.
const gone = "gone"

// doubt notes that a refused the next entry, for reason.
func (b *batch) doubt(a *answer, reason string) {
	b.doubted = append(b.doubted, doubt{Refused{Seq: b.entries[b.next].Seq, Reason: reason}, b.next, a.peer, a.outcome == tooLarge})
	b.next++
	b.bad, b.lastBad = 0, b.next
}

// doubts reports whether the entry of that sequence number was refused.
func (b *batch) doubts(seq uint64) bool {
	return slices.ContainsFunc(b.doubted, func(d doubt) bool { return d.Seq == seq })
}

// proved notes that peer has taken e, in the batch or as a proof. It returns as took does; through is 0 if there is
// nothing to settle.
func (b *batch) proved(e Entry, peer string) (through uint64, parked []Refused) {
	if b.control == nil || e.Seq > b.control.Seq {
		b.control = &e
	}
	b.refusals, b.enough, b.probes, b.wary = 0, maxRefused, 0, false
	b.rewind(peer)
	if b.unsure() {
		b.asking = askFirst
		return 0, nil
	}
	return b.believe()
}

// unsure reports whether there are doubts that neither go on where others were believed nor were to be expected.
func (b *batch) unsure() bool {
	if len(b.doubted) == 0 || b.rewinds == maxRewinds {
		return false
	}
	first := b.doubted[0].index
	return (b.sure == 0 || first != b.sure) && !b.expected(first)
}

// believe ends all doubts and gives what took returns.
func (b *batch) believe() (through uint64, parked []Refused) {
	b.asking = askNone
	if b.next == b.told {
		return 0, nil
	}
	b.expect()
	for _, d := range b.doubted {
		parked = append(parked, d.Refused)
		b.sure = d.index + 1
	}
	b.doubted = nil
	b.told = b.next
	return b.entries[b.next-1].Seq, parked
}

// asks reports whether the suspect should be tried once more now.
func (b *batch) asks() bool { return b.asking != askNone }

// suspect is the first or the last doubted entry, and whether it was called too long.
func (b *batch) suspect() (e Entry, long bool) {
	d := b.doubted[0]
	if b.asking == askLast {
		d = b.doubted[len(b.doubted)-1]
	}
	return b.entries[d.index], d.long
}

// convicted notes that the suspect was refused again. It returns as took does.
func (b *batch) convicted() (through uint64, parked []Refused) {
	if b.asking == askFirst && len(b.doubted) > 1 {
		b.asking = askLast
		return 0, nil
	}
	return b.believe()
}

// acquitted notes that the suspect was taken, which was refused a moment ago. What was refused after the first is tried again,
// and the first if it was the suspect. It returns as took does.
func (b *batch) acquitted() (through uint64, parked []Refused) {
	kept := 0
	if b.asking == askLast {
		kept = 1
	}
	b.rewinds++
	b.next, b.bad, b.stride, b.hints, b.leap = b.doubted[kept].index, 0, 0, nil, nil
	b.doubted = b.doubted[:kept]
	return b.believe()
}

// rewind goes back to the first entry that was not refused by peer, if there is one. What the server has taken behind
// it is sent again, which changes nothing there.
func (b *batch) rewind(peer string) {
	i := slices.IndexFunc(b.doubted, func(d doubt) bool { return d.peer != peer })
	if i < 0 || b.rewinds == maxRewinds {
		return
	}
	b.rewinds++
	b.next, b.bad, b.stride, b.hints, b.leap = b.doubted[i].index, 0, loneStride, nil, nil
	b.doubted = b.doubted[:i]
}

// trouble notes that the server was not there for a moment. Another may have taken its place.
func (b *batch) trouble() {
	if b == nil {
		return
	}
	b.asking, b.leap = askNone, nil
	for i := range b.doubted {
		b.doubted[i].peer = gone
	}
}
