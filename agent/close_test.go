package agent

import "testing"

func TestReadingsAfterAClose(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, nil)
		r.live("a", 650, 1)
		r.live("b", 1000, 1)
		r.live("a", 0, 1)
		r.live("a", 1, 1)
		r.e.Close()
		r.puts("closed", "a@600 count=1 max=1", "b@900 count=1 max=1", "late_drops a@900 count=2 max_lateness_s=1000 total=2")
		if restart {
			r.reopen(nil)
		}
		r.e.Close()
		r.puts("nothing is put out twice")
		r.mark("W at the largest end", "", 1000, 1200)
		r.live("b", 1199.999, 2)
		r.live("a", 2, 1)
		r.counts("what was sent is not opened again", counts{"received": 6, "windowed": 2, "late": 4})
		r.live("b", 1200, 2)
		r.puts("the later report carries the whole count", "late_drops a@900 count=3 max_lateness_s=1000 total=3",
			"late_drops b@900 count=1 max_lateness_s=0 total=1")
		r.live("a", 3, 1)
		r.e.Close()
		r.puts("totals go on", "b@1200 count=1 max=2", "late_drops a@1200 count=1 max_lateness_s=1197 total=4")
	}
}

// A closed window of an allowance still takes readings; each puts its point out anew.
func TestCloseWithAnAllowance(t *testing.T) {
	for _, restart := range []bool{false, true} {
		r := newRig(t, func(s *Setup) { s.Rules.Allowed = 10 * minute })
		r.live("a", 0, 1)
		r.e.Close()
		r.puts("closed", "a@0 count=1 max=1")
		if restart {
			r.reopen(nil)
		}
		r.live("a", 10, 2)
		r.puts("updated", "a@0 count=2 max=2")
		if c := r.store.Counts(); c.Finalized != 1 || c.Updated != 1 {
			t.Errorf("points %+v", c)
		}
	}
}

// The ticks of emit = "update" are in the journal: a restart neither repeats nor forgets an update.
func TestUpdatesOverRestarts(t *testing.T) {
	for cut := range 6 {
		r := newRig(t, func(s *Setup) {
			s.Rules.Update, s.Rules.UpdateInterval, s.Identity.Update = true, minute, true
		})
		steps := []struct {
			feed func()
			want []string
		}{
			{func() { r.live("a", 10, 1); r.live("b", 59, 1) }, nil},
			{func() { r.live("a", 60, 2) }, []string{"a@0 count=2 final=false max=2", "b@0 count=1 final=false max=1"}},
			{func() { r.live("a", 61, 3); r.live("a", 119, 1) }, nil},
			{func() { r.live("b", 250, 0) }, []string{"a@0 count=4 final=false max=3", "b@0 count=2 final=false max=1"}},
			{func() { r.live("c", 310, 0) }, []string{"c@300 count=1 final=false max=0"}},
			{func() { r.live("c", 901, 0) }, []string{"a@0 count=4 final=true max=3", "b@0 count=2 final=true max=1", "c@900 count=1 final=false max=0"}},
		}
		for i, s := range steps {
			s.feed()
			r.puts("step", s.want...)
			if i == cut {
				r.reopen(nil)
			}
		}
		if c := r.store.Counts(); c.Finalized != 2 || c.Updated != 6 || c.Superseded != 4 || c.Queued != 4 {
			t.Errorf("cut after %d: points %+v", cut, c)
		}
	}
}
