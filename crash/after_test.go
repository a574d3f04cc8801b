package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"edgeagent/agent"
	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/sim"
)

// longestStart is how long a store may take to open after a cut.
const longestStart = 10 * time.Second

// inMemory is a folder that is not on a disk, so that thousands of starts need not wait for one; "" if there is none.
func inMemory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err != nil || !info.IsDir() {
		return ""
	}
	return shm
}

// start opens what a cut left and holds it to what was acknowledged and offered by then.
func (u *cutter) start(dir string, line int) error {
	var log bytes.Buffer
	began := time.Now()
	s, err := buffer.Open(buffer.Options{Dir: dir, FloorStep: int64(u.size), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		return err
	}
	taken, err := u.look(s, line)
	u.slowest = max(u.slowest, time.Since(began))
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if log.Len() > 0 {
		return fmt.Errorf("start says %q", log.String())
	}
	if time.Since(began) > longestStart {
		return fmt.Errorf("start took %v", time.Since(began))
	}
	if err := u.checkFloor(dir, line); err != nil {
		return err
	}
	if u.goOn > 0 && u.rng.IntN(u.goOn) == 0 {
		u.gone++
		return u.goOnFrom(dir, line, taken)
	}
	return nil
}

// look compares a store with what the oracle has of as many messages as it says it has taken.
func (u *cutter) look(s *buffer.Store, line int) (taken int, err error) {
	snap, err := s.Load()
	if err != nil {
		return 0, err
	}
	if err := errors.Join(s.Check(), s.Journal(func(uint64, []buffer.Entry) error { return nil })); err != nil {
		return 0, err
	}
	ledger, err := ledgerIn(snap)
	if err != nil {
		return 0, err
	}
	taken = int(ledger.Received)
	if acked := before(u.acks, line); taken < acked || taken > len(u.sent) {
		return 0, fmt.Errorf("%d messages are in the store, %d were acknowledged, %d sent", taken, acked, len(u.sent))
	}
	want := u.prefix[taken]
	if err := sameColumns(ledger, want.Ledger); err != nil {
		return 0, err
	}
	c := snap.Counts
	if !c.Balanced() || c.Finalized != want.Count(sim.Finalized) || c.LateReports != want.Count(sim.LateReport) || c.Parked > 0 || c.Evicted > 0 && !u.evicts {
		return 0, fmt.Errorf("points %+v, want %d finalized and %d late reports", c, want.Count(sim.Finalized), want.Count(sim.LateReport))
	}
	if err := lateIn(s, want.Late); err != nil {
		return 0, err
	}
	if u.evicts {
		u.evicted = max(u.evicted, c.Evicted)
		return taken, nil
	}
	return taken, u.checkPoints(s, want, line)
}

// before is how many of ascending lines are not after line.
func before(lines []int, line int) int {
	n, found := slices.BinarySearch(lines, line+1)
	for found && n > 0 && lines[n-1] > line {
		n--
	}
	return n
}

func sameColumns(got, want sim.Ledger) error {
	zero := func(_ string, n int64) bool { return n == 0 }
	maps.DeleteFunc(got.Rejected, zero)
	if got.Received != want.Received || got.Windowed != want.Windowed || got.Late != want.Late || got.Duplicate != want.Duplicate || !maps.Equal(got.Rejected, want.Rejected) {
		return fmt.Errorf("ledger %+v, want %+v", got, want)
	}
	return nil
}

// gatewayTag is in every point.
var gatewayTag = sim.Naming{Tags: []reading.Tag{{Key: "gateway", Value: "gw"}}}

// shown is a point for comparison.
func shown(l sim.Line) string { return fmt.Sprint(l.Name(), " ", l.Time, " ", l.Fields) }

// offeredBy is what had been on its way to the server by a line of the trace.
func (u *cutter) offeredBy(line int) []sim.Line {
	var lines []sim.Line
	for _, o := range u.offers {
		if o.begin <= line {
			lines = append(lines, o.line)
		}
	}
	return lines
}

// checkPoints demands that every point made is either queued or was offered, and that nothing else is.
func (u *cutter) checkPoints(s *buffer.Store, want sim.Result, line int) error {
	here := map[string]bool{}
	queued, err := s.Peek(0, 1<<20, 1<<30)
	if err != nil {
		return err
	}
	for _, p := range queued {
		l, err := sim.ParseLines(p.Line)
		if err != nil {
			return err
		}
		here[shown(l[0])] = true
	}
	for _, l := range u.offeredBy(line) {
		here[shown(l)] = true
	}
	var lines []sim.Line
	for _, p := range want.Points {
		lines = append(lines, gatewayTag.Line(p))
	}
	for _, l := range want.Late {
		lines = append(lines, gatewayTag.LateLine(l))
	}
	expected := map[string]bool{}
	for _, l := range lines {
		text := shown(l)
		if !here[text] {
			return fmt.Errorf("point %s is neither queued nor was it offered", text)
		}
		expected[text] = true
	}
	maps.DeleteFunc(here, func(text string, _ bool) bool { return expected[text] })
	for text := range here {
		return fmt.Errorf("point %s is there, of readings that are not", text)
	}
	return nil
}

// checkFloor demands that the floor is at or above the end of everything offered.
func (u *cutter) checkFloor(dir string, line int) error {
	text, err := os.ReadFile(filepath.Join(dir, "floor"))
	if err != nil {
		return err
	}
	var floor int64
	if _, err := fmt.Sscanf(string(text), "floor %d", &floor); err != nil {
		return fmt.Errorf("floor %q: %w", text, err)
	}
	for _, l := range u.offeredBy(line) {
		if end := l.Time + int64(u.size); end > floor && !isLate(l) {
			return fmt.Errorf("floor %d is below %d, which was offered", floor, end)
		}
	}
	return nil
}

// goOnFrom takes the messages that are not in the store, and demands that the server holds in the end what it would have
// held without the cut.
func (u *cutter) goOnFrom(dir string, line, taken int) error {
	var out, log bytes.Buffer
	r, err := agent.OpenReplay(agent.ReplayOptions{Config: u.cfg, StateDir: dir, Close: true, BuildDate: fleetStart, Out: &out, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		return err
	}
	var rest bytes.Buffer
	for _, m := range u.sent[taken:] {
		rest.Write(m.Line())
	}
	rec, err := agent.NewRecording("rest", io.Reader(&rest), "")
	if err != nil {
		return err
	}
	if err := r.Feed(context.Background(), rec); err != nil {
		return errors.Join(err, r.Abort())
	}
	if _, err := r.Finish(); err != nil {
		return err
	}
	if log.Len() > 0 {
		return fmt.Errorf("going on says %q", log.String())
	}
	lines, err := sim.ParseLines(out.Bytes())
	if err != nil || u.evicts {
		return err
	}
	params := sim.Params{Size: u.size, Delay: 10 * time.Minute, Close: true}
	want := sim.Oracle(params, sim.Items(u.sent, false))
	all := append(u.offeredBy(line), lines...)
	if err := lateAmong(all, want.Late); err != nil {
		return fmt.Errorf("going on: %w", err)
	}
	if diffs := sim.Compare(want, slices.DeleteFunc(all, isLate), gatewayTag); diffs != nil {
		return fmt.Errorf("going on, %d points differ: %s", len(diffs), strings.Join(diffs[:min(3, len(diffs))], "; "))
	}
	return nil
}
