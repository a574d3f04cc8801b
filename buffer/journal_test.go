package buffer

import (
	"errors"
	"reflect"
	"testing"

	"edgeagent/reading"
)

func TestForgetAndCompactJournal(t *testing.T) {
	e := func(v float64) Entry { return Entry{Series: "a", Time: int64(v), Value: v} }
	tick := func(v float64) Entry { x := e(v); x.Tick = true; return x }
	bare := func(series reading.Series, v int64) Entry {
		return Entry{Series: series, Time: v, Kind: BareTick, Tick: true}
	}
	keepOver := func(v float64) func(uint64, Entry) bool { return func(_ uint64, x Entry) bool { return x.Value > v } }
	s := open(t, options(t.TempDir()))
	for _, step := range []struct {
		name string
		b    Batch
		want map[uint64][]Entry
	}{
		{"1", Batch{Journal: []Entry{e(1), e(2)}}, map[uint64][]Entry{1: {e(1), e(2)}}},
		{"2: none", Batch{}, map[uint64][]Entry{1: {e(1), e(2)}}},
		{"3", Batch{Journal: []Entry{tick(3), e(9), tick(4), tick(5)}}, map[uint64][]Entry{1: {e(1), e(2)}, 3: {tick(3), e(9), tick(4), tick(5)}}},
		{"4: forget", Batch{ForgetJournal: 2}, map[uint64][]Entry{3: {tick(3), e(9), tick(4), tick(5)}}},
		{"5: compact", Batch{CompactJournal: 3, Keep: keepOver(5), Journal: []Entry{e(6)}},
			map[uint64][]Entry{3: {bare("a", 3), e(9), bare("a", 4)}, 5: {e(6)}}},
		{"6: all kept", Batch{CompactJournal: 5, Keep: func(uint64, Entry) bool { return true }},
			map[uint64][]Entry{5: {bare("a", 3), e(9), bare("a", 4), e(6)}}},
		{"7: a record of that number is not there", Batch{CompactJournal: 6, Keep: keepOver(6), Journal: []Entry{tick(20), tick(20.5)}},
			map[uint64][]Entry{6: {bare("a", 3), e(9), bare("a", 4)}, 7: {tick(20), tick(20.5)}}},
		{"8: a kept tick hides the next", Batch{CompactJournal: 7, Keep: func(_ uint64, x Entry) bool { return x.Value == 20 }},
			map[uint64][]Entry{7: {bare("a", 3), tick(20)}}},
		{"9: forget all", Batch{ForgetJournal: 100}, map[uint64][]Entry{}},
		{"10", Batch{Journal: []Entry{e(1)}}, map[uint64][]Entry{10: {e(1)}}},
		{"11: nothing kept", Batch{CompactJournal: 10, Keep: keepOver(5)}, map[uint64][]Entry{}},
	} {
		commit(t, s, &step.b)
		if got := journal(t, s); !reflect.DeepEqual(got, step.want) {
			t.Errorf("%s: journal %+v\nwant %+v", step.name, got, step.want)
		}
	}
}

// Dropping the tick of b because a ticked just before would leave b's window as if not put out.
func TestCompactionKeepsATickOfEachSensor(t *testing.T) {
	entry := func(sensor reading.Series, tick bool) Entry { return Entry{Series: sensor, Value: 1, Tick: tick} }
	f := keeper{keep: func(e Entry) bool { return e.Value == 2 }}
	for _, e := range []Entry{
		entry("a\x00k\x00v", true), entry("b", true), entry("a", true), entry("b", true),
		{Series: "b", Value: 2}, entry("a", true), {Series: "a", Value: 2, Tick: true}, entry("a", true), entry("b", false),
	} {
		f.add(e)
	}
	bare := func(sensor reading.Series) Entry { return Entry{Series: sensor, Kind: BareTick, Tick: true} }
	want := []Entry{bare("a"), bare("b"), {Series: "b", Value: 2}, bare("a"), {Series: "a", Value: 2, Tick: true}}
	if !reflect.DeepEqual(f.kept, want) {
		t.Errorf("kept %+v\nwant %+v", f.kept, want)
	}
}

func TestJournalCallbackError(t *testing.T) {
	s := open(t, options(t.TempDir()))
	commit(t, s, &Batch{Journal: []Entry{{Series: "a"}}})
	stop := errors.New("stop")
	if err := s.Journal(func(uint64, []Entry) error { return stop }); err != stop {
		t.Errorf("Journal = %v, want the callback's error", err)
	}
}

func TestJournalFull(t *testing.T) {
	o := options(t.TempDir())
	o.MaxSize = 1 << 20
	s := open(t, o)
	var entries []Entry
	for i := range 500 {
		entries = append(entries, Entry{Series: reading.Series("sensor-" + string(rune('a'+i%20))), Time: int64(i) * 1e6, Value: 20.7})
	}
	var extra int64
	for _, e := range entries {
		extra += EntrySize(e)
	}
	commits := 0
	for !s.JournalFull(extra) {
		before := s.Stats().JournalBytes
		commit(t, s, &Batch{Journal: entries})
		if added := s.Stats().JournalBytes - before; added > extra {
			t.Fatalf("a commit added %d bytes, EntrySize promised at most %d", added, extra)
		}
		commits++
	}
	if got := s.Stats().JournalBytes; got > 512<<10 || got+extra <= 512<<10 {
		t.Errorf("journal full at %d bytes with %d more to come, want at half of 1 MiB", got, extra)
	}
	commit(t, s, &Batch{ForgetJournal: uint64(commits)})
	if s.JournalFull(extra) || s.Stats().JournalBytes != 0 || s.Stats().JournalRecords != 0 {
		t.Errorf("after forgetting all: %+v", s.Stats())
	}
}
