package buffer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// A migration brings a store from one schema to the next, within one transaction.
type migration func(tx *bolt.Tx) error

// migrations are by the schema that they start from. Whoever raises the constant schema adds the step here, and a test
// like those of migrate_test.go with a file that the older version made.
func migrations() map[uint64]migration { return map[uint64]migration{1: toSchema2} }

// formerMark is in the name under which the file of an older version is kept, so that an upgrade can be rolled back.
const formerMark = ".schema-"

// errOlder is an older schema, as readHeader finds it.
type errOlder uint64

func (e errOlder) Error() string {
	return fmt.Sprintf("%v: its schema is %d, that of this version %d; the next start of the agent brings it up", ErrOlderSchema, uint64(e), schema)
}

// Is makes it an ErrOlderSchema.
func (e errOlder) Is(target error) bool { return target == ErrOlderSchema }

// former is where the file of schema v is kept.
func (s *Store) former(v uint64) string { return s.path + formerMark + strconv.FormatUint(v, 10) }

// migrate puts a migrated copy in the place of a file of an older version, which it keeps, and attaches it. A cut leaves the old file in its
// place or the new one; where file systems have no links, perhaps only under the name that it is kept by, from where the next start takes it.
func (s *Store) migrate(from uint64, deadline time.Time) error {
	old, err := openBolt(s.path, &bolt.Options{ReadOnly: true, FreelistType: bolt.FreelistMapType, Timeout: max(time.Until(deadline), 2*lockPause)})
	if err != nil {
		return err
	}
	err = s.create(func(db *bolt.DB) error {
		if err := bolt.Compact(db, old, carryStep); err != nil {
			return err
		}
		return s.bringUp(db, from)
	}, func(temp string) error {
		if err := errors.Join(inspectFile(temp), old.Close()); err != nil {
			return err
		}
		return swap(temp, s.path, s.former(from), !s.o.NoSync)
	})
	if err := errors.Join(err, old.Close()); err != nil {
		return fmt.Errorf("migrate from schema %d: %w", from, err)
	}
	s.migrated = true
	s.o.Logger.Info("store: migrated; the former file is kept until the next clean start", "file", s.path, "from", from, "to", uint64(schema), "kept", s.former(from))
	return s.attach(deadline)
}

// bringUp runs the steps from one schema to the present one.
func (s *Store) bringUp(db *bolt.DB, from uint64) error {
	steps := s.o.migrations
	if steps == nil {
		steps = migrations()
	}
	return db.Update(func(tx *bolt.Tx) error {
		for v := from; v < schema; v++ {
			step := steps[v]
			if step == nil {
				return fmt.Errorf("no way is known from schema %d", v)
			}
			if err := step(tx); err != nil {
				return fmt.Errorf("from schema %d: %w", v, err)
			}
		}
		return putSealed(tx.Bucket([]byte(bucketState)), []byte(keySchema), numberKey(schema))
	})
}

// formers lists the files of older versions that are kept.
func (s *Store) formers() []string {
	list, _ := filepath.Glob(s.path + formerMark + "*") // the pattern is right
	return list
}

// dropFormers removes them after a clean start: whoever wants to go back has had the time.
func (s *Store) dropFormers(clean bool) error {
	if !clean || s.migrated || s.o.ByHand {
		return nil
	}
	for _, path := range s.formers() {
		if err := remove(path); err != nil {
			return fmt.Errorf("remove the file of the former version: %w", err)
		}
	}
	return nil
}

// returnFormer takes the file of the former version back that a cut has left without its successor.
func (s *Store) returnFormer() error {
	list := s.formers()
	if _, err := os.Stat(s.path); err == nil || len(list) == 0 {
		return nil
	}
	return rename(list[len(list)-1], s.path, !s.o.NoSync)
}

// wayBack adds to an error of a newer schema where the file from before the upgrade is.
func (s *Store) wayBack(err error) error {
	list := s.formers()
	if !errors.Is(err, ErrNewerSchema) || len(list) == 0 {
		return err
	}
	return fmt.Errorf("%w; from before the upgrade there is %s: moved in its place it undoes the upgrade, and what came since", err, strings.Join(list, ", "))
}
