package agent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"edgeagent/reading"
	"edgeagent/sim"
)

// TestSharesAgainstOracle deals a site out to several agents, each with commits and restarts of its own: their points and
// ledgers together are those of the one agent that the oracle is.
func TestSharesAgainstOracle(t *testing.T) {
	eachDraw(t, func(t *rapid.T, dir string, p sim.Params) {
		agents := make([]*bench, rapid.IntRange(2, 4).Draw(t, "agents"))
		for i := range agents {
			setup := setupFor(p)
			setup.Rules.Share = Share{Nth: uint64(i + 1), Of: uint64(len(agents))}
			agents[i] = newBench(t, filepath.Join(dir, fmt.Sprint(i)), setup)
			defer func() { agents[i].store.Close() }()
		}
		front := rapid.Int64Range(-100, 1000).Draw(t, "front")
		var items []sim.Item
		for range rapid.IntRange(1, 40).Draw(t, "messages") {
			item := drawItem(t, &front)
			items = append(items, item)
			for _, b := range agents {
				b.feed(sim.Item{Readings: slices.Clone(item.Readings), Refusals: item.Refusals, Retained: item.Retained, Again: item.Again})
				if rapid.IntRange(0, 8).Draw(t, "cut") == 0 {
					b.note()
					b.restart()
				}
			}
		}
		together := &bench{setup: agents[0].setup}
		var sum Ledger
		var elsewhere int64
		for _, b := range agents {
			if p.Close {
				b.e.Close()
			}
			b.note()
			together.lines = append(together.lines, b.lines...)
			l := b.e.Ledger()
			if !l.Balanced() {
				t.Fatalf("ledger %+v", l)
			}
			sum.add(l)
			elsewhere += b.e.elsewhere.Count
			b.close()
		}
		want := sim.Oracle(p, items)
		naming := sim.Naming{Tags: []reading.Tag{{Key: "gateway", Value: "gw"}}, Aggregates: together.setup.Identity.Aggregates, Updates: p.UpdateInterval > 0}
		got, err := sim.ParseLines([]byte(strings.Join(together.lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if diffs := sim.Compare(want, got, naming); len(diffs) > 0 {
			t.Fatalf("%+v\ndiffer:\n%s\ngot:\n%s", p, strings.Join(diffs, "\n"), strings.Join(together.lines, "\n"))
		}
		l, w := sum, want.Ledger
		if l.Received != w.Received || l.Windowed != w.Windowed || l.Late != w.Late || l.Duplicate != w.Duplicate || l.Retained != w.Retained {
			t.Fatalf("%+v\nledgers together %+v, want %+v", p, l, w)
		}
		if again := elsewhere; again > int64(len(agents)-1)*w.Received {
			t.Fatalf("%d counted as another's, of %d received by %d agents", again, w.Received, len(agents))
		}
	})
}

// add adds up ledgers.
func (l *Ledger) add(o Ledger) {
	l.Received, l.Windowed, l.Late = l.Received+o.Received, l.Windowed+o.Windowed, l.Late+o.Late
	l.Duplicate, l.Retained = l.Duplicate+o.Duplicate, l.Retained+o.Retained
	for i := range l.Rejected {
		l.Rejected[i] += o.Rejected[i]
	}
}

// Readings too far ahead of an untrusted clock are held and released by every agent alike, whoever's they are.
func TestSharesHoldAlike(t *testing.T) {
	site := func(share Share) *rig {
		r := newRig(t, func(s *Setup) { s.Rules.MaxFuture, s.Rules.Share = 2*minute, share })
		r.now = Moment{Wall: t0}
		const day, hour = 86400, 3600.0
		r.live("a", 0, 1)
		r.live("b", 1, 2)
		r.live("a", 3*day, 3)        // held
		r.live("c", 5*day, 4)        // held
		r.live("b", 3*day+hour/2, 5) // held itself, and a witness: releases both
		r.live("d", 5*day+hour/3, 6) // releases c's
		r.live("e", 9*day, 7)        // held
		r.reopen(nil)
		r.live("a", 5*day+hour, 8)
		r.live("b", 5*day+2*hour, 9)
		r.note()
		return r
	}
	one := site(Share{})
	if w := one.e.Ledger().Windowed; w != 8 || len(one.e.held) != 1 {
		t.Fatalf("one alone windowed %d and holds %d, want 8 and 1", w, len(one.e.held))
	}
	var lines []string
	var received, windowed int64
	for nth := range uint64(3) {
		r := site(Share{Nth: nth + 1, Of: 3})
		if len(r.e.held) != 1 || r.e.stream.mark != one.e.stream.mark {
			t.Errorf("agent %d holds %d at %+v; one alone 1 at %+v", nth+1, len(r.e.held), r.e.stream.mark, one.e.stream.mark)
		}
		lines = append(lines, r.lines...)
		l := r.e.Ledger()
		received, windowed = received+l.Received, windowed+l.Windowed
	}
	slices.Sort(lines)
	if want := slices.Sorted(slices.Values(one.lines)); !slices.Equal(lines, want) {
		t.Errorf("together\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	if received != 8 || windowed != 8 {
		t.Errorf("together %d received, %d windowed, want 8 and 8", received, windowed)
	}
}

// What has no sensor is counted by one agent: by the topic it came on.
func TestSharesCountRefusalsOnce(t *testing.T) {
	var refused, ignored, tooBig, elsewhere int64
	for nth := range uint64(4) {
		r := newRig(t, func(s *Setup) { s.Rules.Share = Share{Nth: nth + 1, Of: 4} })
		for i := range 20 {
			topic := fmt.Sprint("sensors/", i)
			r.e.Message(Input{Result: &reading.Result{Refusals: []reading.Refusal{{Reason: reading.Value}}}, Topic: topic, Now: r.now})
			r.e.Message(Input{Result: &reading.Result{}, Topic: topic, Now: r.now})
			r.e.TooBig(topic, false, 0)
		}
		l := r.e.Ledger()
		refused, tooBig = refused+l.Rejected[reading.Value], tooBig+l.Rejected[reading.TooBig]
		ignored, elsewhere = ignored+r.e.ignored, elsewhere+r.e.elsewhere.Count
		if !l.Balanced() || l.Received == 0 || l.Received == 40 {
			t.Errorf("agent %d: %+v, want some of the 40", nth+1, l)
		}
	}
	if refused != 20 || tooBig != 20 || ignored != 20 || elsewhere != 3*40 {
		t.Errorf("%d refused, %d too big, %d ignored, %d elsewhere; want 20, 20, 20, 120", refused, tooBig, ignored, elsewhere)
	}
}
