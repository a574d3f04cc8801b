package buffer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
)

// A wreck is one transaction of a damaged file as far as it can be read.
type wreck struct {
	*tree
	state    map[string][]byte // the state bucket
	counters counters
	known    bool  // counters could be read
	faults   int64 // in what decides about windows
	gaps     int64 // in points and rejected messages

	memory int64  // bytes of the journal that can be read
	holes  int64  // in the journal
	last   uint64 // record of it
	torn   int64  // faults in the packet memory
}

// lostState is what a lost state weighs against pages and records of the journal.
const lostState = 1 << 32

// readWrecks reads the transactions that a damaged file still holds, the newest first: those of the meta pages, and, if one of these is
// lost or they lead nowhere, whatever looks like a root.
func readWrecks(f *os.File) ([]*wreck, error) {
	metas, size, err := readMetas(f)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	file := &pageFile{r: f, pages: uint64(size) / pageSize}
	var list []*wreck
	for _, m := range metas {
		list = append(list, readWreck(file, m.root))
	}
	newestFirst := func(a, b *wreck) int { return cmp.Compare(b.counters.Commits, a.counters.Commits) }
	if len(metas) < 2 || !list[0].known && !list[1].known {
		strays := file.strays(list)
		slices.SortStableFunc(strays, newestFirst)
		list = append(list, strays[:min(len(strays), mostWrecks-len(list))]...) // a root that a meta page names stays, whatever is left of it
	}
	slices.SortStableFunc(list, newestFirst)
	for _, w := range list {
		w.survey()
	}
	slices.SortStableFunc(list, func(a, b *wreck) int {
		return cmp.Or(newestFirst(a, b), cmp.Compare(a.faults+a.gaps, b.faults+b.gaps))
	})
	return list, nil
}

// mostWrecks bounds how many old roots are looked at closely.
const mostWrecks = 4

// strays finds what looks like a root and is not in list, and whose counters can be read.
func (f *pageFile) strays(list []*wreck) (found []*wreck) {
	for id := uint64(2); id < f.pages; id++ {
		known := slices.ContainsFunc(list, func(w *wreck) bool { return w.root == id })
		if known || !f.isRoot(id) {
			continue
		}
		if w := readWreck(f, id); w.known {
			found = append(found, w)
		}
	}
	return found
}

// lostCommit reports whether a file of which one meta page is lost holds a whole commit after the one that the other meta page
// leads to. A cut within the write of the meta page leaves that too; then the commit was not acknowledged, and counts as done.
func lostCommit(f *os.File) bool {
	list, err := readWrecks(f)
	return err == nil && len(list) > 1 && list[0].counters.Commits > list[1].counters.Commits && list[0].faults+list[0].gaps == 0
}

// isRoot reports whether a page lists the buckets of a store, be it of an older schema.
func (f *pageFile) isRoot(id uint64) bool {
	n, _, err := f.node(id, 0)
	if err != nil || !n.leaf || n.count < firstBuckets {
		return false
	}
	for i := range n.count {
		if !n.isBucket(i) || !slices.Contains(buckets[:], string(n.key(i))) {
			return false
		}
	}
	return true
}

// readWreck reads the small state of one transaction.
func readWreck(f *pageFile, root uint64) *wreck {
	w := &wreck{state: make(map[string][]byte)}
	w.tree, _ = readTree(f, root, w.fault)
	_ = w.each(bucketState, func(k, v []byte) error {
		w.state[string(k)] = bytes.Clone(v)
		return nil
	}, w.fault)
	data, err := w.number(keyCounters)
	if err == nil {
		if w.counters, err = decodeCounters(data); err != nil {
			w.counters, err = upCounters(data)
		}
	}
	w.known = err == nil
	for _, name := range [...]string{keyState, keyHeld, keyAliases} {
		if _, err := w.blob(name); err != nil {
			w.faults += lostState
		}
	}
	if !w.known {
		w.faults += lostState
	}
	return w
}

// books reads the uplinks, once. What cannot be read of them is taken for an uplink that has done nothing.
func (w *wreck) books() books {
	each := func(fn func(k, v []byte) error) error {
		return w.each(bucketUplinks, fn, func(error) error { return nil })
	}
	return readUplinks(w.counters, each, func(uint16) int64 { return 0 }, func(string, error) {})
}

// survey reads the rest, to see how much of it is left.
func (w *wreck) survey() {
	for _, name := range [...]string{bucketMarks, bucketLate, bucketInputs} {
		_ = w.named(name, func(_, _ []byte) error { return nil }, w.fault)
	}
	_ = w.records(bucketPackets, func(uint64, []byte) error { return nil }, func(error) error { w.torn++; return nil })
	_ = w.records(bucketJournal, func(n uint64, data []byte) error {
		w.memory, w.last = w.memory+int64(len(data)), n
		return nil
	}, func(error) error { w.holes++; return nil })
	w.again()
	c := &w.counters
	if missing := w.missing(bucketJournal, c.Records, c.Bytes[inJournal]); w.known {
		w.holes += missing
	}
	w.faults += w.holes
	w.gaps = w.missing(bucketOutbox, c.Outbox, c.Bytes[inOutbox]) +
		w.missing(bucketParked, anyNumber, c.Bytes[inParked]) +
		w.missing(bucketRejected, c.Rejected, c.Bytes[inRejected])
	w.again()
	w.gaps += w.sideMissing()
	w.again()
}

// again makes the tree ready to be read once more.
func (w *wreck) again() { clear(w.seen) }

// anyNumber is for missing where the number of records is not counted.
const anyNumber = -1

// missing is 1 if a bucket does not hold what the counters say, 0 if it does.
func (w *wreck) missing(bucket string, records, bytes int64) int64 {
	last, found := uint64(math.MaxUint64), int64(0)
	_ = w.each(bucket, func(k, v []byte) error {
		if number(k) != last {
			found++
		}
		last = number(k)
		bytes -= cost(k, v)
		return nil
	}, func(error) error { return nil })
	if (records == anyNumber || records == found) && bytes == 0 {
		return 0
	}
	return 1
}

func (w *wreck) fault(error) error { w.faults++; return nil }

// number gives a sealed value of the state bucket.
func (w *wreck) number(key string) ([]byte, error) {
	v := w.state[key]
	if v == nil {
		return nil, errShort
	}
	return unseal([]byte(key), v)
}

func (w *wreck) blob(name string) ([]byte, error) {
	return joinBlob(func(k []byte) []byte { return w.state[string(k)] }, name)
}

// int64 gives a number of the state bucket, and whether it could be read.
func (w *wreck) int64(key string) (int64, bool) {
	data, err := w.number(key)
	if err != nil || len(data) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(data)), true
}

// named calls fn for each value of a bucket that passes its checksum.
func (w *wreck) named(bucket string, fn func(k, data []byte) error, fault func(error) error) error {
	return w.each(bucket, func(k, v []byte) error {
		data, err := unseal(k, v)
		if err != nil {
			return fault(err)
		}
		return fn(k, data)
	}, fault)
}

// records calls fn for each record of a bucket that passes its checksum.
func (w *wreck) records(bucket string, fn func(n uint64, data []byte) error, fault func(error) error) error {
	s := splitter{fn: func(n uint64, data []byte, bad error) error {
		if bad != nil {
			return fault(bad)
		}
		return fn(n, data)
	}}
	if err := w.each(bucket, s.add, fault); err != nil {
		return err
	}
	return s.end()
}
