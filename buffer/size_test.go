package buffer

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"edgeagent/reading"
)

// written is how many bytes this process has passed to write calls.
func written(t testing.TB) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(text, "wchar: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no wchar in /proc/self/io")
	return 0
}

func readings(n, from int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		k := from + i
		entries[i] = Entry{Series: reading.Series(fmt.Sprintf("hall/sensor-%03d", k%200)), Time: 1.7e18 + int64(k)*37e6, Value: 20 + float64(k%1000)/100}
	}
	return entries
}

// small is a commit of one reading, as the agent makes one in a quiet hour.
func small(i int) *Batch {
	return &Batch{
		State:         []byte(strings.Repeat(fmt.Sprintf("%10d", i), 80)),
		Journal:       readings(1, i),
		Packets:       []Packet{{uint16(i), uint64(i)}},
		ForgetPackets: uint64(max(i-30, 0)),
	}
}

// largest commits n times and reports the largest and the mean number of bytes written.
func largest(t testing.TB, s *Store, n int, b func(i int) *Batch) (most, mean int64) {
	t.Helper()
	var sum int64
	for i := range n {
		batch := b(i)
		before := written(t)
		if _, err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
		size := written(t) - before
		most, sum = max(most, size), sum+size
	}
	return most, sum / int64(n)
}

func TestSmallCommitsStaySmall(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 256 << 20
	s := open(t, o)
	s.db.NoGrowSync = true
	check := func(when string, limit int64, b func(i int) *Batch) {
		t.Helper()
		most, mean := largest(t, s, 300, b)
		t.Logf("%s: at most %d bytes a commit, %d on average", when, most, mean)
		if mean > limit || most >= 64<<10 {
			t.Errorf("%s: %d bytes a commit on average, %d at most; want %d and under 64 KiB", when, mean, most, limit)
		}
	}
	onePoint := func(i int) *Batch {
		b := small(i)
		b.Points = []Point{point(i)}
		return b
	}
	check("fresh", 36<<10, small)
	line := []byte(strings.Repeat("temperature,sensor=x max=1 ", 8))
	entries := readings(20000, 0)
	for s.Stats().FileBytes < 150<<20 {
		b := &Batch{Journal: entries}
		for range 1200 {
			b.Points = append(b.Points, Point{Line: line})
		}
		if _, err := s.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	check("full", 36<<10, small)
	check("full, with a point", 52<<10, onePoint)
	drain(t, s)
	if st := s.Stats(); st.UsedBytes > 1<<20 || st.OutboxBytes != 0 || st.JournalBytes != 0 {
		t.Errorf("after the drain: %+v", st)
	}
	check("drained", 36<<10, small)
	check("drained, with a point", 48<<10, onePoint)
	closeChecked(t, s)
	s = open(t, o)
	check("opened again", 36<<10, small)
}

// drain settles everything in batches, as the uplink does, and then forgets the journal in pieces.
func drain(t *testing.T, s *Store) {
	t.Helper()
	for seq := uint64(0); s.Counts().Queued > 0; {
		points, err := s.Peek(seq, 5000, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		seq = points[len(points)-1].Seq
		commit(t, s, &Batch{Settle: []Settlement{{Through: seq}}})
	}
	last := s.cur.Load().NextRecord
	for n := uint64(50); s.Stats().JournalRecords > 0; n += 50 {
		commit(t, s, &Batch{ForgetJournal: min(n, last)})
	}
}

// A store of 8 MiB is filled to every share, and past it, and then emptied: the file never passes its cap, and what
// empties it does not grow it.
func TestFileStaysWithinItsCap(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize, o.RejectedRing = 8<<20, 8<<20
	s := open(t, o)
	within := func() {
		t.Helper()
		if size := s.Stats().FileBytes; size > o.MaxSize {
			t.Fatalf("the file has %d bytes, its cap is %d: %+v", size, o.MaxSize, s.Stats())
		}
	}
	var seq uint64
	reason := strings.Repeat("r", 100)
	for i := range 1500 {
		b := &Batch{State: []byte(fmt.Sprint(i)), InFlight: upTo(seq)}
		if !s.JournalFull(300 * 64) {
			b.Journal = readings(300, i)
		}
		for j := range 100 {
			b.Points = append(b.Points, Point{Line: fmt.Appendf(nil, "temperature,gateway=gw-07,sensor=s%d max=30,count=2i %d", j, i), Series: "x", Replaces: seq + uint64(j*j)})
		}
		b.Rejected = []Raw{{Topic: "t", Payload: make([]byte, 3000)}}
		b.Late = []LateCount{{Series: reading.Series(fmt.Sprint("series ", i))}}
		b.Marks = []Mark{{Sensor: fmt.Sprint("sensor ", i)}}
		commit(t, s, b)
		within()
		if i%10 == 9 { // refuse the oldest ten, so that the parked ring fills too
			settlement := Settlement{}
			points, err := s.Peek(0, 10, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range points {
				seq = p.Seq
				settlement.Through = p.Seq
				settlement.Parked = append(settlement.Parked, Parked{Seq: p.Seq, Reason: reason})
			}
			commit(t, s, &Batch{Settle: []Settlement{settlement}, InFlight: upTo(seq)})
			within()
		}
	}
	st, c := s.Stats(), s.Counts()
	t.Logf("full: %+v, %+v", st, c)
	if !s.JournalFull(300*64) || c.Evicted == 0 || st.OutboxBytes < 1<<20 || st.RejectedBytes < 500<<10 || st.ParkedBytes < 200<<10 {
		t.Errorf("some share is not full: %+v %+v", st, c)
	}
	size := st.FileBytes
	drain(t, s)
	if got := s.Stats(); got.FileBytes != size {
		t.Errorf("emptying grew the file from %d to %d", size, got.FileBytes)
	}
}

// A batch that the cap leaves no pages for makes room first, and what gives way is counted.
func TestRoomIsMadeForABatch(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 2 << 20
	s := open(t, o)
	var kept uint64
	for i := range 400 { // every second point is superseded at random distances: half-empty pages
		var b Batch
		for j := range 200 {
			p := Point{Line: line(j), Series: "a"}
			if j%2 == 1 {
				p.Replaces = kept - uint64(j)*3
			}
			b.Points = append(b.Points, p)
		}
		if !s.JournalFull(64 * 500) {
			b.Journal = readings(500, i)
		}
		for j := range 20 {
			b.Late = append(b.Late, LateCount{Series: reading.Series(fmt.Sprint("series ", (i*20+j)%4000))})
		}
		commit(t, s, &b)
		kept = b.Points[0].Seq
		if got := s.Stats().FileBytes; got > o.MaxSize {
			t.Fatalf("file of %d bytes, cap %d", got, o.MaxSize)
		}
	}
	big := Batch{}
	for i := range 8000 {
		big.Points = append(big.Points, point(i))
	}
	commit(t, s, &big)
	if c := s.Counts(); c.Evicted == 0 || c.Queued == 0 {
		t.Errorf("counts %+v", c)
	}
}
