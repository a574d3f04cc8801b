package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
)

var gw7 = Naming{Tags: []reading.Tag{{Key: "gateway", Value: "gw-07"}}}

func TestNaming(t *testing.T) {
	window := Point{Identity: Identity{Start: ns(0), Series: "k1\x00room\x00b\x00zone\x00c"}, Count: 2, Max: 30, Min: 1, Mean: 2.5, Sum: 5,
		First: 3, Last: 4, Stdev: 0.5, Final: true}
	late := Point{Identity: Identity{Late: true, Start: ns(0), Series: "k1"}, Count: 3, Total: 17, MaxLateness: 812_500_000_000}
	all := gw7
	all.Measurement, all.StampEnd, all.Size, all.Updates = "temp", true, 5*time.Minute, true
	all.Aggregates = []string{"max", "count", "min", "mean", "sum", "first", "last", "stddev"}
	for _, c := range []struct {
		name  Naming
		point Point
		want  string
	}{
		{gw7, window, "temperature,gateway=gw-07,sensor=k1,room=b,zone=c max=30,count=2i 1700000100000000000"},
		{gw7, late, "late_drops,gateway=gw-07,sensor=k1 count=3i,total=17i,max_lateness_s=812.5 1700000100000000000"},
		{all, late, "late_drops,gateway=gw-07,sensor=k1 count=3i,total=17i,max_lateness_s=812.5 1700000100000000000"},
		{all, window, "temp,gateway=gw-07,sensor=k1,room=b,zone=c " +
			"max=30,count=2i,min=1,mean=2.5,sum=5,first=3,last=4,stddev=0.5,final=true 1700000400000000000"},
	} {
		got := c.name.Line(c.point)
		want := lines(t, c.want)[0]
		if keyOf(got) != keyOf(want) || !sameFields(want.Fields, got.Fields) {
			t.Errorf("got %v %v, want %v %v", keyOf(got), got.Fields, keyOf(want), want.Fields)
		}
	}
}

func lines(t *testing.T, text string) []Line {
	t.Helper()
	l, err := ParseLines([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCompare(t *testing.T) {
	want := Oracle(tenMinutes, []Item{read("a", 0, 30), read("b", 10, 20), read("a", 1200, 1), read("b", 1, 5), read("a", 1500, 1)})
	const a = "temperature,gateway=gw-07,sensor=a max=30,count=1i 1700000100000000000\n"
	const b = "temperature,sensor=b,gateway=gw-07 count=1i,max=20 1700000100000000000\n"
	const late = "late_drops,gateway=gw-07,sensor=b count=1i,total=1i,max_lateness_s=1199 1700001300000000000\n"
	for _, c := range []struct {
		name, got string
		want      []string
	}{
		{"the same", a + b + late, nil},
		{"twice, in any order, with health", late + b + a + a + "edgeagent,gateway=gw-07 received=5i 1700000100000000000\n", nil},
		{"an older value first", strings.Replace(a, "30", "29", 1) + a + b + late, nil},
		{"an older value last", a + strings.Replace(a, "30", "29", 1) + b + late, []string{
			"differs: temperature,gateway=gw-07,sensor=a at 2023-11-14T22:15:00Z: want count=1i,max=30, got count=1i,max=29"}},
		{"missing", a + late, []string{"missing: temperature,gateway=gw-07,sensor=b at 2023-11-14T22:15:00Z: want count=1i,max=20"}},
		{"extra", a + b + late + "temperature,gateway=gw-07,sensor=c max=1,count=1i 1700000100000000000", []string{
			"extra: temperature,gateway=gw-07,sensor=c at 2023-11-14T22:15:00Z: got count=1i,max=1"}},
		{"an integer for a float", strings.Replace(a, "30", "30i", 1) + b + late, []string{
			"differs: temperature,gateway=gw-07,sensor=a at 2023-11-14T22:15:00Z: want count=1i,max=30, got count=1i,max=30i"}},
		{"a field too many", strings.Replace(a, "max", "min=1,max", 1) + b + late, []string{
			"differs: temperature,gateway=gw-07,sensor=a at 2023-11-14T22:15:00Z: want count=1i,max=30, got count=1i,max=30,min=1"}},
		{"nothing", "", []string{
			"missing: temperature,gateway=gw-07,sensor=a at 2023-11-14T22:15:00Z: want count=1i,max=30",
			"missing: temperature,gateway=gw-07,sensor=b at 2023-11-14T22:15:00Z: want count=1i,max=20",
			"missing: late_drops,gateway=gw-07,sensor=b at 2023-11-14T22:35:00Z: want count=1i,max_lateness_s=1199,total=1i"}},
	} {
		if got := Compare(want, lines(t, c.got), gw7); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParseLinesNamesTheLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"m v=1 1\nm v 1", "parse line 2: "}, {"m v=1", "parse line 1: line has no timestamp"}, {"m v=1 1\n\n# x\nm,a v=1 1", "parse line 4: "},
	} {
		if _, err := ParseLines([]byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s…", c.text, err, c.want)
		}
	}
}
