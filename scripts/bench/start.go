package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"edgeagent/testbed"
)

const startAim = 60 * time.Millisecond

// starts measures the time from exec to the subscription.
func starts(s settings) error {
	var times []time.Duration
	for range s.runs {
		err := with(func(h *host) {
			b := newStrictBroker(h, 1, 0)
			x := newBox(h, s.agent, b.url)
			p, took := timeStart(h, b, x)
			times = append(times, took)
			x.stop(h, p)
		})
		if err != nil {
			return err
		}
	}
	fmt.Printf("start: %s with an empty store, aim %v\n", spread(times), startAim)
	if s.journal == 0 {
		return nil
	}
	return with(func(h *host) { journalStarts(h, s) })
}

// timeStart starts the agent of x, which goes to the broker b.
func timeStart(h *host, b *strictBroker, x *box) (*testbed.Process, time.Duration) {
	begin := time.Now()
	p := x.start(h)
	return p, b.await(h, b.subscribed).Sub(begin)
}

// journalStarts measures starts on a store whose journal still has every one of many readings, for the watermark is held
// back by hours. A replay makes the store.
func journalStarts(h *host, s settings) {
	x := newBox(h, s.agent, "tcp://127.0.0.1:1")
	x.config.delay = "6h"
	x.configure(h)
	begin := time.Now()
	fillJournal(h, x, s.journal)
	made := time.Since(begin).Round(time.Second)
	var times []time.Duration
	var windowed, memory int64
	for range min(s.runs, 3) {
		b := newStrictBroker(h, 1, 0)
		x.config.broker = b.url
		x.configure(h)
		p, took := timeStart(h, b, x)
		times = append(times, took)
		windowed, memory = x.await(h, p, 0).Ledger.Windowed, peak(h, p.Pid())
		x.stop(h, p)
	}
	fmt.Printf("start: %s with %d readings in the journal, %.1f MB resident (the store was made in %v)\n",
		spread(times), windowed, float64(memory)/1e6, made)
}

// fillJournal replays n readings into the store of x.
func fillJournal(h *host, x *box, n int) {
	cmd := testbed.Command(x.bin, "replay", "-c", x.conf, "--state", x.store)
	in, err := cmd.StdinPipe()
	if err != nil {
		h.Fatalf("replay: %v", err)
	}
	p := testbed.Start(h, cmd, filepath.Join(h.TempDir(), "replay.log"))
	if err := record(in, n, time.Now()); err != nil {
		h.Fatalf("replay: %v\n%s", err, p.LogTail(20))
	}
	if code, ok := p.Wait(drainTimeout); code != 0 || !ok {
		h.Fatalf("replay ended with code %d, in time: %v\n%s", code, ok, p.LogTail(20))
	}
}

// spread sorts times and names the least, the middle and the most.
func spread(times []time.Duration) string {
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return fmt.Sprintf("min %.1f, median %.1f, max %.1f ms in %d runs",
		ms(times[0]), ms(times[len(times)/2]), ms(times[len(times)-1]), len(times))
}
