package agent

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
)

// A commit that fails changes nothing: the same engine commits the same, and what has come meanwhile, to the store when it
// takes writes again.
func TestCommitIsTriedAgain(t *testing.T) {
	r := newRig(t, func(s *Setup) { s.Rules.Allowed, s.Rules.MaxSensors, s.Rules.SensorExpiry = 5*minute, 3, hour })
	feed := []func(){
		func() { r.live("a", 0, 1); r.live("b", 0, 1); r.live("a", 1100, 2) },
		func() { r.live("a", 10, 3); r.live("a", -900, 1) },
		func() { r.live("c", 6000, 3); r.live("d", 6000, 3); r.live("a", 9000, 1) },
	}
	feed[0]()
	r.note()
	fail := func() {
		t.Helper()
		var b buffer.Batch
		if err := r.e.Fill(&b); err != nil {
			t.Fatal(err)
		}
		b.Points = append(b.Points, buffer.Point{Kind: buffer.NumPointKinds}) // none such: the store refuses the batch at its end
		if _, err := r.store.Commit(&b); err == nil {
			t.Fatal("the store took a broken batch")
		}
	}
	for _, f := range feed[1:] {
		f()
		fail()
		fail()
	}
	r.note()
	want := []string{"b@0 count=1 max=1", "a@0 count=2 max=3", "a@900 count=1 max=2",
		"late_drops a@900 count=1 max_lateness_s=2000 total=1", "c@6000 count=1 max=3", "d@6000 count=1 max=3"}
	r.waits("after failures", 0, want...)
	r.sameAfterRestart()
	ledger, state := r.e.Ledger(), stateOf(t, r)

	r = newRig(t, func(s *Setup) { *s = r.setup })
	for _, f := range feed {
		f()
		r.note()
	}
	r.waits("without", 0, want...)
	if got := stateOf(t, r); r.e.Ledger() != ledger || got != state {
		t.Errorf("state after failures %s, without %s", state, got)
	}
}

func stateOf(t *testing.T, r *rig) string {
	t.Helper()
	text, err := json.Marshal(r.e.state())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whatever a message holds, and wherever the kill falls, its redelivery counts as duplicate if it was committed, and for the
// first time if it was not.
func TestKilledBetweenCommitAndAcknowledgement(t *testing.T) {
	messages := []struct {
		id    uint16
		res   reading.Result
		topic string
	}{
		{1, reading.Result{Readings: []reading.Reading{{Series: "a", Time: at(900), Value: 1}}}, "a"},
		{2, reading.Result{Readings: []reading.Reading{{Series: "a", Time: at(-1), Value: 1}, {Series: "a", Time: at(-2000), Value: 1}}}, "b"},
		{3, reading.Result{Refusals: []reading.Refusal{{Reason: reading.Value}, {Reason: reading.NoValue}}}, "c"},
		{4, reading.Result{Readings: []reading.Reading{{Series: "u", Time: at(950), Value: 1, ArrivalTimed: true}}}, "d"},
		{5, reading.Result{}, "ignored"},
		{6, reading.Result{Readings: []reading.Reading{{Series: "a", Time: at(5 * 86400), Value: 1}}}, "f"},
	}
	for kill := range len(messages) + 1 {
		for _, committed := range []bool{false, true} {
			r := newRig(t, func(s *Setup) { s.Rules.MaxFuture, s.Rules.Side = 2*minute, SideUplink })
			r.now.Trusted = false
			p := newPackets(time.Minute)
			p.session(true, 0)
			take := func(i int, dup bool) bool {
				m := messages[i]
				hash := hashOf(m.topic, nil)
				known := dup && p.known(m.id, hash)
				p.take(m.id, hash, r.e.Record())
				res := reading.Result{Readings: append([]reading.Reading(nil), m.res.Readings...), Refusals: m.res.Refusals}
				r.e.Message(Input{Result: &res, Known: known, Now: r.now})
				return known
			}
			for i := range kill {
				take(i, false)
			}
			if committed {
				p.fill(&r.batch, r.e.Record(), 0)
				r.note()
			}
			r.batch = buffer.Batch{}
			r.close()
			p = newPackets(time.Minute)
			r.open()
			restorePackets(t, r, p)
			p.session(true, 0)
			for i := range messages {
				if known := take(i, i < kill); known != (committed && i < kill) {
					t.Errorf("killed after %d, committed %v: message %d known %v", kill, committed, i+1, known)
				}
			}
			want := counts{"received": 6, "windowed": 2, "late": 2, "value": 1, "no_value": 1, "held": 1}
			if committed {
				again := []int64{0, 1, 3, 5, 6, 6, 7}[kill]
				want["received"], want["duplicate"] = want["received"]+again, again
			}
			r.counts("but for received and duplicate as without a kill", want)
			r.sideHolds("each late reading once", "a@-2000 1", "a@-1 1")
			if r.e.ignored != 1 {
				t.Errorf("killed after %d, committed %v: ignored %d, want 1", kill, committed, r.e.ignored)
			}
		}
	}
}

// restorePackets gives p what the store holds.
func restorePackets(t *testing.T, r *rig, p *packets) {
	t.Helper()
	snap, err := r.store.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range snap.Packets {
		p.restore(rec)
	}
}

// A disk that is nearly full takes some commits and refuses others, for hours: that is told less and less, and one that fails after a
// long good time is told at once.
func TestDiskThatFlaps(t *testing.T) {
	var log strings.Builder
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	a := &Agent{start: now, clock: Clock{Now: func() time.Time { return now }}, pace: newPace(time.Second), log: slog.New(slog.NewTextHandler(&log, nil))}
	flap := func() {
		a.commitFailed(buffer.ErrFull, a.up())
		now = now.Add(10 * time.Second)
		a.commitGood(1)
	}
	for range 12 * 60 {
		flap()
		now = now.Add(50 * time.Second)
	}
	if n := strings.Count(log.String(), "cannot write"); n < 12 || n > 20 || strings.Count(log.String(), "writes again") != n {
		t.Errorf("told %d times in 12 hours, and its end %d times", n, strings.Count(log.String(), "writes again"))
	}
	now = now.Add(10 * time.Hour)
	log.Reset()
	flap()
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("after a good time: %s", log.String())
	}
}
