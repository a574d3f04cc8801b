package buffer

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"edgeagent/reading"
)

func TestPackEntries(t *testing.T) {
	const sec = int64(1e9)
	for name, want := range map[string][]Entry{
		"none":              {},
		"one":               {{Series: "a", Time: 1, Value: 2}},
		"extremes of time":  {{Series: "a", Time: math.MaxInt64}, {Series: "a", Time: math.MinInt64}, {Series: "a", Time: math.MaxInt64}, {Series: "a"}},
		"whole seconds":     {{Series: "a", Time: 1700000000 * sec, Value: 21.5}, {Series: "a", Time: -1700000000 * sec, Value: -1}},
		"one odd ns":        {{Series: "a", Time: 1700000000 * sec}, {Series: "a", Time: 1700000000*sec + 1}},
		"order is kept":     {{Series: "b", Time: 9}, {Series: "a", Time: 3}, {Series: "b", Time: 5}, {Series: "a", Time: 3}},
		"kinds and ticks":   {{Series: "a", Kind: Late, Time: 5}, {Kind: BareTick, Tick: true}, {Series: "a", Tick: true, Value: 1}},
		"values":            {{Series: "a", Value: math.MaxFloat64}, {Series: "a", Value: math.Copysign(0, -1)}, {Series: "a", Value: math.SmallestNonzeroFloat64}},
		"series with tags":  {{Series: "a\x00k\x00v"}, {Series: "a"}, {Series: "a\x00k\x00v"}},
		"series of no name": {{Series: ""}, {Series: ""}},
	} {
		var u unpacker
		got, err := u.unpack(packEntries(nil, want))
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i := range want {
			if got[i] != want[i] || math.Signbit(got[i].Value) != math.Signbit(want[i].Value) {
				t.Errorf("%s: entry %d = %+v, want %+v", name, i, got[i], want[i])
			}
		}
	}
}

func TestPackSize(t *testing.T) {
	var entries []Entry
	for i := range 4096 {
		entries = append(entries, Entry{Series: reading.Series(fmt.Sprint("sensor-", i%100)), Time: 1700000000e9 + int64(i)*5e6, Value: 21.37})
	}
	perEntry := float64(len(packEntries(nil, entries))) / 4096
	if perEntry > 13 {
		t.Errorf("%.1f bytes an entry, want at most 13 (flags, series, milliseconds, value)", perEntry)
	}
	for _, e := range entries[:1] {
		one := int64(len(seal(nil, packEntries(nil, []Entry{e}))))
		if EntrySize(e) < one {
			t.Errorf("EntrySize = %d, the packed entry alone has %d", EntrySize(e), one)
		}
	}
}

func TestUnpackRefusesDamage(t *testing.T) {
	good := packEntries(nil, []Entry{{Series: "a", Time: 1, Value: 2}, {Series: "a", Time: 2, Value: 3}})
	with := func(at int, b byte) []byte {
		d := append([]byte(nil), good...)
		d[at] = b
		return d
	}
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":         {nil, errFormat},
		"unit":          {with(0, 9), errFormat},
		"more entries":  {with(1, 3), errFormat},
		"fewer entries": {with(1, 1), errExtra},
		"huge count":    {append([]byte{0}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), errFormat},
		"unknown flag":  {with(2, 0x80), errFormat},
		"unknown kind":  {with(2, kindMask|flagNew), errFormat},
		"series index":  {with(2, 0), errFormat},
		"cut":           {good[:len(good)-1], errFormat},
		"left over":     {append(append([]byte(nil), good...), 0), errExtra},
	} {
		var u unpacker
		if _, err := u.unpack(c.data); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestDecodersRefuseEveryCut(t *testing.T) {
	p := Point{Kind: Carried, Line: nil, End: 1 << 40, Start: -1 << 40, Series: "abc", Replaces: 1 << 50}
	point := appendPoint(nil, &p)
	raw := appendRaw(nil, &Raw{Topic: "topic", Arrival: 1 << 40, Reason: "r"})
	parked := appendParked(nil, &Parked{Time: 1 << 40, Reason: "reason"}, point)
	late := appendLate(nil, LateCount{Interval: 1 << 40, Count: 1, Total: 1 << 20})
	mark := appendMark(nil, Mark{M: 1, W: 2, Gone: reading.NoTime, Forgot: reading.NoTime})
	c := counters{}
	for name, d := range map[string]struct {
		data   []byte
		decode func([]byte) error
	}{
		"point":    {point, func(b []byte) error { _, err := decodePoint(1, b); return err }},
		"raw":      {raw, func(b []byte) error { _, err := decodeRaw(b); return err }},
		"parked":   {parked, func(b []byte) error { _, err := decodeParked(1, b); return err }},
		"late":     {late, func(b []byte) error { _, err := decodeLate("a", b); return err }},
		"mark":     {mark, func(b []byte) error { _, err := decodeMark("a", b); return err }},
		"packets":  {packPackets([]Packet{{1, 2}}), func(b []byte) error { _, err := unpackPackets(b); return err }},
		"counters": {c.encode(), func(b []byte) error { _, err := decodeCounters(b); return err }},
	} {
		if err := d.decode(d.data); err != nil {
			t.Errorf("%s: whole: %v", name, err)
		}
		for n := 1; n < len(d.data); n++ {
			if err := d.decode(d.data[:n]); err == nil {
				t.Errorf("%s: cut to %d of %d bytes was taken", name, n, len(d.data))
			}
		}
	}
	if got, _ := decodePoint(3, point); !reflect.DeepEqual(got, Point{Seq: 3, Kind: Carried, End: 1 << 40, Start: -1 << 40, Series: "abc", Replaces: 1 << 50}) {
		t.Errorf("point = %+v", got)
	}
}
