package uplink

import (
	"context"
	"slices"
	"sync"
	"testing"
)

// A watched outbox tells what it was asked for.
type watched struct {
	*memory
	mu     sync.Mutex
	peeks  []uint64
	peeked chan uint64
}

func (w *watched) Peek(ctx context.Context, after, upto uint64, maxPoints, maxBytes int) ([]Entry, error) {
	w.mu.Lock()
	w.peeks = append(w.peeks, after)
	w.mu.Unlock()
	w.peeked <- after
	return w.memory.Peek(ctx, after, upto, maxPoints, maxBytes)
}

// While a full batch is in flight the next one is read, and no batch is read twice (the end of the queue may be).
func TestNextBatchIsMadeAhead(t *testing.T) {
	lines := windows("s", 0, 350)
	w := &watched{memory: newMemory(t, lines...), peeked: make(chan uint64, 100)}
	c := newCentral(t, func(n int, _ []string) reply {
		for n < 4 && <-w.peeked != uint64(n*100) { // the answer waits until the next batch was asked for
		}
		return stored
	})
	cfg := testConfig(c.URL)
	cfg.BatchPoints, cfg.Gzip = 100, true
	_, stop := start(t, cfg, w)
	w.drained()
	stop()
	check(t, c, w.memory, lines, nil)
	if want := []uint64{0, 100, 200, 300, 350}; !slices.Equal(slices.Compact(w.peeks), want) {
		t.Errorf("peeked after %v, want %v", w.peeks, want)
	}
}

// A batch made ahead is forgotten when the one before it is given up: then the order begins anew.
func TestAheadIsDropped(t *testing.T) {
	lines := windows("s", 0, 250)
	w := &watched{memory: newMemory(t, lines...), peeked: make(chan uint64, 1000)}
	c := newCentral(t, func(n int, lines []string) reply {
		if n < 60 {
			return jsonReply(400, "every line is bad today")
		}
		return stored
	})
	cfg := testConfig(c.URL)
	cfg.BatchPoints, cfg.Gzip = 100, true
	_, stop := start(t, cfg, w)
	w.drained()
	stop()
	check(t, c, w.memory, lines, nil)
	if slices.Index(w.peeks[1:], 0) < 0 {
		t.Errorf("peeked after %v", w.peeks)
	}
}
