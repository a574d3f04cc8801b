package buffer

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"edgeagent/reading"
)

func readFloor(t *testing.T, dir string) int64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, floorName))
	if errors.Is(err, os.ErrNotExist) {
		return reading.NoTime
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := decodeFloor(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFloorRisesBeforePointsAreOffered(t *testing.T) {
	o := options(t.TempDir())
	o.FloorStep = 5 * minute
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{
		{Kind: Health, Line: line(1)}, {Line: line(2), End: 5 * minute}, {Line: line(3), End: 10 * minute}, {Line: line(4), End: 15 * minute},
		{Line: line(5), End: -5 * minute}, {Line: line(6), End: 100 * minute}, {Line: line(7), End: math.MaxInt64 - 1},
	}})
	for _, c := range []struct {
		after uint64
		n     int
		want  int64
	}{
		{0, 1, reading.NoTime},
		{4, 1, 0},
		{0, 2, 10 * minute},
		{1, 1, 10 * minute},
		{2, 1, 10 * minute},
		{3, 1, 20 * minute},
		{0, 6, 105 * minute},
		{6, 1, math.MaxInt64},
	} {
		if _, err := s.Peek(c.after, c.n, 1<<20); err != nil {
			t.Fatal(err)
		}
		if got := readFloor(t, o.Dir); got != c.want {
			t.Errorf("floor after Peek(%d, %d) = %d min, want %d", c.after, c.n, got/minute, c.want/minute)
		}
	}
}

func TestNewestRaisesFloor(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{{Line: line(1), End: 50}, {Line: line(2), End: 70}}})
	if _, _, err := s.Newest(""); err != nil {
		t.Fatal(err)
	}
	if got := readFloor(t, o.Dir); got != 70 {
		t.Errorf("floor = %d, want 70", got)
	}
}

func TestFloorIsWrittenOncePerStep(t *testing.T) {
	o := options(t.TempDir())
	o.FloorStep = 5 * minute
	s := open(t, o)
	var b Batch
	for i := range 24 {
		b.Points = append(b.Points, Point{Line: line(i), End: int64(i+1) * 5 * minute}) // two hours
	}
	commit(t, s, &b)
	writes, last := 0, int64(reading.NoTime)
	for i := range 24 {
		if _, err := s.Peek(uint64(i), 1, 1); err != nil {
			t.Fatal(err)
		}
		if f := readFloor(t, o.Dir); f != last {
			writes, last = writes+1, f
		}
	}
	if writes > 24 {
		t.Errorf("%d writes for 24 windows", writes)
	}
}

func TestFloorOutlivesTheStore(t *testing.T) {
	o := options(t.TempDir())
	filled(t, o)
	if err := os.Remove(filepath.Join(o.Dir, fileName)); err != nil {
		t.Fatal(err)
	}
	s := open(t, o)
	if snap := load(t, s); !snap.Fresh || snap.Floor != 49*minute {
		t.Errorf("fresh store: %t, floor %d min, want 49", snap.Fresh, snap.Floor/minute)
	}
	closeChecked(t, s)
	if snap := load(t, open(t, o)); snap.Fresh || snap.Floor != 49*minute {
		t.Errorf("opened again: fresh %t, floor %d min, want the floor it was made with", snap.Fresh, snap.Floor/minute)
	}
}

func TestDamagedFloor(t *testing.T) {
	good := string(encodeFloor(12345))
	for _, text := range []string{"", "floor", good[:len(good)-1], strings.Replace(good, "2345", "2346", 1), good + good, "\x00\x00\x00"} {
		o := options(t.TempDir())
		logger, log := logged()
		o.Logger = logger
		path := filepath.Join(o.Dir, floorName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if snap := load(t, open(t, o)); snap.Floor != reading.NoTime {
			t.Errorf("%q: floor %d, want none", text, snap.Floor)
		}
		if kept, err := os.ReadFile(path + ".damaged-20260304-1"); string(kept) != text || err != nil {
			t.Errorf("%q: kept aside is %q, %v", text, kept, err)
		}
		if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), path) {
			t.Errorf("%q: log %q, want one warning", text, log)
		}
	}
}

func TestLostFloorIsRecalledFromTheStore(t *testing.T) {
	o := options(t.TempDir())
	o.FloorStep = 5 * minute
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{point(60)}})
	peek(t, s, 0) // 65 min
	commit(t, s, &Batch{Settle: []Settlement{{Through: 1}}})
	closeChecked(t, s)
	if err := os.Remove(filepath.Join(o.Dir, floorName)); err != nil {
		t.Fatal(err)
	}
	open(t, o)
	if got := readFloor(t, o.Dir); got != 70*minute {
		t.Errorf("floor = %d min, want what the commit noted and a step, 70", got/minute)
	}
}

func TestFloorIsWrittenInPlaceOnAFullDisk(t *testing.T) {
	dir := tmpfs(t, "64k")
	f, err := openFloor(options(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.ready(reading.NoTime); err != nil {
		t.Fatal(err)
	}
	other, err := os.Create(filepath.Join(dir, "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := io.Copy(other, zeros{}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("fill the disk: %v", err)
	}
	for _, end := range []int64{-7, 7, 1.7e18, math.MaxInt64} {
		if err := f.raise(end); err != nil {
			t.Errorf("raise to %d: %v", end, err)
		}
		if got := readFloor(t, dir); got != end {
			t.Errorf("floor = %d, want %d", got, end)
		}
	}
	if got := names(t, dir); !slices.Equal(got, []string{floorName, "other"}) {
		t.Errorf("files %v: want no temp left", got)
	}
}

func TestNoPointsWithoutFloor(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{{Kind: Health, Line: line(0)}, point(5)}})
	s.floor.path = filepath.Join(o.Dir, "gone", floorName)
	if p, err := s.Peek(0, 1, 1); len(p) != 1 || err != nil {
		t.Errorf("a health point needs no floor: %v, %v", p, err)
	}
	if p, err := s.Peek(0, 9, 1<<20); p != nil || err == nil {
		t.Errorf("Peek = %d points, %v; want none and an error", len(p), err)
	}
	if _, ok, err := s.Newest(""); ok || err == nil {
		t.Errorf("Newest = %t, %v; want an error", ok, err)
	}
	s.floor.path = filepath.Join(o.Dir, floorName)
	if p, err := s.Peek(0, 9, 1<<20); len(p) != 2 || err != nil {
		t.Errorf("afterwards: %d points, %v", len(p), err)
	}
}
