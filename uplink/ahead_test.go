package uplink

import (
	"context"
	"log/slog"
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

// A batch that was made ready of the backlog is looked for anew when live points have gone out before it: an update among these may
// have taken the place of a point in it.
func TestAheadIsGivenBackWhenAnotherLaneGoesFirst(t *testing.T) {
	m := newMemory(t, "t max=1 1", "t max=2 2", "t max=3 3")
	u, err := New(Config{URL: "http://127.0.0.1:1", API: "v1", Database: "d", Order: "newest", BatchPoints: 2, Logger: slog.New(slog.DiscardHandler)}, m)
	if err != nil {
		t.Fatal(err)
	}
	u.lanes.split, u.lanes.live.after, u.lanes.backlog = false, 2, []lane{{0, 2}}
	u.ahead = &ahead{lane: lane{0, 2}, entries: []Entry{{1, []byte("t max=1 1")}, {2, []byte("t max=2 2")}}}
	first, _, err := u.next(t.Context())
	if err != nil || len(first) != 1 || first[0].Seq != 3 {
		t.Fatalf("first %v, %v; want the live point", first, err)
	}
	m.supersede(1)
	u.lanes.live.after = 3
	second, _, err := u.next(t.Context())
	if err != nil || len(second) != 1 || second[0].Seq != 2 {
		t.Errorf("then %v, %v; want what is left of the backlog", second, err)
	}
}
