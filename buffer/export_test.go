package buffer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"edgeagent/reading"
)

// full is a store with something of everything: 20 points queued, 5 uploaded, 2 parked, floor at minute 24 and a step.
func full(t *testing.T, o Options) *Store {
	t.Helper()
	s := open(t, o)
	b := Batch{State: []byte("state"), Held: []byte("held"), Aliases: []byte("aliases"),
		Journal: []Entry{{Series: "a", Time: 5, Value: 1.5}, {Series: "b", Time: 6, Kind: Late}},
		Marks:   []Mark{{"a", 7, 8, reading.NoTime, reading.NoTime}}, Late: []LateCount{{Series: "b", Interval: 9, Count: 1, MaxNs: 3, Total: 4}},
		Packets: []Packet{{3, 4}}, Inputs: []Input{{"in", 12}},
		Rejected: []Raw{{Topic: "t", Payload: []byte("p"), Reason: "decode", Refused: []Refused{{reading.Decode, 1}}}}}
	for i := range 27 {
		b.Points = append(b.Points, point(i))
	}
	commit(t, s, &b)
	peek(t, s, 0) // offers all: the floor rises
	commit(t, s, &Batch{Settle: []Settlement{{Through: 7, Parked: []Parked{{Seq: 2, Reason: "two", Time: 5}, {Seq: 6, Reason: "six", Time: 6}}}}})
	return s
}

func export(t *testing.T, s *Store) []byte {
	t.Helper()
	var out bytes.Buffer
	n, err := s.Export(&out, ExportHeader{Gateway: "gw", Version: "v", Time: "2026-03-04T05:06:07Z"})
	if err != nil || n == 0 {
		t.Fatalf("%d records, %v", n, err)
	}
	return out.Bytes()
}

func ring(o Options) Options { o.RejectedRing = 1 << 20; o.FloorStep = minute; return o }

func noState(state []byte) bool { return len(state) > 0 }

// content is all that a store holds, for comparison.
func content(t *testing.T, s *Store) string {
	t.Helper()
	snap := load(t, s)
	snap.Fresh = false
	parked, err := s.ParkedPoints(0)
	if err != nil {
		t.Fatal(err)
	}
	raws, numbers, err := s.RejectedAfter(0, 1000, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Input("in")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v\n%v\n%+v\n%+v\n%+v %v\n%d floor %d", *snap, journal(t, s), peek(t, s, 0), parked, raws, numbers, in, s.Floor())
}

func TestImportIsTheSameStore(t *testing.T) {
	from := full(t, ring(options(t.TempDir())))
	want, file := content(t, from), export(t, from)
	o := ring(options(t.TempDir()))
	in, err := Import(o, bytes.NewReader(file), noState)
	if err != nil {
		t.Fatal(err)
	}
	if in.Queued != 20 || in.Parked != 2 || in.Gateway != "gw" || in.Floor != from.Floor() || in.Ahead || in.Evicted != 0 {
		t.Errorf("imported %+v", in)
	}
	to := open(t, o)
	if got := content(t, to); got != want {
		t.Errorf("imported store\n%s\nwant\n%s", got, want)
	}
	// and it goes on under the same numbers
	if n, m := commit(t, to, &Batch{Points: []Point{point(1)}}), commit(t, from, &Batch{Points: []Point{point(1)}}); n != m {
		t.Errorf("next record %d, want %d", n, m)
	}
	same(t, "queue", peek(t, to, 0), peek(t, from, 0))
}

// What cannot be the whole of an export leaves the store empty, and the file can be tried again.
func TestImportRefusesDamagedFiles(t *testing.T) {
	file := export(t, full(t, ring(options(t.TempDir()))))
	cases := map[string][]byte{"empty": {}, "another file": []byte("hello\n"), "header alone": file[:len(exportMagic)], "more schema": bytes.Replace(file, fmt.Appendf(nil, `"schema":%d`, schema), []byte(`"schema":9`), 1)}
	r := seed(t)
	for range 60 {
		n := r.IntN(len(file))
		cases[fmt.Sprint("cut at ", n)] = file[:n]
		flipped := bytes.Clone(file)
		flipped[n] ^= 1 << r.IntN(8)
		cases[fmt.Sprint("flipped at ", n)] = flipped
	}
	o := ring(options(t.TempDir()))
	for name, data := range cases {
		if _, err := Import(o, bytes.NewReader(data), noState); !errors.Is(err, ErrNotExport) && !errors.Is(err, ErrNewerSchema) {
			t.Errorf("%s: %v, want ErrNotExport", name, err)
		}
	}
	if Exists(o) {
		s := open(t, o)
		if c := s.Counts(); c != (PointCounts{}) {
			t.Errorf("counts %+v after refused imports", c)
		}
		closeChecked(t, s)
	}
	if _, err := Import(o, bytes.NewReader(file), noState); err != nil {
		t.Errorf("whole file after all: %v", err)
	}
	if temps, _ := filepath.Glob(filepath.Join(o.Dir, "*"+tempMark+"*")); len(temps) > 0 {
		t.Errorf("left over: %v", temps)
	}
}

func TestImportWantsAnEmptyStore(t *testing.T) {
	file := export(t, full(t, ring(options(t.TempDir()))))
	cases := []struct {
		name  string
		batch Batch
		empty bool
	}{
		{"nothing", Batch{}, true},
		{"packets", Batch{Packets: []Packet{{1, 2}}}, true},
		{"a state", Batch{State: []byte("x")}, false},
		{"a reading", Batch{Journal: []Entry{{Series: "a"}}}, false},
		{"a point", Batch{Points: []Point{point(1)}}, false},
		{"a rejected message", Batch{Rejected: []Raw{{Topic: "t"}}}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := ring(options(t.TempDir()))
			s := open(t, o)
			commit(t, s, &c.batch)
			before := content(t, s)
			closeChecked(t, s)
			_, err := Import(o, bytes.NewReader(file), noState)
			if c.empty != (err == nil) || !c.empty && !errors.Is(err, ErrNotEmpty) {
				t.Errorf("import: %v; want it to be taken: %v", err, c.empty)
			}
			if got := content(t, open(t, o)); c.empty == (got == before) {
				t.Errorf("content after the import:\n%s", got)
			}
		})
	}
	o := ring(options(t.TempDir()))
	o.LockTimeout = 1
	open(t, o)
	if _, err := Import(o, bytes.NewReader(file), noState); !errors.Is(err, ErrLocked) {
		t.Errorf("beside an open store: %v, want ErrLocked", err)
	}
}

