package agent

import (
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"edgeagent/buffer"
)

// A hub stands for the run loop: it commits what uplinks settle, and updates of points.
type hub struct {
	t       *testing.T
	store   *buffer.Store
	outs    []*outbox
	settles chan settle
	puts    chan []buffer.Point
}

func newHub(t *testing.T, names ...string) *hub {
	t.Helper()
	store, err := buffer.Open(buffer.Options{Dir: t.TempDir(), NoSync: true, MaxSize: storeSize, Uplinks: names})
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{t: t, store: store, settles: make(chan settle), puts: make(chan []buffer.Point)}
	for _, name := range names {
		h.outs = append(h.outs, newOutbox(store, name, h.settles, func() int64 { return t0 }))
	}
	t.Cleanup(func() {
		if err := store.Check(); err != nil {
			t.Error(err)
		}
		_ = store.Close()
	})
	return h
}

// commit commits with what is in flight, and gives the numbers that the points got.
func (h *hub) commit(b buffer.Batch) []buffer.Point {
	for _, o := range h.outs {
		b.InFlight = append(b.InFlight, o.hold())
		defer o.let()
	}
	if _, err := h.store.Commit(&b); err != nil {
		h.t.Error(err)
	}
	for _, o := range h.outs {
		o.wake()
	}
	return b.Points
}

// serve commits until ctx ends. Points come with the identity of a window in Start; each replaces the one before of the same window.
func (h *hub) serve(ctx context.Context) {
	newest := map[int64]uint64{}
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-h.settles:
			h.commit(buffer.Batch{Settle: []buffer.Settlement{s.settlement}})
			close(s.done)
		case points := <-h.puts:
			for i := range points { // one at a time: an update may come in the same breath
				points[i].Replaces = newest[points[i].Start]
				newest[points[i].Start] = h.commit(buffer.Batch{Points: points[i : i+1]})[0].Seq
			}
		}
	}
}

// A flaky server keeps the last version of each window, refuses some lines, and fails as it likes: before or after it has stored
// the rest.
type flaky struct {
	mu   sync.Mutex
	rng  *rand.Rand
	held map[string]string
	fail int // percent
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	refused := false
	store := func() {
		for _, l := range strings.Split(strings.TrimSpace(string(body)), "\n") {
			part := strings.Split(l, " ")
			if len(part) != 3 || bad(part[1]) {
				refused = true
				continue
			}
			f.held[part[2]] = part[1]
		}
	}
	if f.rng.IntN(100) < f.fail {
		if f.rng.IntN(2) == 0 {
			store()
		}
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if store(); refused {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"partial write: that is out of range dropped=1"}`))
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// bad tells which versions of a window no server takes.
func bad(fields string) bool { return strings.HasSuffix(fields, "3") }

func (f *flaky) copy() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]string{}
	for k, v := range f.held {
		all[k] = v
	}
	return all
}
