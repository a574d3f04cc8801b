package buffer

import (
	"errors"
	"syscall"
	"testing"
)

// A commit that landed although bbolt reported an error is repeated in an empty one, and counts as done.
func TestLandedCommitIsNotRepeated(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Points: []Point{point(1)}})
	w := &writer{c: *s.cur.Load(), lim: s.lim}
	if err := s.update(w, func() error { return w.apply(&Batch{Points: []Point{point(2)}}) }); err != nil {
		t.Fatal(err)
	}
	if err := s.settleDoubt(w, syscall.EIO); err != nil {
		t.Errorf("settleDoubt of a commit that is there = %v, want nil", err)
	}
	s.cur.Store(&w.c)
	if got := s.Counts().Queued; got != 2 {
		t.Errorf("%d queued, want 2", got)
	}
	w = &writer{c: *s.cur.Load(), lim: s.lim}
	w.c.Commits++
	if err := s.settleDoubt(w, syscall.EIO); err != syscall.EIO {
		t.Errorf("settleDoubt of a commit that is not there = %v, want its cause", err)
	}
}

// When the meta page cannot be written again either, nobody knows: the store stops.
func TestCommitInDoubt(t *testing.T) {
	if !alone(t) {
		return
	}
	o := options(t.TempDir())
	s := open(t, o)
	w := &writer{c: *s.cur.Load(), lim: s.lim}
	if err := s.update(w, func() error { return w.apply(&Batch{Points: []Point{point(1)}}) }); err != nil {
		t.Fatal(err)
	}
	lift := limitFiles(t, 1)
	if err := s.settleDoubt(w, syscall.EIO); !errors.Is(err, ErrInDoubt) || !errors.Is(err, syscall.EIO) {
		t.Errorf("settleDoubt = %v, want ErrInDoubt with its cause", err)
	}
	lift()
	if _, err := s.Commit(&Batch{}); !errors.Is(err, ErrInDoubt) {
		t.Errorf("the next Commit = %v, want ErrInDoubt", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := open(t, o).Counts().Queued; got != 1 {
		t.Errorf("opened again: %d queued, want the 1 that was there", got)
	}
}
