package buffer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// An Examination is what Examine has seen of a store in use.
type Examination struct {
	Pages   int64         // read
	Records int64         // whose checksum was tried, the small state not counted
	Bad     int64         // of these, damaged; the agent moves them to quarantine when it meets them
	Held    time.Duration // how long pages that commits freed could not be used again
}

// Examine checks the store as of its last commit, beside Commit and Peek: the tree, the checksum of every record, the counters against what is
// there, and the points identity. It reads with plain reads, so damage cannot end the process, and it changes nothing. Commits go on, but until it ends the
// pages that they free are not used again: the file may grow by what they write meanwhile, up to its cap.
//
// The error is ErrDamaged with up to 20 faults; that of ctx if it was called off; or why the file cannot be read.
func (s *Store) Examine(ctx context.Context) (Examination, error) {
	began := time.Now()
	x := examiner{ctx: ctx, uplinks: make(map[string][]byte)}
	err := s.view(func(tx *bolt.Tx) error {
		f, err := os.Open(s.path)
		if err != nil {
			return err
		}
		defer f.Close()
		x.file(&pageFile{r: f, pages: uint64(tx.Size()) / pageSize}, uint64(tx.Cursor().Bucket().Root()))
		return ctx.Err()
	})
	x.sum.Held = time.Since(began)
	if err == nil && len(x.faults) > 0 {
		err = fmt.Errorf("%w: %w", ErrDamaged, errors.Join(x.faults...))
	}
	if err != nil {
		return x.sum, fmt.Errorf("check %s: %w", s.path, err)
	}
	return x.sum, nil
}

// An examiner reads one transaction of a file.
type examiner struct {
	ctx     context.Context // of the one call of Examine
	faults  []error
	uplinks map[string][]byte // their records
	audit   *auditor          // nil before the small state is read, or if it cannot be
	sum     Examination
}

func (x *examiner) file(f *pageFile, root uint64) {
	w := &wreck{state: make(map[string][]byte)}
	w.tree, _ = readTree(f, root, x.fault)
	rest := slices.DeleteFunc(slices.Clone(buckets[:]), func(name string) bool { return name == bucketState || name == bucketUplinks })
	if x.bucket(w, bucketState) != nil || x.bucket(w, bucketUplinks) != nil {
		return // it was called off
	}
	if err := x.smallState(w); err != nil {
		_ = x.fault(fmt.Errorf("small state: %w", err))
	}
	if _, ok := w.buckets[bucketTrace]; ok {
		rest = append(rest, bucketTrace)
	}
	for _, name := range rest {
		if err := x.bucket(w, name); err != nil {
			return
		}
	}
	for _, word := range w.seen {
		for ; word != 0; word &= word - 1 {
			x.sum.Pages++
		}
	}
	if x.audit == nil {
		return
	}
	for _, fault := range x.audit.faults() {
		_ = x.fault(fault)
	}
}

// smallState reads the counters and the uplinks, which the rest is compared with.
func (x *examiner) smallState(w *wreck) error {
	data, err := w.number(keyCounters)
	if err != nil {
		return err
	}
	if w.counters, err = decodeCounters(data); err != nil {
		return err
	}
	for _, name := range [...]string{keyState, keyHeld, keyAliases} {
		if _, err := w.blob(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	x.audit = newAuditor(w.counters, func(fn func(k, v []byte) error) error {
		for _, name := range slices.Sorted(maps.Keys(x.uplinks)) {
			_ = fn([]byte(name), x.uplinks[name])
		}
		return nil
	})
	return nil
}

// bucket reads all of a bucket and tries its checksums. Its error is that it was called off.
func (x *examiner) bucket(w *wreck, name string) error {
	s := splitter{fn: func(_ uint64, _ []byte, bad error) error { x.record(bad); return nil }}
	inParts := slices.Contains([]string{bucketJournal, bucketPackets, bucketRejected, bucketBad, bucketSide, bucketTrace}, name)
	err := w.each(name, func(k, v []byte) error {
		if x.audit != nil {
			x.audit.add(name, k, v)
		}
		switch {
		case name == bucketState:
			w.state[string(k)] = slices.Clone(v)
		case inParts:
			return errors.Join(x.ctx.Err(), s.add(k, v))
		default:
			if name == bucketUplinks {
				x.uplinks[string(k)] = slices.Clone(v)
			}
			_, bad := unseal(k, v)
			x.record(bad)
		}
		return x.ctx.Err()
	}, x.fault)
	return errors.Join(err, s.end())
}

func (x *examiner) record(bad error) {
	x.sum.Records++
	if bad != nil {
		x.sum.Bad++
	}
}

// fault notes what is wrong and has the reading go on.
func (x *examiner) fault(err error) error {
	if len(x.faults) < maxFaults {
		x.faults = append(x.faults, err)
	}
	return x.ctx.Err()
}
