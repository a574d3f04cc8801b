package buffer

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// invented is a schema before this one, in which the state is named "before".
const invented = schema - 1

// older makes the store in o.Dir one of the invented schema.
func older(t *testing.T, o Options) {
	t.Helper()
	db, err := bolt.Open(Path(o.Dir), 0o600, o.bolt(day, 0))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketState))
		state, err := getBlob(b, keyState)
		return errors.Join(err, putBlob(b, "before", state), putBlob(b, keyState, nil), putSealed(b, []byte(keySchema), numberKey(invented)))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func withSteps(o Options) Options {
	o.migrations = map[uint64]migration{invented: func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketState))
		state, err := getBlob(b, "before")
		return errors.Join(err, putBlob(b, keyState, state), putBlob(b, "before", nil))
	}}
	return o
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// An upgrade works on a copy; the former file is there until the agent has stopped in order and started again.
func TestMigrate(t *testing.T) {
	o := ring(options(t.TempDir()))
	s := full(t, o)
	want := content(t, s)
	closeChecked(t, s)
	older(t, o)
	kept := Path(o.Dir) + formerMark + strconv.Itoa(invented)

	if _, err := OpenReadOnly(withSteps(o)); err == nil || !strings.Contains(err.Error(), "older version") {
		t.Errorf("to look at it: %v", err)
	}
	s = open(t, withSteps(o))
	if got := content(t, s); got != want {
		t.Errorf("migrated\n%s\nwant\n%s", got, want)
	}
	if !exists(kept) {
		t.Error("the former file is not kept")
	}
	if err := s.db.Close(); err != nil { // as a kill does: not clean
		t.Fatal(err)
	}
	closeChecked(t, open(t, withSteps(o)))
	if !exists(kept) {
		t.Error("the former file is gone after an unclean start")
	}
	byHand := withSteps(o)
	byHand.ByHand = true
	for range 2 {
		closeChecked(t, open(t, byHand))
	}
	if !exists(kept) {
		t.Error("the former file is gone after commands, before the agent has started again")
	}
	closeChecked(t, open(t, withSteps(o)))
	if exists(kept) {
		t.Error("the former file is still there after a clean start")
	}
}

// Commands after an upgrade, be they the first to open the store, do not cost the way back: the agent has to have run.
func TestFormerOutlastsCommands(t *testing.T) {
	o := ring(options(t.TempDir()))
	closeChecked(t, full(t, o))
	older(t, o)
	kept := Path(o.Dir) + formerMark + strconv.Itoa(invented)
	byHand := withSteps(o)
	byHand.ByHand = true
	for range 3 {
		closeChecked(t, open(t, byHand))
	}
	closeChecked(t, open(t, withSteps(o)))
	if !exists(kept) {
		t.Error("the former file is gone at the agent's first start")
	}
	closeChecked(t, open(t, withSteps(o)))
	if exists(kept) {
		t.Error("the former file is still there at the agent's second start")
	}
}

// A roll-back: the older program is told where its file is, and goes on with it.
func TestRollBack(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("x")})
	closeChecked(t, s)
	if err := os.WriteFile(Path(o.Dir)+formerMark+"1", []byte("of this version"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(Path(o.Dir), 0o600, o.bolt(day, 0))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return putSealed(tx.Bucket([]byte(bucketState)), []byte(keySchema), numberKey(schema+1))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, ErrNewerSchema) || !strings.Contains(err.Error(), formerMark+"1") {
		t.Errorf("%v; want ErrNewerSchema and the way back", err)
	}
}

func TestMigrateFails(t *testing.T) {
	o := options(t.TempDir())
	closeChecked(t, open(t, o))
	older(t, o)
	o.migrations = map[uint64]migration{}
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), fmt.Sprint("no way is known from schema ", invented)) {
		t.Errorf("without the step: %v", err)
	}
	closeChecked(t, open(t, withSteps(o))) // the file is as it was
}

// A cut between the two renames leaves the former file alone.
func TestMigrateCut(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("x")})
	closeChecked(t, s)
	if err := os.Rename(Path(o.Dir), Path(o.Dir)+formerMark+strconv.Itoa(invented)); err != nil {
		t.Fatal(err)
	}
	if snap := load(t, open(t, o)); string(snap.State) != "x" || snap.Fresh {
		t.Errorf("state %q, fresh %v", snap.State, snap.Fresh)
	}
}
