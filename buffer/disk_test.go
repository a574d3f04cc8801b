package buffer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"
)

// Where there is no room for a batch its settlement goes through all the same, once, and the batch gets what that frees.
func TestSettlementMakesRoom(t *testing.T) {
	if !alone(t) {
		return
	}
	s := open(t, options(t.TempDir()))
	var b Batch
	for i := range 3000 {
		b.Points = append(b.Points, point(i+1))
	}
	commit(t, s, &b)
	lift := limitFiles(t, uint64(s.Stats().FileBytes))
	b = Batch{State: []byte("after"), Settle: []Settlement{{Through: 2500, Parked: []Parked{{Seq: 7, Reason: "no"}}}}}
	for i := range 2000 {
		b.Points = append(b.Points, point(i+1))
	}
	big := b
	big.Points = append(big.Points, make([]Point, 20000)...)
	for i := range big.Points {
		big.Points[i].Line = line(i)
	}
	if _, err := s.Commit(&big); !errors.Is(err, ErrFull) {
		t.Fatalf("Commit = %v, want ErrFull", err)
	}
	want := PointCounts{Finalized: 3000, Uploaded: 2499, Parked: 1, Queued: 500}
	if got := s.Counts(); got != want || load(t, s).State != nil {
		t.Errorf("after it %+v with state %q, want %+v and none", got, load(t, s).State, want)
	}
	commit(t, s, &b)
	want.Finalized, want.Queued = 5000, 2500
	if got := s.Counts(); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	lift()
}

// A file system of 8 MiB, filled to the last byte by the store itself and by another file: uploads go on to the last point, and when room comes
// back so does everything else.
func TestSmallFileSystem(t *testing.T) {
	for _, other := range []bool{false, true} {
		t.Run(fmt.Sprint("other file: ", other), func(t *testing.T) {
			dir := tmpfs(t, "8m")
			o := options(dir)
			o.MaxSize = 256 << 20
			s := open(t, o)
			made := 0
			batch := func() *Batch {
				b := &Batch{State: fmt.Appendf(nil, "state %d", made), Journal: readings(500, made)}
				for range 100 {
					made++
					b.Points = append(b.Points, point(made))
				}
				return b
			}
			for range 20 {
				commit(t, s, batch())
			}
			full := filepath.Join(dir, "other")
			if other {
				fillDisk(t, full)
			}
			var waiting *Batch
			for {
				waiting = batch()
				if _, err := s.Commit(waiting); errors.Is(err, ErrFull) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			stored := made - 100
			if uploadAll(t, s, waiting) {
				waiting, stored = &Batch{}, made
			}
			want := PointCounts{Finalized: int64(stored), Uploaded: int64(stored)}
			if got := s.Counts(); got != want {
				t.Errorf("after all was uploaded: %+v, want %+v", got, want)
			}
			_ = os.Remove(full)
			commit(t, s, waiting)
			for range 20 {
				b := batch()
				b.ForgetJournal = 1 << 60
				commit(t, s, b)
			}
			if got := s.Counts(); got.Made() != int64(made) || got.Evicted != 0 {
				t.Errorf("in the end %+v, want %d made and none lost", got, made)
			}
		})
	}
}

// uploadAll settles everything, with a batch beside it that the disk refuses, as the agent does it: what waits is tried again with each settlement.
// It reports whether the batch got through.
func uploadAll(t *testing.T, s *Store, waiting *Batch) (stored bool) {
	t.Helper()
	for s.Counts().Queued > 0 {
		points, err := s.Peek(0, 2000, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		var b Batch
		if !stored {
			b = *waiting
		}
		b.Settle = []Settlement{{Through: points[len(points)-1].Seq}}
		if _, err := s.Commit(&b); err == nil {
			stored = true
		} else if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
	}
	return stored
}

// fillDisk writes a file until there is no room for another byte.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
}

// A damaged file on a disk without room for another: it is kept, and older ones make room.
func TestDamagedOnAFullDisk(t *testing.T) {
	dir := tmpfs(t, "3m")
	o := options(dir)
	s := open(t, o)
	for i := range 200 {
		commit(t, s, &Batch{State: []byte("s"), Points: []Point{point(i + 1)}})
	}
	closeChecked(t, s)
	old := s.path + damagedMark + "20200101-1"
	if err := os.WriteFile(old, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := spoil(s.path); err != nil {
		t.Fatal(err)
	}
	fillDisk(t, filepath.Join(dir, "other"))
	s = open(t, o)
	if snap := load(t, s); snap.Counts.Queued != 200 || snap.Resets != 1 {
		t.Errorf("%+v, want the 200 points", snap)
	}
	list, err := asides(s.path)
	if err != nil || len(list) != 1 || list[0].n != 2 {
		t.Errorf("moved aside: %v, %v; want the new one", list, err)
	}
}

// ext4 mounts a file system of 8 MiB of the kind that cards have; only root can.
func ext4(t *testing.T) string {
	t.Helper()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, dir}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%v: %v: %s", argv, err, out)
			}
			t.Skipf("%v: %v: %s", argv, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// setImmutable makes the file refuse writes through descriptors that are open already, as a file system does that the kernel has made
// read-only after an error.
func setImmutable(t *testing.T, path string, on bool) {
	t.Helper()
	const (
		getFlags  = 0x80006601 | unsafe.Sizeof(uintptr(0))<<16 // FS_IOC_GETFLAGS
		setFlags  = 0x40006602 | unsafe.Sizeof(uintptr(0))<<16 // FS_IOC_SETFLAGS
		immutable = 0x10
	)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var flags int32
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), getFlags, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		t.Fatal(errno)
	}
	flags &^= immutable
	if on {
		flags |= immutable
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), setFlags, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		t.Fatal(errno)
	}
}

// The file refuses writes while the store runs, and takes them again: nothing is half done, and nobody has to restart anything.
func TestReadOnlyWhileRunning(t *testing.T) {
	o := options(ext4(t))
	o.NoSync = false
	s := open(t, o)
	commit(t, s, &Batch{State: []byte("before"), Points: []Point{point(1), point(2)}})
	peek(t, s, 0)
	setImmutable(t, s.path, true)
	t.Cleanup(func() { setImmutable(t, s.path, false) })
	b := Batch{State: []byte("after"), Journal: readings(10, 0), Points: []Point{point(3)}, Settle: []Settlement{{Through: 1}}}
	for range 3 {
		if _, err := s.Commit(&b); !errors.Is(err, ErrReadOnly) {
			t.Fatalf("Commit = %v, want ErrReadOnly", err)
		}
		if got := s.Counts(); got != (PointCounts{Finalized: 2, Queued: 2}) || len(peek(t, s, 0)) != 2 {
			t.Fatalf("a refused commit left %+v", got)
		}
	}
	setImmutable(t, s.path, false)
	if n := commit(t, s, &b); n != 2 {
		t.Errorf("then it became record %d, want 2", n)
	}
	closeChecked(t, s)
	if s = open(t, o); string(load(t, s).State) != "after" || s.Counts().Queued != 2 {
		t.Errorf("at the next start: state %q, %+v", load(t, s).State, s.Counts())
	}
}
