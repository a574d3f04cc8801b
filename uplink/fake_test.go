package uplink

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// memory is an Outbox that forgets everything with the process. It holds the uplink to the contract.
type memory struct {
	t     testing.TB
	ready chan struct{}

	mu      sync.Mutex
	seq     uint64
	queue   []Entry
	parked  map[string]string // line to reason
	uploads []string          // lines settled as stored
	changed chan struct{}     // closed with every settlement
}

func newMemory(t testing.TB, lines ...string) *memory {
	m := &memory{t: t, ready: make(chan struct{}, 1), parked: map[string]string{}, changed: make(chan struct{})}
	m.add(lines...)
	return m
}

func (m *memory) add(lines ...string) {
	m.mu.Lock()
	for _, l := range lines {
		m.seq++
		m.queue = append(m.queue, Entry{Seq: m.seq, Line: []byte(l)})
	}
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

func (m *memory) Peek(_ context.Context, after, upto uint64, maxPoints, maxBytes int) ([]Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var batch []Entry
	for _, e := range m.queue {
		if e.Seq <= after || e.Seq > upto {
			continue
		}
		if maxBytes -= len(e.Line); len(batch) > 0 && (maxBytes < 0 || len(batch) == maxPoints) {
			break
		}
		batch = append(batch, Entry{Seq: e.Seq, Line: slices.Clone(e.Line)})
	}
	return batch, nil
}

func (m *memory) Newest(context.Context) (Entry, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) == 0 {
		return Entry{}, false, nil
	}
	e := m.queue[len(m.queue)-1]
	return Entry{Seq: e.Seq, Line: slices.Clone(e.Line)}, true, nil
}

func (m *memory) Release() {}

func (m *memory) Settle(ctx context.Context, after, through uint64, refused []Refused) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.ContainsFunc(m.queue, func(e Entry) bool { return e.Seq == through && e.Seq > after }) {
		m.t.Errorf("settled from %d to %d, which is not queued", after, through)
		return nil
	}
	var left []Entry
	for _, e := range m.queue {
		if e.Seq <= after || e.Seq > through {
			left = append(left, e)
			continue
		}
		if len(refused) > 0 && refused[0].Seq == e.Seq {
			m.parked[string(e.Line)] = refused[0].Reason
			refused = refused[1:]
			continue
		}
		m.uploads = append(m.uploads, string(e.Line))
	}
	m.queue = left
	if len(refused) > 0 {
		m.t.Errorf("refused %v is not in the prefix through %d, or not ascending", refused, through)
	}
	close(m.changed)
	m.changed = make(chan struct{})
	return nil
}

func (m *memory) Ready() <-chan struct{} { return m.ready }

// counts reports how many points are queued, uploaded and parked.
func (m *memory) counts() (queued, uploaded, parked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queue), len(m.uploads), len(m.parked)
}

// drained waits until nothing is queued.
func (m *memory) drained() {
	m.t.Helper()
	m.until(func() bool { queued, _, _ := m.counts(); return queued == 0 })
}

// empty returns when nothing is queued.
func (m *memory) empty() {
	for {
		m.mu.Lock()
		changed, left := m.changed, len(m.queue)
		m.mu.Unlock()
		if left == 0 {
			return
		}
		<-changed
	}
}

// until waits for a settlement after which ok holds.
func (m *memory) until(ok func() bool) {
	m.t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			queued, uploaded, parked := m.counts()
			m.t.Fatalf("still %d queued, %d uploaded, %d parked", queued, uploaded, parked)
		}
	}
}

// testConfig retries fast.
func testConfig(url string) Config {
	return Config{URL: url, API: "v1", Database: "db", Timeout: 10 * time.Second, RetryMin: time.Millisecond, RetryMax: 8 * time.Millisecond}
}

// start runs an uplink until the end of the test, or until stop is called.
func start(t testing.TB, cfg Config, out Outbox) (u *Uplink, stop func()) {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	u, err := New(cfg, out)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- u.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(stop)
	return u, stop
}

// windows makes n lines of one sensor, one window after the other.
func windows(sensor string, first, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("temperature,gateway=gw,sensor=%s max=%d,count=2i %d", sensor, first+i, int64(first+i)*300e9)
	}
	return lines
}

// sorted is a sorted copy of what belongs together.
func sorted[T cmp.Ordered](parts ...[]T) []T {
	all := slices.Concat(parts...)
	slices.Sort(all)
	return all
}

// hasSensor reports whether one of lines is of a sensor whose name begins so.
func hasSensor(lines []string, name string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "sensor="+name) })
}

// logBuffer collects a log.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// supersede takes a point away, as an update of it does.
func (m *memory) supersede(seq uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = slices.DeleteFunc(m.queue, func(e Entry) bool { return e.Seq == seq })
}