// The higher floor stands: what was sent from either card stays closed.
func TestImportKeepsTheHigherFloor(t *testing.T) {
	from := full(t, ring(options(t.TempDir())))
	file := export(t, from)
	for _, own := range []int64{from.Floor() - minute, from.Floor() + minute} {
		o := ring(options(t.TempDir()))
		if err := os.WriteFile(filepath.Join(o.Dir, floorName), encodeFloor(own), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := Import(o, bytes.NewReader(file), noState)
		if err != nil {
			t.Fatal(err)
		}
		want, ahead := max(own, from.Floor()), own > from.Floor()
		s := open(t, o)
		if in.Floor != want || in.Ahead != ahead || s.Floor() != want {
			t.Errorf("own %d: imported %+v, floor %d, want %d", own, in, s.Floor(), want)
		}
		if snap := load(t, s); ahead && snap.Floor != want {
			t.Errorf("floor of the store %d, want %d", snap.Floor, want)
		}
	}
}

func TestImportIntoASmallerStore(t *testing.T) {
	file := export(t, full(t, ring(options(t.TempDir()))))
	o := ring(options(t.TempDir()))
	o.MaxPoints = 5
	in, err := Import(o, bytes.NewReader(file), noState)
	if err != nil || in.Queued != 5 || in.Evicted != 15 {
		t.Errorf("%+v, %v; want 5 queued, 15 evicted", in, err)
	}
	if c := open(t, o).Counts(); !c.Balanced() || c.Evicted != 15 {
		t.Errorf("counts %+v", c)
	}
}

// What an import tells is of all uplinks, not of the first, which here has taken everything.
func TestImportTellsOfEveryUplink(t *testing.T) {
	from := open(t, twoUplinks(t))
	commit(t, from, &Batch{Points: []Point{point(1), point(2), point(3), point(4), point(5)}})
	commit(t, from, &Batch{Settle: []Settlement{{Uplink: "a", Through: 5}, {Uplink: "b", Through: 2, Parked: []Parked{{Seq: 2, Reason: "no"}}}}})
	o := twoUplinks(t)
	o.MaxPoints = 2
	in, err := Import(o, bytes.NewReader(export(t, from)), noState)
	if err != nil || in.Queued != 2 || in.Parked != 1 || in.Evicted != 1 {
		t.Errorf("%+v, %v; want 2 queued, 1 parked, 1 evicted", in, err)
	}
}

func TestLateAfter(t *testing.T) {
	s := open(t, options(t.TempDir()))
	for i := range int64(5) {
		commit(t, s, &Batch{Journal: []Entry{{Series: "a", Time: i, Kind: Late}, {Series: "a", Time: i + 100}}})
	}
	var times []int64
	for after := uint64(0); ; {
		list, last, err := s.LateAfter(after, 2)
		if err != nil {
			t.Fatal(err)
		}
		if last == 0 {
			break
		}
		for _, e := range list {
			times = append(times, e.Time)
		}
		after = last
	}
	same(t, "times", times, []int64{0, 1, 2, 3, 4})
}

// Points that a stopped store hands out have been offered, as far as the folder can be written.
func TestOffered(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	commit(t, s, &Batch{Points: []Point{point(3)}})
	closeChecked(t, s)
	ro, err := OpenReadOnly(o)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if err := ro.Offered(peek(t, ro, 0)); err != nil {
		t.Fatal(err)
	}
	f, err := openFloor(o)
	if err != nil || f.get() != 3*minute {
		t.Errorf("floor %d, %v; want %d", f.get(), err, 3*minute)
	}
}
