package buffer

import (
	"fmt"
	"testing"
	"time"
)

// A store full of points and windows comes out the same with and without a trace: the trace gives way.
func TestTraceCostsNoPoint(t *testing.T) {
	run := func(keepFor time.Duration) (Stats, PointCounts, bool) {
		o := tracing(t, keepFor)
		o.MaxSize, o.RejectedRing = 4<<20, 1<<18
		s := open(t, o)
		line := []byte("temperature,gateway=gw-07,sensor=hall/sensor-001 max=21.5,count=30i 1700000000000000000")
		for i := range 400 {
			b := &Batch{State: fmt.Append(nil, i), Trace: Trace{Readings: judged(300, i*300), Size: 5 * minute}, Rejected: []Raw{{Topic: "t", Payload: make([]byte, 1500)}}}
			if !s.JournalFull(300 * 64) {
				b.Journal = readings(300, i)
			}
			for range 40 {
				b.Points = append(b.Points, Point{Line: line})
			}
			commit(t, s, b)
			if st := s.Stats(); st.FileBytes > o.MaxSize {
				t.Fatalf("the file has %d bytes, its cap is %d", st.FileBytes, o.MaxSize)
			}
		}
		return s.Stats(), s.Counts(), s.JournalFull(300 * 64)
	}
	with, withPoints, withFull := run(time.Hour)
	without, points, full := run(0)
	if withPoints != points || withFull != full || with.OutboxBytes != without.OutboxBytes || with.JournalBytes != without.JournalBytes || with.RejectedBytes != without.RejectedBytes {
		t.Errorf("with a trace %+v %+v\nwithout %+v %+v", with, withPoints, without, points)
	}
	if points.Evicted == 0 || !full || with.TraceDropped == 0 || without.TraceKept != 0 {
		t.Errorf("some share is not full: %+v %+v", with, points)
	}
	t.Logf("%d readings are left in %d bytes", with.TraceKept, with.TraceBytes)
}

// Where no room is, the readings of a commit go untraced and the rest is committed.
func TestTraceGivesWayToACommit(t *testing.T) {
	o := tracing(t, time.Hour)
	o.MaxSize = 1 << 20
	s := open(t, o)
	keep(t, s, 0, judged(4000, 0))
	pages := s.lim.pages
	s.lim.trace = 1 << 30 // the share is out of the way: the cap alone says no
	s.lim.outbox = 1 << 30
	var last uint64
	for i := range 400 {
		b := &Batch{State: fmt.Append(nil, i), Trace: Trace{Readings: judged(500, i*500), Size: 5 * minute}, Points: []Point{point(i)}}
		n, err := s.Commit(b)
		if err != nil {
			t.Fatalf("commit %d: %v, with %d pages", i, err, pages)
		}
		last = n
	}
	if c := s.Counts(); c.Queued != 400 || c.Evicted != 0 || last != 401 {
		t.Errorf("%+v after commit %d, want 400 queued and none evicted", c, last)
	}
	if st := s.Stats(); st.FileBytes > o.MaxSize || st.TraceDropped == 0 {
		t.Errorf("stats %+v", st)
	}
}

// On a disk that is full, small as the commit is without them, its readings go untraced; later ones are traced again.
func TestTraceGivesWayOnAFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	s := open(t, tracing(t, time.Hour))
	for i := range 4 {
		keep(t, s, 0, judged(tracePerRecord, i*tracePerRecord))
	}
	lift := limitFiles(t, uint64(s.Stats().FileBytes))
	n := commit(t, s, &Batch{State: []byte("full"), Trace: Trace{Readings: judged(100000, 9000), Size: 5 * minute}, Points: []Point{point(1)}, Journal: readings(10, 0)})
	if c, st := s.Counts(), s.Stats(); n != 5 || c.Queued != 1 || st.JournalRecords != 1 || st.TraceKept != tracePerRecord {
		t.Errorf("commit %d, %+v, %+v; want the point, and less than half of what was traced", n, c, st)
	}
	keep(t, s, 0, judged(100, 200000))
	lift()
	got := traced(t, s)
	if want := judged(100, 200000); len(got) != tracePerRecord+100 || got[len(got)-1] != want[99] {
		t.Errorf("%d readings, the last %+v", len(got), got[len(got)-1])
	}
}

// TestTraceCostsLittle has 200 readings a second and commits of 5 s, as they cost with a trace and without.
func TestTraceCostsLittle(t *testing.T) {
	const each = 1000
	var most, mean [2]int64
	var took [2]time.Duration
	for on := range 2 {
		o := tracing(t, time.Duration(on)*time.Hour)
		o.MaxSize = 64 << 20
		s := open(t, o)
		n := 0
		next := func(i int) *Batch {
			b := small(i)
			b.Journal = readings(each, n)
			b.ForgetJournal = uint64(max(i-100, 0))
			if on == 1 {
				b.Trace = Trace{Readings: judged(each, n), Size: 5 * minute, Up: int64(i) * int64(5*time.Second)}
			}
			n += each
			return b
		}
		i := 0
		for ; i < 250; i++ {
			commit(t, s, next(i))
		}
		began := time.Now()
		most[on], mean[on] = largest(t, s, 200, func(k int) *Batch { return next(i + k) })
		took[on] = time.Since(began) / 200
		if st := s.Stats(); on == 1 {
			perReading := float64(st.TraceBytes) / float64(st.TraceKept)
			t.Logf("%.1f bytes a reading, as counted against the share", perReading)
			if perReading > 28 {
				t.Errorf("%.1f bytes a reading, want at most 28", perReading)
			}
		}
	}
	t.Logf("a commit of %d readings writes %d bytes, traced %d; at most %d and %d; it takes %v and %v (without syncs, batches made included)",
		each, mean[0], mean[1], most[0], most[1], took[0], took[1])
	if more := mean[1] - mean[0]; more > 28<<10 {
		t.Errorf("a trace of %d readings adds %d bytes to a commit, want at most 28 KiB", each, more)
	}
}
