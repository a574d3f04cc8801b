package buffer

import (
	"errors"
	"fmt"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// A Rewind is a state set back by hand, and what goes with it, in one transaction.
type Rewind struct {
	State []byte // the agent's, whole
	Marks []Mark // those that change
	Late  []LateCount
	Drop  func(Entry) bool   // journalled readings that are taken back; nil none
	Park  func(Point) string // why a queued point is parked; "" leaves it; nil parks none
	Floor int64              // what F becomes, lower or higher, ns; reading.NoTime leaves it and Born
	Born  int64              // what Snapshot.Floor becomes if it is above
}

// Rewind commits r. F is on disk before the rest: after a cut in between F stands, or is restored by the next start from what the last
// commit noted of it, and r may be committed again. It reports how many points were parked.
func (s *Store) Rewind(r *Rewind) (parked int64, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if r.Floor != reading.NoTime {
		if err := s.floor.set(r.Floor); err != nil {
			return 0, fmt.Errorf("rewind %s: %w", s.path, err)
		}
	}
	err = s.write(func(w *writer) error {
		b := Batch{State: r.State, Marks: r.Marks, Late: r.Late}
		if err := errors.Join(w.putBlobs(&b), w.putMarks(&b), w.putLate(&b), w.dropEntries(r.Drop)); err != nil {
			return err
		}
		if r.Floor != reading.NoTime {
			if err := w.lowerBorn(r.Born); err != nil {
				return err
			}
		}
		parked, err = w.parkQueued(r.Park)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("rewind %s: %w", s.path, err)
	}
	return parked, nil
}

// Floor is F, ns; reading.NoTime while nothing was offered to an uplink.
func (s *Store) Floor() int64 { return s.floor.get() }

// EachWaiting calls fn with every queued and parked point, without offering them to anyone. An error of fn ends the walk.
func (s *Store) EachWaiting(fn func(p Point, parked bool) error) error {
	return s.view(func(tx *bolt.Tx) error {
		err := tx.Bucket([]byte(bucketOutbox)).ForEach(func(k, v []byte) error {
			if p, ok := s.point(k, v); ok {
				return fn(p, false)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return tx.Bucket([]byte(bucketParked)).ForEach(func(k, v []byte) error {
			if p, err := parkedPoint(k, v); err == nil {
				return fn(p, true)
			}
			return nil
		})
	})
}

// lowerBorn keeps the store from claiming a floor of its beginning above the one that is set.
func (w *writer) lowerBorn(floor int64) error {
	state := w.tx.Bucket([]byte(bucketState))
	born, err := getSealed(state, keyBorn)
	if err != nil || len(born) != 8 || int64(number(born)) <= floor {
		return err
	}
	return putSealed(state, []byte(keyBorn), numberKey(uint64(floor)))
}

// dropEntries rewrites the journal records that hold entries to be taken back. Their ticks stay.
func (w *writer) dropEntries(drop func(Entry) bool) error {
	if drop == nil {
		return nil
	}
	var bad []badRecord
	rewrite := make(map[uint64][]Entry)
	err := eachEntries(w.bucket(bucketJournal), ^uint64(0), &bad, func(n uint64, entries []Entry) error {
		f, gone := keeper{keep: func(e Entry) bool { return !drop(e) }}, false
		for _, e := range entries {
			gone = gone || e.Kind != BareTick && drop(e)
			f.add(e)
		}
		if gone {
			rewrite[n] = f.kept
		}
		return nil
	})
	if err != nil {
		return err
	}
	for n, kept := range rewrite {
		if err := w.rewriteEntries(n, kept); err != nil {
			return fmt.Errorf("rewrite journal record %d: %w", n, err)
		}
	}
	return nil
}

func (w *writer) rewriteEntries(n uint64, kept []Entry) error {
	size, err := dropRecord(w.bucket(bucketJournal), n)
	if err != nil {
		return err
	}
	w.c.Records--
	w.c.Bytes[inJournal] -= size
	if len(kept) == 0 {
		return nil
	}
	return w.putEntries(n, kept)
}

// parkQueued parks the queued points for which why gives a reason.
func (w *writer) parkQueued(why func(Point) string) (n int64, err error) {
	if why == nil {
		return 0, nil
	}
	var list []Parked
	outbox := w.bucket(bucketOutbox)
	_ = outbox.ForEach(func(k, v []byte) error {
		data, err := unseal(k, v)
		if err != nil {
			return nil
		}
		p, err := decodePoint(number(k), data)
		if err != nil {
			return nil
		}
		if reason := why(p); reason != "" {
			list = append(list, Parked{Seq: p.Seq, Reason: reason, Time: w.now})
		}
		return nil
	})
	for i := range list {
		if err := w.parkOne(outbox, &list[i]); err != nil {
			return n, err
		}
		n++
	}
	return n, w.trimParked()
}

// parkOne parks a queued point for every uplink for which it waits.
func (w *writer) parkOne(outbox *bolt.Bucket, p *Parked) error {
	k := numberKey(p.Seq)
	data, err := unseal(k, outbox.Get(k))
	if err != nil {
		return err
	}
	for u := range w.c.uplinks {
		if !w.waits(u, p.Seq) {
			continue
		}
		w.c.points(u).Queued--
		if err := w.putParked(u, p.Seq, p, data); err != nil {
			return err
		}
	}
	return w.unqueue(outbox, k)
}

// set makes F value, lower or higher, on disk before it returns.
func (f *floorFile) set(value int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if value == f.value {
		return nil
	}
	if err := f.write(value); err != nil {
		return fmt.Errorf("set floor %s: %w", f.path, classify(err))
	}
	f.value = value
	return nil
}
