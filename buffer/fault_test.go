package buffer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	berrors "go.etcd.io/bbolt/errors"
)

// limitFiles lets no file of this process grow beyond size until the returned function is called.
func limitFiles(t *testing.T, size uint64) (lift func()) {
	t.Helper()
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	set := func(l syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { set(old) })
	set(syscall.Rlimit{Cur: size, Max: old.Max})
	return func() { set(old) }
}

func TestFailedCommitChangesNothingAndIsRepeated(t *testing.T) {
	if !alone(t) {
		return
	}
	o := options(t.TempDir())
	s := open(t, o)
	for i := range 5 {
		commit(t, s, &Batch{State: []byte("before"), Points: []Point{point(i)}, Journal: []Entry{{Series: "a", Time: int64(i)}}})
	}
	b := Batch{
		State: []byte("after"), Journal: []Entry{{Series: "a", Time: 99}}, Packets: []Packet{{1, 2}}, Rejected: []Raw{{Topic: "t"}},
		ForgetJournal: 3,
	}
	for i := range 2000 {
		b.Points = append(b.Points, point(i))
	}
	counters, queue, entries := *s.cur.Load(), peek(t, s, 0), journal(t, s)
	lift := limitFiles(t, uint64(s.Stats().FileBytes))
	for range 3 {
		if _, err := s.Commit(&b); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), s.path) {
			t.Fatalf("Commit = %v, want ErrFull naming the file", err)
		}
		if got := *s.cur.Load(); !reflect.DeepEqual(got, counters) {
			t.Fatalf("counters %+v, want %+v as before", got, counters)
		}
		if !reflect.DeepEqual(peek(t, s, 0), queue) || !reflect.DeepEqual(journal(t, s), entries) || string(load(t, s).State) != "before" {
			t.Fatal("a failed commit left something behind")
		}
	}
	lift()
	if n := commit(t, s, &b); n != 6 || b.Points[0].Seq != 6 || b.Points[1999].Seq != 2005 {
		t.Errorf("repeated: record %d, points %d to %d; want 6, 6 to 2005", n, b.Points[0].Seq, b.Points[1999].Seq)
	}
	want := PointCounts{Finalized: 2005, Queued: 2005}
	if got := s.Counts(); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// An error met while a batch is put together is one like any other: nothing of it landed.
func TestBrokenBatchIsAnError(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{State: []byte("before")})
	counters := *s.cur.Load()
	_, err := s.Commit(&Batch{State: []byte("after"), Points: []Point{point(1), {Kind: NumPointKinds}}})
	if err == nil || !reflect.DeepEqual(*s.cur.Load(), counters) || string(load(t, s).State) != "before" {
		t.Errorf("Commit = %v, counters %+v, state %q; want an error and nothing changed", err, *s.cur.Load(), load(t, s).State)
	}
}

// tmpfs mounts a file system of a few MiB; only root can.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("mount tmpfs: %v", err)
		}
		t.Skipf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	dir := tmpfs(t, "4m")
	o := options(dir)
	s := open(t, o)
	add := func(i int) error {
		_, err := s.Commit(&Batch{State: []byte(fmt.Sprint("state ", i)), Points: []Point{point(i), point(i)}, Journal: []Entry{{Series: "a", Time: int64(i)}}})
		return err
	}
	peeked := 0
	for i := range 20 {
		if err := add(i); err != nil {
			t.Fatal(err)
		}
		peeked = len(peek(t, s, 0))
	}
	full := filepath.Join(dir, "other")
	f, err := os.Create(full)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	n := 20
	for ; ; n++ { // some go through on pages that are free within the file
		if err = add(n); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("Commit on a full disk = %v, want ErrFull", err)
	}
	if got := len(peek(t, s, 0)); got != 2*n || readFloor(t, dir) != int64(n-1)*minute {
		t.Errorf("%d points can be uploaded with floor %d, want all %d", got, readFloor(t, dir)/minute, 2*n)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: uint64(peeked)}}}) // uploads go on
	closeChecked(t, s)
	s = open(t, o) // full at start
	if got, want := s.Counts().Queued, int64(2*n-peeked); got != want {
		t.Errorf("%d queued, want %d", got, want)
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := add(n); err != nil {
		t.Errorf("after space came back: %v", err)
	}
	peek(t, s, 0)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestReadOnlyFolder(t *testing.T) {
	dir := tmpfs(t, "1m")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	_, err := Open(options(dir))
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open = %v, want ErrReadOnly naming %s", err, dir)
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct{ err, want error }{
		{&os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, ErrFull},
		{fmt.Errorf("file resize error: %s", &os.PathError{Op: "truncate", Path: "f", Err: syscall.EFBIG}), ErrFull},
		{fmt.Errorf("file sync error: %s", syscall.EDQUOT), ErrFull},
		{berrors.ErrMaxSizeReached, ErrFull},
		{fmt.Errorf("file resize error: %s", syscall.EROFS), ErrReadOnly},
		{berrors.ErrDatabaseReadOnly, ErrReadOnly},
	} {
		got := classify(c.err)
		if !errors.Is(got, c.want) || !errors.Is(got, c.err) {
			t.Errorf("classify(%v) = %v, want %v beside it", c.err, got, c.want)
		}
		if again := classify(got); again != got {
			t.Errorf("classified twice: %v", again)
		}
	}
	for _, err := range []error{nil, syscall.EIO} {
		if got := classify(err); got != err {
			t.Errorf("classify(%v) = %v", err, got)
		}
	}
}

func TestPanicWhileWritingBecomesAnErrorThatStays(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Journal: []Entry{{Series: "a"}}})
	_, err := s.Commit(&Batch{CompactJournal: 1, Keep: func(uint64, Entry) bool { panic("page 7 is bad") }})
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "page 7 is bad") {
		t.Fatalf("Commit = %v, want ErrBroken", err)
	}
	if _, err := s.Commit(&Batch{}); !errors.Is(err, ErrBroken) {
		t.Errorf("the next Commit = %v, want ErrBroken", err)
	}
	if _, err := s.Peek(0, 1, 1); !errors.Is(err, ErrBroken) {
		t.Errorf("Peek = %v, want ErrBroken", err)
	}
	s.db.Close() // here bbolt let go of its locks
}
