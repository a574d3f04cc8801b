package buffer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/reading"
	bolt "go.etcd.io/bbolt"
)

// first puts a store in o.Dir that the program made when there was only schema 1: what full makes.
func first(t *testing.T, o Options) {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", "schema1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	file, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	floor, err := os.ReadFile(filepath.Join("testdata", "schema1.floor"))
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{Path(o.Dir): file, filepath.Join(o.Dir, floorName): floor} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func littleRing(t *testing.T) Options {
	o := ring(options(t.TempDir()))
	o.MaxSize = 1 << 20
	return o
}

func TestFromSchema1(t *testing.T) {
	want := strings.Replace(content(t, full(t, littleRing(t))), "Gone:9}", fmt.Sprintf("Gone:%d}", reading.NoTime), 1) // it came later
	o := littleRing(t)
	first(t, o)
	s := open(t, o)
	if got := content(t, s); got != want {
		t.Errorf("migrated\n%s\nwant\n%s", got, want)
	}
	if !exists(Path(o.Dir) + formerMark + "1") {
		t.Error("the former file is not kept")
	}
	commit(t, s, &Batch{Points: []Point{point(99)}})
}

// A damaged file of schema 1 is salvaged as one of schema 2 is.
func TestSalvageSchema1(t *testing.T) {
	o := littleRing(t)
	first(t, o)
	file, err := os.ReadFile(Path(o.Dir))
	if err != nil {
		t.Fatal(err)
	}
	copy(file, bytes.Repeat([]byte{0}, 2*pageSize)) // both meta pages
	if err := os.WriteFile(Path(o.Dir), file, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	c := s.Counts()
	if c.Queued != 20 || c.Parked != 2 || c.Carried != 22 {
		t.Errorf("carried over %+v; want 20 queued, 2 parked", c)
	}
}

// After an unclean stop the check judges the file of another version by its tree: that the records are another version's is no doubt.
func TestCheckOfAnotherVersion(t *testing.T) {
	set := func(v uint64) func(*bolt.Tx) error {
		return func(tx *bolt.Tx) error {
			return putSealed(tx.Bucket([]byte(bucketState)), []byte(keySchema), numberKey(v))
		}
	}
	for _, c := range []struct {
		name   string
		change func(*bolt.Tx) error // of a file of schema 1
		is     error                // of Open; nil: it opens
	}{
		{"older", func(*bolt.Tx) error { return nil }, nil},
		{"newer", set(schema + 1), ErrNewerSchema},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := littleRing(t)
			first(t, o)
			db, err := bolt.Open(Path(o.Dir), 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Update(c.change), db.Close()); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			o.Check, o.ByHand, o.Logger = checkInChild(), true, slog.New(slog.NewTextHandler(&log, nil))
			s, err := Open(o)
			if err == nil {
				closeChecked(t, s)
			}
			if !errors.Is(err, c.is) {
				t.Errorf("Open = %v, want %v", err, c.is)
			}
			if strings.Contains(log.String(), "WARN") {
				t.Errorf("log %s", log.String())
			}
		})
	}
}

// A torn page in the file of an older version is proven damage, as in one of the present.
func TestCheckOfAnOlderDamagedFile(t *testing.T) {
	o := littleRing(t)
	first(t, o)
	db, err := bolt.Open(Path(o.Dir), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	var root int64
	err = db.View(func(tx *bolt.Tx) error { root = int64(tx.Bucket([]byte(bucketOutbox)).Root()); return nil })
	if err := errors.Join(err, db.Close()); err != nil || root == 0 {
		t.Fatalf("root of the outbox %d, %v", root, err)
	}
	f, err := os.OpenFile(Path(o.Dir), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, pageSize), root*pageSize)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := checkInChild()(t.Context(), Path(o.Dir)); !errors.Is(err, ErrDamaged) {
		t.Errorf("check = %v, want ErrDamaged", err)
	}
	if _, err := CheckFile(Path(o.Dir)); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrOlderSchema) {
		t.Errorf("CheckFile = %v, want ErrDamaged", err)
	}
}
