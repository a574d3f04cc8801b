package buffer

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"edgeagent/reading"
)

func TestFreshStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := open(t, options(dir))
	got := load(t, s)
	want := &Snapshot{NextRecord: 1, NextSeq: 1, Fresh: true, Floor: reading.NoTime}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Load = %+v, want %+v", got, want)
	}
	if e := journal(t, s); len(e) != 0 {
		t.Errorf("journal of a fresh store: %v", e)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"edgeagent.db", "floor"}) {
		t.Errorf("files = %v, want edgeagent.db and floor", got)
	}
	if got := readFloor(t, dir); got != reading.NoTime {
		t.Errorf("floor = %d, want none", got)
	}
}

func TestReopenGivesBackWhatWasCommitted(t *testing.T) {
	o := options(t.TempDir())
	s := open(t, o)
	b := &Batch{
		State:    []byte("state 1"),
		Journal:  []Entry{{Series: "b", Time: 5, Value: 1.5, Tick: true}, {Series: "a", Time: -5, Value: -2, Kind: Late}},
		Marks:    []Mark{{"s2", 20, 10, 5, 6}, {"s1", -1, reading.NoTime, reading.NoTime, reading.NoTime}},
		Late:     []LateCount{{Series: "a\x00room\x00x", Interval: -300, Count: 2, Reported: 1, MaxNs: 7, Total: 9}},
		Held:     []byte("held"),
		Packets:  []Packet{{1, 1 << 63}, {65535, 0}},
		Inputs:   []Input{{"file 1", 1 << 40}},
		Points:   []Point{{Kind: Updated, Line: []byte("l"), End: 300, Start: -300, Series: "a", Replaces: 7}},
		Rejected: []Raw{{Topic: "t", Payload: []byte{0, 1}, Retained: true, Arrival: 3, Reason: "decode"}},
	}
	if n := commit(t, s, b); n != 1 {
		t.Errorf("first record is %d, want 1", n)
	}
	closeChecked(t, s)
	s = open(t, o)
	want := &Snapshot{
		State: []byte("state 1"), Held: []byte("held"), NextRecord: 2, NextSeq: 2, Floor: reading.NoTime,
		Marks:   []Mark{{"s1", -1, reading.NoTime, reading.NoTime, reading.NoTime}, {"s2", 20, 10, 5, 6}},
		Late:    b.Late,
		Packets: []PacketRecord{{1, b.Packets}},
		Counts:  PointCounts{Updated: 1, Queued: 1},
	}
	if got := load(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("Load = %+v, want %+v", got, want)
	}
	if got := journal(t, s); !reflect.DeepEqual(got, map[uint64][]Entry{1: b.Journal}) {
		t.Errorf("journal = %+v", got)
	}
	if lines, err := s.Input("file 1"); lines != 1<<40 || err != nil {
		t.Errorf("Input = %d, %v", lines, err)
	}
	if lines, err := s.Input("file 2"); lines != 0 || err != nil {
		t.Errorf("Input of an unknown file = %d, %v", lines, err)
	}
	if got := peek(t, s, 0); !reflect.DeepEqual(got, []Point{{Seq: 1, Kind: Updated, Line: []byte("l"), End: 300, Start: -300, Series: "a", Replaces: 7}}) {
		t.Errorf("Peek = %+v", got)
	}
}

func TestBlobs(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 1000)
	changed := bytes.Clone(long)
	changed[5000] = 'x'
	o := options(t.TempDir())
	s := open(t, o)
	for i, step := range []struct {
		state, held         []byte
		wantState, wantHeld []byte
	}{
		{nil, nil, nil, nil},
		{long, []byte("h"), long, []byte("h")},
		{nil, nil, long, []byte("h")},
		{changed, []byte{}, changed, nil},
		{changed[:partSize-crcSize], long, changed[:partSize-crcSize], long},
		{[]byte("s"), long[:9], []byte("s"), long[:9]},
		{[]byte{}, []byte{}, nil, nil},
	} {
		commit(t, s, &Batch{State: step.state, Held: step.held})
		closeChecked(t, s)
		s = open(t, o)
		if got := load(t, s); !bytes.Equal(got.State, step.wantState) || !bytes.Equal(got.Held, step.wantHeld) {
			t.Errorf("step %d: state %d bytes, held %q", i, len(got.State), got.Held)
		}
	}
}

func TestPacketsAndInputs(t *testing.T) {
	s := open(t, options(t.TempDir()))
	for i, step := range []struct {
		b    Batch
		want []uint64 // records that hold packets
	}{
		{Batch{Packets: []Packet{{1, 1}}}, []uint64{1}},
		{Batch{Packets: []Packet{{2, 2}}}, []uint64{1, 2}},
		{Batch{}, []uint64{1, 2}},
		{Batch{Packets: make([]Packet, 500)}, []uint64{1, 2, 4}},
		{Batch{ForgetPackets: 1}, []uint64{2, 4}},
		{Batch{ForgetPackets: 3, Packets: []Packet{{3, 3}}}, []uint64{4, 6}},
		{Batch{ClearPackets: true, Packets: []Packet{{4, 4}}}, []uint64{7}},
		{Batch{ClearPackets: true}, nil},
		{Batch{Marks: []Mark{{Sensor: "a"}, {Sensor: "b"}}}, nil},
		{Batch{DropMarks: []string{"a", "none"}}, nil},
	} {
		commit(t, s, &step.b)
		var got []uint64
		for _, r := range load(t, s).Packets {
			got = append(got, r.Record)
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("step %d: packets in records %v, want %v", i, got, step.want)
		}
	}
	if got := load(t, s).Marks; len(got) != 1 || got[0].Sensor != "b" {
		t.Errorf("marks = %v, want b alone", got)
	}
}
