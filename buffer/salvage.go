package buffer

import (
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A Salvage is what was saved from a damaged file. Everything is as the file had it, but that points count as carried. What is
// remembered beside points and readings comes from one transaction, the last or the one before it.
//
// Whole says that all which decides about windows was saved, from the last transaction: state, journal, marks and late counts. Then the new
// store goes on as the old one would have. Otherwise its floor is F, or the end of the last window whose final point was carried over although
// the saved state may not know of it, so that no window which has a true point is put out again
// from what is left of its readings. Without State the journal is all that is known of M.
type Salvage struct {
	Points   int64 `json:"points"`   // of the outbox
	Parked   int64 `json:"parked"`   // refused points
	Records  int64 `json:"records"`  // of the journal
	Readings int64 `json:"readings"` // in them
	Rejected int64 `json:"rejected"` // messages
	Late     int64 `json:"late"`     // readings of the side output
	State    bool  `json:"state"`    // the agent's state was saved
	Whole    bool  `json:"whole"`    // see above
	Short    bool  `json:"short"`    // time or room ended it early
	Faults   int64 `json:"faults"`   // pages and records that could not be read
}

// salvageTime bounds what a start spends on carrying over; the rest stays in the file moved aside. It is more than the ten
// seconds of other starts, since nobody may be there to carry the rest over by hand.
const salvageTime = time.Minute

// replaceDamaged puts a fresh file, with what can be saved, in the place of a damaged one.
func (s *Store) replaceDamaged(found error, deadline time.Time) error {
	aside, n, err := nameAside(s.path, s.o)
	if err != nil {
		return fmt.Errorf("move damaged store aside: %w", err)
	}
	place := func(temp string) error { return swap(temp, s.path, aside, !s.o.NoSync) }
	sum, cause := s.saveInto(n, place)
	if errors.Is(classify(cause), ErrFull) { // the older ones are worth less than what is in this one
		if err := dropAsides(s.path, 0); err != nil {
			return fmt.Errorf("make room for a new store: %w", err)
		}
		sum, cause = s.saveInto(n, place)
	}
	if cause != nil {
		sum = &Salvage{Faults: 1}
		if err := s.create(func(db *bolt.DB) error { return db.Update(s.layOutAgain(n)) }, place); err != nil {
			return fmt.Errorf("make it anew: %w", err)
		}
	}
	if err := dropAsides(s.path, keepDamaged); err != nil {
		return err
	}
	said := []any{"file", s.path, "moved_to", aside, "error", found,
		"points", sum.Points + sum.Parked, "readings", sum.Readings, "state", sum.State, "whole", sum.Whole}
	if cause != nil {
		said = append(said, "lost", cause)
	} else if sum.Short {
		said = append(said, "lost", errEnough)
	}
	s.o.Logger.Error("store is damaged; moved aside, a new one goes on with what could be saved", said...)
	s.fresh, s.carried = true, sum
	return s.attach(deadline)
}

// saveInto makes a new file with what can be saved.
func (s *Store) saveInto(resets int, place func(string) error) (sum *Salvage, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	wrecks, err := readWrecks(f)
	if err != nil {
		return nil, err
	}
	var c *carrier
	err = s.create(func(db *bolt.DB) error {
		c = newCarrier(s, db, wrecks)
		c.resets = func(before int64) int64 {
			if before < 0 {
				return int64(resets)
			}
			return before + 1
		}
		return c.run()
	}, place)
	if err != nil {
		return nil, err
	}
	return &c.sum, nil
}

// layOutAgain is layOut for a store that takes the place of a damaged one.
func (s *Store) layOutAgain(resets int) func(tx *bolt.Tx) error {
	return func(tx *bolt.Tx) error {
		if err := s.layOut(tx); err != nil {
			return err
		}
		return putSealed(tx.Bucket([]byte(bucketState)), []byte(keyResets), numberKey(uint64(resets)))
	}
}
