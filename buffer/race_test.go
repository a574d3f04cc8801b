package buffer

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

// An uplink peeks and asks for numbers while the agent commits: every point is seen once, in order.
func TestPeekBesideCommit(t *testing.T) {
	const n = 300
	s := open(t, options(t.TempDir()))
	settle := make(chan uint64, n)
	done := make(chan error)
	go func() {
		var seq uint64
		for seq < n {
			points, err := s.Peek(seq, 7, 1<<20)
			if err != nil {
				done <- err
				return
			}
			for _, p := range points {
				if p.Seq != seq+1 || string(p.Line) != string(line(int(p.Seq))) {
					done <- errors.New("points out of order, or torn")
					return
				}
				seq = p.Seq
			}
			if len(points) > 0 {
				settle <- seq
			}
			s.Stats()
			if !s.Counts().Balanced() {
				done <- errors.New("counts out of balance")
				return
			}
		}
		close(settle)
		done <- nil
	}()
	for i := 1; i <= n; i++ {
		b := Batch{Points: []Point{point(i)}, Journal: readings(20, i), InFlight: choosing()}
		select {
		case through := <-settle:
			b.Settle = []Settlement{{Through: through}}
		default:
		}
		commit(t, s, &b)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Of many agents that start at once on an empty folder one wins, and the others say why.
func TestOpenAtOnce(t *testing.T) {
	o := options(t.TempDir())
	o.LockTimeout = 300 * time.Millisecond
	var wg sync.WaitGroup
	results := make([]error, 6)
	stores := make([]*Store, len(results))
	for i := range results {
		wg.Go(func() { stores[i], results[i] = Open(o) })
	}
	wg.Wait()
	won := 0
	for i, err := range results {
		switch {
		case err == nil:
			won++
			commit(t, stores[i], &Batch{Points: []Point{point(1)}})
			closeChecked(t, stores[i])
		case !errors.Is(err, ErrLocked):
			t.Errorf("Open = %v, want ErrLocked", err)
		}
	}
	if won != 1 {
		t.Errorf("%d stores were opened, want 1", won)
	}
	if got := names(t, o.Dir); !slices.Equal(got, []string{cleanName, fileName, floorName}) {
		t.Errorf("files %v", got)
	}
	if got := open(t, o).Counts().Queued; got != 1 {
		t.Errorf("%d queued in the file that is left, want 1", got)
	}
}

func TestEverythingProtected(t *testing.T) {
	o := options(t.TempDir())
	o.MaxPoints = 1
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{point(1), point(2), {Line: line(3), Replaces: 1}}, InFlight: choosing()})
	if got := seqs(peek(t, s, 0)); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("queued %v, want all", got)
	}
	if got := peek(t, s, 1<<64-1); len(got) != 0 {
		t.Errorf("Peek after the last number there is = %v", got)
	}
}
