package buffer

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"edgeagent/reading"
)

// contents is all that a store holds, for comparison.
func contents(t *testing.T, s *Store) any {
	t.Helper()
	snap := load(t, s)
	snap.Fresh = false
	parked, err := s.ParkedPoints(0)
	if err != nil {
		t.Fatal(err)
	}
	var raw []Raw
	if err := s.Rejected(func(r Raw) error { raw = append(raw, r); return nil }); err != nil {
		t.Fatal(err)
	}
	c := *s.cur.Load()
	c.Commits, c.Floor = 0, 0
	lines, err := s.Input("file")
	return []any{snap, peek(t, s, 0), journal(t, s), parked, raw, c, lines, err}
}

// varied commits a bit of everything.
func varied(t testing.TB, s *Store, n int) {
	t.Helper()
	for i := range n {
		b := &Batch{State: fmt.Appendf(nil, "state %d", i), Held: []byte("held"), Aliases: []byte("aliases"), Journal: readings(20, i), Packets: []Packet{{uint16(i), 1}},
			Marks: []Mark{{fmt.Sprint("sensor ", i%30), 1, 2, reading.NoTime, reading.NoTime}}, Late: []LateCount{{Series: reading.Series(fmt.Sprint(i % 9)), Total: int64(i)}},
			Inputs: []Input{{"file", int64(i)}}, Rejected: []Raw{{Topic: "t", Payload: make([]byte, 700)}}}
		for j := range 10 {
			b.Points = append(b.Points, point(i*10+j+1))
		}
		if i%5 == 4 {
			b.Settle = []Settlement{{Through: uint64(i * 5), Parked: []Parked{{Seq: uint64(i * 5), Reason: "no"}}}}
		}
		commit(t, s, b)
	}
}

func TestCompact(t *testing.T) {
	o := options(t.TempDir())
	o.RejectedRing = 1 << 20
	s := open(t, o)
	varied(t, s, 100)
	for range 5 { // pages that become free
		var b Batch
		for i := range 5000 {
			b.Points = append(b.Points, point(i+1))
		}
		commit(t, s, &b)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: 25000}}})
	want := contents(t, s)
	closeChecked(t, s)
	from, to, err := Compact(o)
	if err != nil || from < 2<<20 || to > 700<<10 {
		t.Fatalf("Compact = from %d to %d bytes, %v", from, to, err)
	}
	s = open(t, o)
	if got := contents(t, s); !reflect.DeepEqual(got, want) {
		t.Error("the compacted store holds something else")
	}
	if got := names(t, o.Dir); !slices.Equal(got, []string{fileName, floorName}) {
		t.Errorf("files %v", got)
	}
	varied(t, s, 10)
	if _, _, err := Compact(Options{Dir: t.TempDir()}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Compact where there is no store = %v", err)
	}
}

const (
	compactDir  = "EDGEAGENT_TEST_COMPACT_DIR"
	compactSize = 4000
)

// TestCompactChild is the child of TestKillWhileCompacting: it compacts over and over.
func TestCompactChild(t *testing.T) {
	dir := os.Getenv(compactDir)
	if dir == "" {
		return // only of use as a child
	}
	o := options(dir)
	o.NoSync, o.RejectedRing = false, 1<<20
	for {
		fmt.Println("again")
		if _, _, err := Compact(o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKillWhileCompacting(t *testing.T) {
	r := seed(t)
	kills := 8
	if long() {
		kills = 50
	}
	o := options(t.TempDir())
	o.RejectedRing = 1 << 20
	s := open(t, o)
	varied(t, s, compactSize/10)
	want := contents(t, s)
	closeChecked(t, s)
	began := time.Now()
	if _, _, err := Compact(o); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	temps := 0
	for range kills {
		killCompacting(t, o.Dir, time.Duration(r.Int64N(int64(3*took))))
		left, err := filepath.Glob(filepath.Join(o.Dir, "*"+tempMark+"*"))
		if err != nil {
			t.Fatal(err)
		}
		temps += len(left)
		s = open(t, o)
		if got := contents(t, s); !reflect.DeepEqual(got, want) {
			t.Fatal("a kill while compacting changed what is in the store")
		}
		if got := names(t, o.Dir); !slices.Equal(got, []string{fileName, floorName}) {
			t.Fatalf("files %v", got)
		}
		closeChecked(t, s)
	}
	t.Logf("%d kills, %d of them left a temp", kills, temps)
}

// killCompacting runs the child and kills it some time after it has begun.
func killCompacting(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	argv := again("TestCompactChild")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), compactDir+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for lines.Scan() {
		if lines.Text() != "again" {
			t.Fatalf("child says %q", lines.Text())
		}
	}
	_ = cmd.Wait() // killed
}

// Three outages, each drained afterwards: the second and third do not raise the file, which never passes its cap, and the next start gives the
// room back.
func TestThreeOutages(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 40 << 20
	windows := 400
	if long() {
		o.MaxSize, windows = 256<<20, 7*288
	}
	s := open(t, o)
	entries := readings(2000, 0)
	var peak [3]int64
	for outage := range peak {
		for w := range windows {
			b := &Batch{State: []byte("state")}
			if !s.JournalFull(2000 * 32) {
				b.Journal = entries
			}
			for sensor := range 200 {
				b.Points = append(b.Points, Point{Line: fmt.Appendf(nil, "temperature,gateway=gw-07,sensor=hall/sensor-%03d max=21.5,count=30i %d", sensor, 1.7e18+int64(w)*3e11)})
			}
			commit(t, s, b)
			if size := s.Stats().FileBytes; size > o.MaxSize {
				t.Fatalf("file of %d bytes, cap %d", size, o.MaxSize)
			}
		}
		peak[outage] = s.Stats().FileBytes
		drain(t, s)
	}
	slack := peak[0] / 20
	if peak[0] < compactAbove || peak[1] > peak[0]+slack || peak[2] > peak[0]+slack {
		t.Errorf("the file grew to %v", peak)
	}
	report := func(when string) {
		st := s.Stats()
		most, mean := largest(t, s, 100, small)
		closeChecked(t, s)
		took := timed(t, func() (err error) { s, err = Open(o); return err })
		t.Logf("%s: file %d KiB, %d KiB used, commit %d bytes on average, %d at most; the next start takes %v", when, st.FileBytes>>10, st.UsedBytes>>10, mean, most, took)
	}
	report("drained, pages used again")
	if got := s.Stats().FileBytes; got > 1<<20 {
		t.Errorf("after the next start the file has %d bytes, it should have been compacted", got)
	}
	report("compacted")
	closeChecked(t, s)
}

// A file above a cap that was lowered is rewritten when what is in it fits.
func TestLoweredCap(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	for range 6 {
		var b Batch
		for i := range 5000 {
			b.Points = append(b.Points, point(i+1))
		}
		commit(t, s, &b)
	}
	commit(t, s, &Batch{Settle: []Settlement{{Through: 29000}}})
	closeChecked(t, s)
	o.MaxSize = 2 << 20
	s = open(t, o)
	if st := s.Stats(); st.FileBytes > o.MaxSize || s.Counts().Queued != 1000 {
		t.Errorf("%d bytes, %d queued; want at most %d and 1000", st.FileBytes, s.Counts().Queued, o.MaxSize)
	}
}
