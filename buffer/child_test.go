package buffer

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
)

// TestCheckChild is the process that checking runs; its argument is the file, or what to do instead.
func TestCheckChild(t *testing.T) {
	switch path := flag.Arg(0); filepath.Base(path) {
	case ".":
		return // only of use as a child
	case "panic":
		panic("page 7: already freed")
	case "memory":
		panic("runtime error: out of memory")
	case "hang":
		c := make(chan os.Signal, 1)
		for signal.Notify(c); ; { // the runtime sends itself some too
			<-c
		}
	default:
		os.Exit(CheckMain(path, os.Stderr))
	}
}

func checkInChild() CheckFunc { return ChildCheck(again("TestCheckChild")...) }

func TestWhatChildCheckProves(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{point(1), point(2)}})
	closeChecked(t, s)
	fault := filepath.Join(t.TempDir(), fileName)
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fault, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(fault, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketOutbox)).Delete(numberKey(1)) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, want string
		proven     bool
	}{
		{s.path, "", false},
		{fault, "bucket outbox holds 1 records", true},
		{"panic", "page 7: already freed", true},
		{"memory", "out of memory", false},
		{"hang", "deadline", false},
		{filepath.Join(t.TempDir(), "absent"), "no such file", false},
	} {
		limit := time.Minute
		if c.path == "hang" {
			limit = 300 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		err := checkInChild()(ctx, c.path)
		cancel()
		if errors.Is(err, ErrDamaged) != c.proven || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("check of %s = %v, want %q, proven %v", c.path, err, c.want, c.proven)
		}
	}
	if err := ChildCheck(filepath.Join(t.TempDir(), "no-program"))(context.Background(), s.path); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("a check that cannot start = %v, want an error that proves nothing", err)
	}
}

// Only a stop that was not in order has the file checked, and what proves nothing lets it be used.
func TestCheckAfterAnUncleanStop(t *testing.T) {
	o := options(t.TempDir())
	checks := 0
	var verdict error
	o.Check = func(ctx context.Context, path string) error {
		checks++
		if _, limited := ctx.Deadline(); !limited || path != filepath.Join(o.Dir, fileName) {
			t.Errorf("check of %s, limited: %v", path, limited)
		}
		return verdict
	}
	cut := func() { // as a power cut leaves it
		if err := os.Remove(filepath.Join(o.Dir, cleanName)); err != nil {
			t.Fatal(err)
		}
	}
	reopen := func(when string, want int) *Store {
		t.Helper()
		s := open(t, o)
		if checks != want {
			t.Errorf("%s: %d checks so far, want %d", when, checks, want)
		}
		return s
	}
	s := reopen("no file yet", 0)
	commit(t, s, &Batch{State: []byte("s"), Points: []Point{point(1)}})
	if _, err := os.Stat(filepath.Join(o.Dir, cleanName)); err == nil {
		t.Error("the folder is marked clean while the store is open")
	}
	closeChecked(t, s)
	closeChecked(t, reopen("after a clean stop", 0))
	cut()
	closeChecked(t, reopen("after a cut", 1))
	cut()
	verdict = context.DeadlineExceeded
	s = reopen("a check without an end", 2)
	if got := len(peek(t, s, 0)); got != 1 || load(t, s).Fresh {
		t.Errorf("a check that proves nothing: %d points, fresh %v; want the file used", got, load(t, s).Fresh)
	}
	closeChecked(t, s)
	cut()
	verdict = ErrDamaged
	s = reopen("proof", 3)
	snap := load(t, s)
	if !snap.Fresh || snap.Resets != 1 || snap.Counts != (PointCounts{Carried: 1, Queued: 1}) || string(snap.State) != "s" {
		t.Errorf("after proof: %+v, want a fresh store that all was carried into", snap)
	}
}

// A store that must not be used further is not closed in order.
func TestBrokenStoreIsNotMarkedClean(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	_ = s.view(func(*bolt.Tx) error { panic("page 9 cannot be read") })
	if _, err := s.Commit(&Batch{}); !errors.Is(err, ErrBroken) {
		t.Errorf("Commit after a page could not be read = %v, want ErrBroken", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, cleanName)); err == nil {
		t.Error("the folder is marked clean")
	}
	s.db.Close()
}
