//go:build 386 || arm || mips || mipsle

package buffer

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// useUp maps address space without memory behind it until less than leave bytes are left in one piece, and returns what gives it back.
func useUp(t *testing.T, leave int) (giveBack func()) {
	t.Helper()
	var taken [][]byte
	giveBack = func() {
		for _, b := range taken {
			if err := syscall.Munmap(b); err != nil {
				t.Error(err)
			}
		}
		taken = nil
	}
	t.Cleanup(func() { giveBack() })
	spare, err := syscall.Mmap(-1, 0, leave, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for size := 256 << 20; size >= 1<<20; size /= 2 {
		for {
			b, err := syscall.Mmap(-1, 0, size, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
			if err != nil {
				break
			}
			taken = append(taken, b)
			total += int64(size)
		}
	}
	if err := syscall.Munmap(spare); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB of address space used up", total>>20)
	return giveBack
}

// With hardly any address space left the store grows to its cap, and stays there. A cap that cannot be mapped is an error, and the next
// start with one that can works.
func TestLittleAddressSpace(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 32 << 20
	s := open(t, o)
	giveBack := useUp(t, 48<<20)
	text := []byte(strings.Repeat("temperature,sensor=x max=1 ", 8))
	for i := 0; s.Counts().Evicted == 0 || !s.JournalFull(1<<18); i++ {
		b := &Batch{State: []byte("state")}
		if !s.JournalFull(1 << 18) {
			b.Journal = readings(4096, i*4096)
		}
		for range 500 {
			b.Points = append(b.Points, Point{Line: text})
		}
		commit(t, s, b)
	}
	if st := s.Stats(); st.FileBytes > o.MaxSize || st.OutboxBytes < o.MaxSize/5 || !s.JournalFull(1<<18) {
		t.Errorf("at the cap: %+v", st)
	}
	queued := s.Counts().Queued
	closeChecked(t, s)
	past := o
	past.MaxSize = 1 << 30
	if s, err := Open(past); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("Open with a cap that cannot be mapped = %v, %v; want ENOMEM", s, err)
	}
	s = open(t, o)
	if got := s.Counts().Queued; got != queued {
		t.Errorf("%d queued at the next start, want %d", got, queued)
	}
	commit(t, s, &Batch{Points: []Point{point(1)}})
	closeChecked(t, s)
	giveBack()
	past.MaxSize = 128 << 20
	s = open(t, past)
	commit(t, s, &Batch{Points: []Point{point(1)}})
}
