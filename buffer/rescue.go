package buffer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// Rescue carries over by hand what can be read in a file that was moved aside, into the store in o.Dir, which no other process may have
// open. An empty store takes all of it, as the start does with a damaged one. A store that has begun takes the points, refused points
// and rejected messages only: readings that it has by now would count twice. To rescue a file twice sends its points twice, which changes nothing
// at the server.
func Rescue(o Options, file string) (*Salvage, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("salvage: %w", err)
	}
	defer f.Close()
	if sameFile(file, Path(o.Dir)) {
		return nil, fmt.Errorf("salvage %s: it is the store itself", file)
	}
	o.rescue = f
	s, err := Open(o)
	if err != nil {
		return nil, err
	}
	return s.carried, s.Close()
}

// rescueInto carries over from another file. The caller holds the lock on the folder.
func (s *Store) rescueInto(deadline time.Time) error {
	wrecks, err := readWrecks(s.o.rescue)
	if err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	if len(wrecks) == 0 {
		return fmt.Errorf("salvage %s: nothing of a store can be read in it", s.o.rescue.Name())
	}
	fresh, err := s.empty(func([]byte) bool { return true })
	if err != nil {
		return fmt.Errorf("salvage: %w", err)
	}
	var c *carrier
	if fresh {
		err = s.replaceFile(func(db *bolt.DB) error {
			c = newCarrier(s, db, wrecks)
			c.resets = func(before int64) int64 { return max(before, s.resets) }
			return c.run()
		}, deadline)
	} else {
		c = newCarrier(s, s.db, wrecks)
		err = c.join(*s.cur.Load())
	}
	if err != nil {
		return fmt.Errorf("salvage %s: %w", s.o.rescue.Name(), err)
	}
	s.carried = &c.sum
	return nil
}

// join carries points and messages into a store that has begun, under numbers of that store.
func (c *carrier) join(into books) error {
	c.w.c, c.renumber = into, true
	c.w.c.uplinks = slices.Clone(into.uplinks)
	c.match()
	err := c.begin()
	if err != nil {
		return err
	}
	for _, step := range [...]func() error{c.outbox, c.parked, c.rejected} {
		if err = step(); err != nil {
			break
		}
	}
	c.sum.Short = errors.Is(err, errEnough)
	if err != nil && !c.sum.Short {
		return errors.Join(err, c.w.tx.Rollback())
	}
	if err := c.commit(); err != nil {
		return err
	}
	n := c.w.c
	c.s.cur.Store(&n)
	return nil
}
