package reading

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestSiblings decodes samples of our own beside the given ones: more of the same families, and of others, each as its
// documentation has it. It also says how many of a family are right.
func TestSiblings(t *testing.T) {
	right, all := map[string]int{}, map[string]int{}
	for _, s := range loadLines(t, "testdata/siblings.ndjson") {
		all[s.Family]++
		if t.Run(s.ID, s.sibling) {
			right[s.Family]++
		}
	}
	for family, n := range all {
		t.Logf("%s: %d of %d", family, right[family], n)
	}
}

func (s *sample) sibling(t *testing.T) {
	d := compileOne(t, s.Rule.rule(t))
	m := s.message(t)
	var res Result
	d.decode(m, &res)
	if empty := len(res.Readings)+len(res.Refusals) == 0; empty != s.NoMatch {
		t.Fatalf("%+v, want no source to match: %v", res, s.NoMatch)
	}
	var reasons []string
	for _, r := range res.Refusals {
		reasons = append(reasons, r.Reason.String())
	}
	slices.Sort(reasons)
	slices.Sort(s.Refused)
	if !slices.Equal(reasons, s.Refused) {
		t.Errorf("refused %v (%+v), want %v", reasons, res.Refusals, s.Refused)
	}
	got := kept(d, m, res.Readings)
	if len(got) != len(s.Expect) {
		t.Fatalf("readings %+v, refusals %+v; want %+v", res.Readings, res.Refusals, s.Expect)
	}
	for i, want := range s.Expect {
		r := got[i]
		if r.Series != Series(want.Sensor) || math.Abs(r.Value-want.Value) > 0.005 || r.Time != s.when(t, want.Time, m.Arrival) {
			t.Errorf("reading %d = %+v, want %+v", i, r, want)
		}
		if r.ArrivalTimed != strings.HasPrefix(want.Time, "ingest") {
			t.Errorf("reading %d: arrival-timed %v, want time %s", i, r.ArrivalTimed, want.Time)
		}
	}
}
