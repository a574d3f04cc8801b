package buffer

import (
	"errors"
	"time"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// A carrier copies what is left of a damaged file into a new one, in several transactions so that memory stays small. Nobody
// sees the new file until it is whole.
type carrier struct {
	s    *Store
	db   *bolt.DB
	w    writer
	from []*wreck
	base *wreck // what is remembered comes from this one; nil if nothing can be read

	memory *wreck // the journal comes from this one
	final  int64  // the end of the last window of whose final point it is known that it was made, ns

	latest bool // the first of them is known to be the last transaction
	size   int  // bytes put since the transaction began
	end    time.Time
	sum    Salvage

	old      books                    // the uplinks as base had them
	replaced map[uint64]bool          // points that an update among those carried replaces: of an older transaction they are not taken
	taken    uint64                   // above the old numbers of all points carried
	source   []int                    // for each uplink of the new file its place among those of old; -1: it was not there
	resets   func(before int64) int64 // how often the new store was begun anew, from what the old one says; -1 if it says nothing
	renumber bool                     // points and messages get new numbers
}

// carryStep is how much is put in one transaction.
const carryStep = 1 << 20

// errEnough ends carrying: time is up or the new file has no more room.
var errEnough = errors.New("time or room is up")

func newCarrier(s *Store, db *bolt.DB, from []*wreck) *carrier {
	c := &carrier{s: s, db: db, from: from, latest: true, final: reading.NoTime, replaced: make(map[uint64]bool), end: time.Now().Add(salvageTime), w: writer{c: firstBooks(), lim: s.lim}}
	for _, w := range from {
		if c.base == nil || w.faults < c.base.faults {
			c.base = w
		}
		c.latest = c.latest && w.known
		if w.known {
			n := &c.w.c
			n.NextRecord = max(n.NextRecord, w.counters.NextRecord)
			n.NextSeq = max(n.NextSeq, w.counters.NextSeq)
			n.NextRaw = max(n.NextRaw, w.counters.NextRaw)
			n.Commits = max(n.Commits, w.counters.Commits)
		}
	}
	c.old = firstBooks()
	if c.base != nil {
		c.old = c.base.books()
	}
	c.memory = c.remembering()
	c.w.c.uplinks = nil
	for _, u := range c.old.uplinks {
		u.points, u.overtaken = PointCounts{}, nil
		c.w.c.uplinks = append(c.w.c.uplinks, u)
	}
	c.match()
	return c
}

// run fills a new file with everything, what matters most first.
func (c *carrier) run() error {
	if err := c.db.Update(c.s.layOut); err != nil {
		return err
	}
	err := c.carry()
	c.sum.Short = errors.Is(err, errEnough)
	if err != nil && !c.sum.Short {
		return err
	}
	c.sum.Whole = c.base != nil && c.base == c.from[0] && c.latest && c.base.faults == 0 && c.sum.State && !c.sum.Short
	return c.db.Update(func(tx *bolt.Tx) error {
		c.w.tx = tx
		return errors.Join(c.putBorn(), c.w.putCounters(c.s.floor.get()))
	})
}

// putBorn notes from when on the new store knows of windows, and how often it was begun anew.
func (c *carrier) putBorn() error {
	state := c.w.tx.Bucket([]byte(bucketState))
	born, before := c.s.floor.get(), int64(-1)
	if c.base != nil {
		v, ok := c.base.int64(keyBorn)
		switch {
		case c.sum.Whole && ok:
			born = v
		case ok:
			born = max(born, v, c.final)
		default:
			born = max(born, c.final)
		}
		if v, ok := c.base.int64(keyResets); ok {
			before = v
		}
	}
	n := c.resets(before)
	if !c.sum.Whole {
		if err := putSealed(state, []byte(keyPartial), nil); err != nil {
			return err
		}
	}
	return errors.Join(putSealed(state, []byte(keyBorn), numberKey(uint64(born))), putSealed(state, []byte(keyResets), numberKey(uint64(n))))
}

func (c *carrier) carry() (err error) {
	if c.base == nil {
		return nil
	}
	if err := c.begin(); err != nil {
		return err
	}
	for _, step := range [...]func() error{
		c.state,
		func() error { return c.named(bucketMarks) },
		func() error { return c.named(bucketLate) },
		func() error { return c.named(bucketInputs) },
		c.packets, c.journal, c.outbox, c.parked, c.rejected, c.side,
		func() error { return c.extra(bucketLags) },
	} {
		if err = step(); err != nil {
			break
		}
	}
	if err != nil && !errors.Is(err, errEnough) {
		return errors.Join(err, c.w.tx.Rollback())
	}
	return errors.Join(err, c.commit())
}

func (c *carrier) begin() error {
	tx, err := c.db.Begin(true)
	if err == nil {
		c.w.tx, c.size = tx, 0
	}
	return err
}

// commit ends the transaction, within the shares of the new file.
func (c *carrier) commit() error {
	err := errors.Join(c.w.evictToShare(), c.w.trimParked(), c.w.trimRejected(), c.w.trimSide(), c.w.putCounters(c.s.floor.get()))
	if err != nil {
		return errors.Join(err, c.w.tx.Rollback())
	}
	return c.w.tx.Commit()
}

// put puts one value and begins a new transaction now and then.
func (c *carrier) put(bucket string, k, v []byte) error {
	if err := c.w.bucket(bucket).Put(k, v); err != nil {
		return err
	}
	return c.step(len(k) + len(v))
}

func (c *carrier) step(size int) error {
	if c.size += size; c.size < carryStep {
		return nil
	}
	if time.Now().After(c.end) {
		return errEnough
	}
	if err := c.commit(); err != nil {
		return err
	}
	return c.begin()
}

// lost counts what cannot be read, and goes on.
func (c *carrier) lost(error) error { c.sum.Faults++; return nil }

func (c *carrier) state() error {
	state := c.w.tx.Bucket([]byte(bucketState))
	if line, err := c.base.number(keyLine); err == nil && len(line) > 0 {
		if err := putSealed(state, []byte(keyLine), line); err != nil {
			return err
		}
	}
	for _, name := range [...]string{keyState, keyHeld, keyAliases} {
		data, err := c.base.blob(name)
		if err != nil {
			_ = c.lost(err)
			continue
		}
		if err := putBlob(state, name, data); err != nil {
			return err
		}
		c.sum.State = c.sum.State || name == keyState && data != nil
	}
	return nil
}

func (c *carrier) named(bucket string) error {
	return c.base.named(bucket, func(k, data []byte) error {
		return c.put(bucket, append([]byte(nil), k...), seal(k, data))
	}, c.lost)
}

// extra carries named values that nothing rests on, and that an older schema did not have: what is lost of them is no fault.
func (c *carrier) extra(bucket string) error {
	if _, ok := c.base.buckets[bucket]; !ok {
		return nil
	}
	return c.base.named(bucket, func(k, data []byte) error {
		return c.put(bucket, append([]byte(nil), k...), seal(k, data))
	}, func(error) error { return nil })
}
