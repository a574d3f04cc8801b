package uplink

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A receiver is a server of limited capacity, as a transport: it works on so many requests at once, lets so many more
// wait in line, and answers 503 to the rest. It counts the load in each second.
type receiver struct {
	workers, line int
	takes         time.Duration // work on one request
	header        http.Header   // of a 503

	mu      sync.Mutex
	waiting int
	began   time.Time
	load    map[int64]int // requests that arrived in each second
	refused int
	room    chan struct{}
}

func newReceiver(header http.Header) *receiver {
	r := &receiver{workers: 10, line: 100, takes: 200 * time.Millisecond, header: header, began: time.Now(), load: map[int64]int{}}
	r.room = make(chan struct{}, r.workers)
	return r
}

func (r *receiver) RoundTrip(q *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, q.Body)
	q.Body.Close()
	status := http.StatusNoContent
	if !r.enter() {
		status = http.StatusServiceUnavailable
	} else {
		r.room <- struct{}{}
		<-time.After(r.takes)
		<-r.room
		r.mu.Lock()
		r.waiting--
		r.mu.Unlock()
	}
	h := http.Header{}
	if status != http.StatusNoContent {
		h = r.header.Clone()
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// enter counts a request and reports whether there is room for it.
func (r *receiver) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load[int64(time.Since(r.began)/time.Second)]++
	if r.waiting == r.workers+r.line {
		r.refused++
		return false
	}
	r.waiting++
	return true
}

// A stampede is what came of a fleet that returned at once.
type stampede struct {
	first    int           // the most requests in a second before calm
	peak     int           // the most in any second from calm on
	requests int           // in all
	refused  int           // of them
	drained  time.Duration // until the last gateway had delivered its last point
}

func (s stampede) String() string {
	return fmt.Sprintf("at most %4d requests in a second, %4d after 15 s, %5d in all, %5d refused, drained after %v",
		s.first, s.peak, s.requests, s.refused, s.drained.Round(time.Second))
}

const (
	calm         = 15 // s: a receiver that asks for 10 s has asked for the load before that itself
	fleetSize    = 1000
	fleetBatches = 3 // that wait at each gateway
)

// returnAtOnce starts a fleet in the same instant against a receiver that sends header with a 503.
func returnAtOnce(t *testing.T, jitter bool, header http.Header) (s stampede) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceiver(header)
		ctx, cancel := context.WithCancel(t.Context())
		var fleet, drained sync.WaitGroup
		for range fleetSize {
			m := newMemory(t, windows("s", 0, 2*fleetBatches)...)
			u, err := New(Config{URL: "http://central.invalid", API: "v1", Database: "db", BatchPoints: 2}, m)
			if err != nil {
				t.Fatal(err)
			}
			u.poster.transport = r
			if !jitter {
				u.wait.random = func() float64 { return 1 }
			}
			fleet.Go(func() { _ = u.Run(ctx) })
			drained.Go(m.empty)
		}
		drained.Wait()
		s.drained = time.Since(r.began)
		cancel()
		fleet.Wait()
		for second, n := range r.load {
			s.requests += n
			if second >= calm {
				s.peak = max(s.peak, n)
			} else {
				s.first = max(s.first, n)
			}
		}
		s.refused = r.refused
	})
	return s
}

// A fleet that comes back in the same second: 1,000 gateways with three batches each, against a server that takes 50
// requests a second and has room for two seconds' worth in line. 60 s is the least it can take.
func TestFleetReturnsAtOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		header http.Header
		factor int // by which jitter lowers the peak, at least
	}{
		{"503 bare", http.Header{}, 4},
		{"503 with Retry-After: 10", http.Header{"Retry-After": {"10"}}, 2},
	} {
		with, without := returnAtOnce(t, true, c.header), returnAtOnce(t, false, c.header)
		t.Logf("%s, jitter:    %v", c.name, with)
		t.Logf("%s, no jitter: %v", c.name, without)
		if with.peak*c.factor > without.peak || with.first*3 > without.first*2 {
			t.Errorf("%s: jitter lowers the peak from %d and %d to %d and %d only", c.name, without.first, without.peak, with.first, with.peak)
		}
		if with.drained*2 > without.drained || with.drained > 10*time.Minute {
			t.Errorf("%s: drained after %v with jitter, %v without", c.name, with.drained, without.drained)
		}
	}
}
