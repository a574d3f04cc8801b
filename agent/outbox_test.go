package agent

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/reading"
	"edgeagent/testbed"
	"edgeagent/uplink"
)

// Windows are updated while servers fail, in either order: what each server holds in the end is the last version of every window (unless
// that was refused), and the books of each balance.
func TestUpdatesReachFlakyServersInOrder(t *testing.T) {
	rng := testbed.Random(t)
	h := newHub(t, "newest", "oldest")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var servers []*flaky
	for _, o := range h.outs {
		f := &flaky{rng: rand.New(rand.NewPCG(rng.Uint64(), 0)), held: map[string]string{}, fail: 40}
		servers = append(servers, f)
		server := httptest.NewServer(f)
		defer server.Close()
		u, err := uplink.New(uplink.Config{URL: server.URL, API: "v1", Database: "d", Order: o.name, BatchPoints: 20, Timeout: 10 * time.Second,
			RetryMin: time.Millisecond, RetryMax: 4 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)}, o)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { _ = u.Run(ctx) })
	}
	wg.Go(func() { h.serve(ctx) })
	want := h.update(rng)
	for _, f := range servers {
		f.mu.Lock()
		f.fail = 0
		f.mu.Unlock()
	}
	deadline := time.Now().Add(30 * time.Second)
	for h.store.Stats().Outbox > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("still %+v", h.store.Books())
		}
		h.puts <- nil // the loop turns once more
	}
	for i, f := range servers {
		got := f.copy()
		for stamp, fields := range want {
			if !bad(fields) && got[stamp] != fields {
				t.Errorf("%s holds %s of window %s, want %s", h.outs[i].name, got[stamp], stamp, fields)
			}
		}
	}
	for _, b := range h.store.Books() {
		if !b.Points.Balanced() || b.Points.Queued != 0 || b.Points.Superseded == 0 || b.Points.Uploaded == 0 {
			t.Errorf("%+v", b)
		}
	}
}

// update puts many versions of few windows, and gives the last of each.
func (h *hub) update(rng *rand.Rand) map[string]string {
	want := map[string]string{}
	for version := range 120 {
		var points []buffer.Point
		for range 1 + rng.IntN(30) {
			window := rng.Int64N(int64(10 + 2*version))
			stamp, fields := fmt.Sprint(1000+window), fmt.Sprintf("max=%d", version)
			want[stamp] = fields
			points = append(points, buffer.Point{Kind: buffer.Updated, Series: reading.Series("s"), Start: window, End: minute,
				Line: fmt.Appendf(nil, "t,sensor=s %s %s", fields, stamp)})
		}
		h.puts <- points
	}
	return want
}

// A look at the store does not come between what a commit knows to be in flight and the commit: it would find a point that an update is
// about to replace, and hold it where nobody knows of it.
func TestOutboxLooksBeforeOrAfterACommit(t *testing.T) {
	h := newHub(t, "a")
	o := h.outs[0]
	old := h.commit(buffer.Batch{Points: []buffer.Point{{Kind: buffer.Updated, Series: "s", Start: 1, Line: []byte("t max=1 1")}}})[0]
	inFlight := o.hold()
	found := make(chan []uplink.Entry)
	go func() {
		entries, err := o.Peek(context.Background(), 0, 1<<63, 10, 1<<20)
		if err != nil {
			t.Error(err)
		}
		found <- entries
	}()
	select {
	case entries := <-found:
		t.Errorf("looked in the middle of a commit, and found %v", entries)
		return
	case <-time.After(50 * time.Millisecond):
	}
	update := buffer.Point{Kind: buffer.Updated, Series: "s", Start: 1, Replaces: old.Seq, Line: []byte("t max=2 1")}
	if _, err := h.store.Commit(&buffer.Batch{InFlight: []buffer.InFlight{inFlight}, Points: []buffer.Point{update}}); err != nil {
		t.Fatal(err)
	}
	o.let()
	if entries := <-found; len(entries) != 1 || string(entries[0].Line) != "t max=2 1" {
		t.Errorf("found %v, want the update alone", entries)
	}
}

// What an uplink holds in its hands, and what it has given back.
func TestOutboxKnowsWhatIsInFlight(t *testing.T) {
	h := newHub(t, "a", "b")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var points []buffer.Point
	for i := range 30 {
		points = append(points, buffer.Point{Line: fmt.Appendf(nil, "t max=%d %d", i, i)})
	}
	h.commit(buffer.Batch{Points: points})
	wg.Go(func() { h.serve(ctx) })
	defer wg.Wait()
	defer cancel()
	o := h.outs[0]
	flight := func(when string, want ...buffer.Span) {
		t.Helper()
		if got := o.inFlight(); got.All || got.Uplink != "a" || !reflect.DeepEqual(append([]buffer.Span{}, got.Spans...), append([]buffer.Span{}, want...)) {
			t.Errorf("%s: in flight %+v, want %v", when, got, want)
		}
	}
	peek := func(after, upto uint64) {
		t.Helper()
		if _, err := o.Peek(ctx, after, upto, 10, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	settle := func(after, through uint64) {
		t.Helper()
		if err := o.Settle(ctx, after, through, nil); err != nil {
			t.Fatal(err)
		}
	}
	peek(20, 1<<63)
	peek(0, 20)
	flight("two batches of two lanes", buffer.Span{First: 21, Last: 30}, buffer.Span{First: 1, Last: 10})
	settle(20, 24)
	flight("part of one is settled", buffer.Span{First: 25, Last: 30}, buffer.Span{First: 1, Last: 10})
	settle(24, 30)
	flight("all of it is", buffer.Span{First: 1, Last: 10})
	peek(30, 1<<63)
	flight("nothing more was found", buffer.Span{First: 1, Last: 10})
	o.Release()
	flight("given back")
	if got := h.store.Books()[1].Points.Queued; got != 30 {
		t.Errorf("%d wait for the other, want all", got)
	}
}

// Windows that are opened again must not be overwritten by older points of theirs that wait and go out last.
func TestRewindWithNewestFirst(t *testing.T) {
	r := newRig(t, nil)
	r.live("a", 0, 1)
	r.live("a", 900, 1)
	r.note()
	for order, refused := range map[string]bool{"oldest": false, "newest": true} {
		o := Options{Config: &configs.Config{Uplinks: []configs.Uplink{{Order: order}}}}
		_, err := rewind(r.store, o, RewindRequest{To: time.Unix(0, t0), Force: true, DryRun: true})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "1 points wait") {
			t.Errorf("%s: %v", order, err)
		}
	}
}
