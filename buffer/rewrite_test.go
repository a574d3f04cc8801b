package buffer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

// outage commits many points and settles all but the last hundred: a file of some MiB or so that is nearly all free pages.
func outage(t testing.TB, s *Store) {
	t.Helper()
	for range 3 {
		var b Batch
		for i := range 3000 {
			b.Points = append(b.Points, point(i+1))
		}
		commit(t, s, &b)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: s.cur.Load().NextSeq - 101}}})
}

// The file of an open store is rewritten, beside an uplink that peeks and a status page that looks; all of it is there afterwards under the same numbers,
// the lock never goes, and commits go on.
func TestRewrite(t *testing.T) {
	o := options(t.TempDir())
	o.RejectedRing = 1 << 20
	s := open(t, o)
	varied(t, s, 100)
	outage(t, s)
	want, written := contents(t, s), s.Stats().Written
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			points, err := s.Peek(0, 1000, 1<<20)
			if err != nil || len(points) < 100 || s.Stats().OldestEnd == 0 {
				done <- errors.Join(err, errors.New("points are missing"))
				return
			}
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
		}
	}()
	for range 3 {
		from, to, err := s.Rewrite(t.Context())
		if err != nil || to > 700<<10 || to > from {
			t.Fatalf("Rewrite = from %d to %d bytes, %v", from, to, err)
		}
		second := o
		second.LockTimeout = time.Millisecond
		if _, err := Open(second); !errors.Is(err, ErrLocked) {
			t.Errorf("a second Open = %v, want ErrLocked", err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if got := contents(t, s); !reflect.DeepEqual(got, want) {
		t.Error("the rewritten store holds something else")
	}
	if got := s.Stats().Written; got < written {
		t.Errorf("written went back from %d to %d", written, got)
	}
	if got := names(t, o.Dir); !slices.Equal(got, []string{fileName, floorName}) {
		t.Errorf("files %v", got)
	}
	varied(t, s, 10)
	want = contents(t, s)
	closeChecked(t, s)
	if s = open(t, o); !reflect.DeepEqual(contents(t, s), want) {
		t.Error("what was committed after it is not there at the next start")
	}
}

// What keeps a file from being rewritten leaves the store as it was, and in use.
func TestRewriteRefused(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(t *testing.T, s *Store) context.Context
		is    error
	}{
		{"called off", func(t *testing.T, _ *Store) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx
		}, context.Canceled},
		{"a full disk", func(t *testing.T, s *Store) context.Context {
			fillDisk(t, filepath.Join(s.o.Dir, "other"))
			return t.Context()
		}, ErrFull},
		{"a start that is going on", func(t *testing.T, s *Store) context.Context {
			dir, err := lock(s.o.Dir, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { dir.Close() })
			return t.Context()
		}, ErrLocked},
		{"a store that is broken", func(t *testing.T, s *Store) context.Context {
			s.stop(ErrInDoubt)
			t.Cleanup(func() { s.stop(nil) })
			return t.Context()
		}, ErrInDoubt},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := options(tmpfs(t, "12m"))
			o.MaxSize, o.LockTimeout = 8<<20, 100*time.Millisecond
			s := open(t, o)
			outage(t, s)
			want := contents(t, s)
			from, to, err := s.Rewrite(c.spoil(t, s))
			if !errors.Is(err, c.is) || from != to || from < 512<<10 {
				t.Errorf("Rewrite = from %d to %d bytes, %v; want %v and the size as it was", from, to, err, c.is)
			}
			s.stop(nil)
			if got := contents(t, s); !reflect.DeepEqual(got, want) {
				t.Error("the store holds something else")
			}
			_ = os.Remove(filepath.Join(o.Dir, "other"))
			if got := names(t, o.Dir); !slices.Equal(got, []string{fileName, floorName}) {
				t.Errorf("files %v", got)
			}
			commit(t, s, &Batch{State: []byte("after")})
		})
	}
}
