package agent

import "testing"

// quiet is a rig with an idle timeout of 30 min.
func quiet(t *testing.T, perSensor bool) *rig {
	return newRig(t, func(s *Setup) { s.Rules.IdleTimeout, s.Rules.PerSensor = 30*minute, perSensor })
}

// idle has the engine look at the time after being online for s seconds.
func (r *rig) idle(s float64) {
	r.now.Online = int64(s * 1e9)
	r.e.Idle(r.now)
}

func (r *rig) mark(what, sensor string, m, w float64) {
	r.t.Helper()
	sc := r.e.stream
	if sc == nil {
		sc = r.e.sensors[sensor].scope
	}
	if sc.mark.M != at(m) || sc.mark.W != at(w) {
		r.t.Errorf("%s: M %v, W %v, want %v, %v", what, float64(sc.mark.M-t0)/1e9, float64(sc.mark.W-t0)/1e9, m, w)
	}
}

func TestIdleMovesTheStream(t *testing.T) {
	r := quiet(t, false)
	r.idle(7200)
	r.live("a", 10, 1)
	r.idle(7200 + 1800)
	r.mark("at the timeout", "", 10, -590)
	r.idle(7200 + 1800 + 5)
	r.mark("5 s beyond", "", 15, -585)
	r.idle(7200 + 1800 + 889)
	r.puts("M one second short of end + delay")
	r.idle(7200 + 1800 + 890)
	r.puts("M at end + delay", "a@0 count=1 max=1")
	r.idle(90000)
	r.mark("no further than the window needs", "", 900, 300)
	r.live("a", 300, 2)
	r.mark("a backlog does not find M run away", "", 900, 300)
	r.counts("nor is it late", counts{"received": 2, "windowed": 2})
	r.idle(90000 + 1800 + 100)
	r.mark("from the M that stood at the last reading", "", 1000, 400)
}

func TestIdleAfterARestart(t *testing.T) {
	r := quiet(t, false)
	r.live("a", 10, 1)
	r.idle(1800 + 60)
	r.mark("before", "", 70, -530)
	r.reopen(nil)
	r.idle(1800)
	r.mark("the silence begins anew", "", 70, -530)
	r.idle(1800 + 830)
	r.puts("and goes on from the stored M", "a@0 count=1 max=1")
}

func TestIdleReportsLateCounts(t *testing.T) {
	r := quiet(t, false)
	r.live("a", 900, 1)
	r.live("a", 0, 1)
	r.puts("late", []string{}...)
	r.e.Close()
	r.puts("both out by hand", "a@900 count=1 max=1", "late_drops a@900 count=1 max_lateness_s=900 total=1")
	r.idle(1800 + 7200)
	r.mark("nothing waits then", "", 900, 1200)
	r.live("a", 1, 1)
	r.idle(1800 + 7200 + 7200)
	r.puts("only the late count does", "late_drops a@900 count=2 max_lateness_s=900 total=2")
	r.mark("and M goes no further than its interval", "", 1200, 1200)
}

func TestIdleByWindowsAndCountsTogether(t *testing.T) {
	r := quiet(t, false)
	r.live("a", 2000, 1)
	r.live("a", 0, 1)
	r.idle(1800 + 9000)
	r.puts("the late interval is left first", "a@1800 count=1 max=1", "late_drops a@1800 count=1 max_lateness_s=2000 total=1")
	r.mark("at end + delay", "", 2700, 2100)
}

func TestIdleBySensor(t *testing.T) {
	r := quiet(t, true)
	r.live("b", 0, 1)
	r.now.Online = 1000 * second
	r.live("a", 5000, 2)
	r.idle(1800 + 900)
	r.puts("b alone has been silent for long enough", "b@0 count=1 max=1")
	r.mark("b", "b", 900, 300)
	r.mark("a", "a", 5000, 4400)
	r.idle(1000 + 1800 + 700)
	r.puts("a", "a@4800 count=1 max=2")
}

func TestIdleOff(t *testing.T) {
	r := newRig(t, nil)
	r.live("a", 0, 1)
	r.idle(1e6)
	r.mark("idle_timeout = 0", "", 0, -600)
}

func TestIdlePutsOutUpdates(t *testing.T) {
	r := newRig(t, func(s *Setup) {
		s.Rules.IdleTimeout, s.Rules.Update, s.Rules.UpdateInterval = 30*minute, true, minute
		s.Identity.Update = true
	})
	r.live("a", 10, 1)
	r.idle(1800 + 49)
	r.puts("M at 59 s")
	r.idle(1800 + 50)
	r.puts("M passes a multiple", "a@0 count=1 final=false max=1")
	r.reopen(nil)
	r.idle(1800 + 60)
	r.puts("nothing has changed since, a restart between or not")
	r.live("a", 200, 2)
	r.puts("changed", "a@0 count=2 final=false max=2")
}
