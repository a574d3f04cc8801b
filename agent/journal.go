package agent

import (
	"sort"

	"edgeagent/buffer"
	"edgeagent/window"
)

// A journal counts, per journal record of the store, how many of its readings are still remembered, so that records are
// pruned, or rewritten when few live readings pin many dead ones.
type journal struct {
	records     []record // ascending
	live, total int64
	compactAt   int64 // how many readings it must hold to be worth rewriting
}

type record struct {
	number      uint64
	live, total int64
}

// Records are rewritten when the journal holds this many readings and four times as many as are remembered.
const defaultCompactAt = 8192

// add counts one entry of a record, which is the newest.
func (j *journal) add(number uint64, kind buffer.EntryKind) {
	n := len(j.records)
	if n == 0 || j.records[n-1].number != number {
		j.records = append(j.records, record{number: number})
		n++
	}
	r := &j.records[n-1]
	r.total++
	j.total++
	if kind != buffer.BareTick {
		r.live++
		j.live++
	}
}

// release takes readings that are forgotten off their records.
func (j *journal) release(refs []window.Ref) {
	for _, ref := range refs {
		i := sort.Search(len(j.records), func(i int) bool { return j.records[i].number >= ref.Record })
		if i < len(j.records) && j.records[i].number == ref.Record {
			j.records[i].live -= ref.N
			j.live -= ref.N
		}
	}
}

// dead is the last record, before current, of the run of oldest records that hold nothing remembered; 0 if there is none.
func (j *journal) dead(current uint64) uint64 {
	var through uint64
	for _, r := range j.records {
		if r.live > 0 || r.number >= current {
			break
		}
		through = r.number
	}
	return through
}

// sparse is the last record of the longest run of oldest records, before current, that is worth rewriting; 0 if none is.
func (j *journal) sparse(current uint64) uint64 {
	if j.total < j.compactAt || j.total < 4*j.live {
		return 0
	}
	var through uint64
	var live, total int64
	for _, r := range j.records {
		if r.number >= current {
			break
		}
		live, total = live+r.live, total+r.total
		if total >= j.compactAt/2 && total >= 4*live {
			through = r.number
		}
	}
	return through
}

// drop removes the records up to through, which the store has pruned.
func (j *journal) drop(through uint64) {
	i := 0
	for ; i < len(j.records) && j.records[i].number <= through; i++ {
		j.total -= j.records[i].total
	}
	j.records = append(j.records[:0], j.records[i:]...)
}

// merge makes the records up to through one, which holds only what is live.
func (j *journal) merge(through uint64) {
	var live int64
	for _, r := range j.records {
		if r.number <= through {
			live += r.live
		}
	}
	j.drop(through)
	j.total += live
	if live > 0 {
		j.records = append([]record{{through, live, live}}, j.records...)
	}
}
