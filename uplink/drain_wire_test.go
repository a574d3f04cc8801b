package uplink

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A weekServer takes the backlog as a transport: five requests a second, 429 to those above, and one stall of 30 s.
type weekServer struct {
	t       *testing.T
	next    time.Time // when it takes the next request
	stallAt int       // batches after which it stalls once
	batches []time.Time
	limited int
	times   []uint8 // how often each point came
	bad     int     // lines that are none of the backlog's
}

func (s *weekServer) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	status := http.StatusNoContent
	switch now := time.Now(); {
	case len(s.batches) == s.stallAt:
		s.stallAt = -1
		<-r.Context().Done()
		return nil, r.Context().Err()
	case now.Before(s.next):
		status = http.StatusTooManyRequests
		s.limited++
	default:
		s.next = now.Add(200 * time.Millisecond)
		<-time.After(20 * time.Millisecond)
		s.take(r.Body)
		s.batches = append(s.batches, now)
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// take counts the points of a body.
func (s *weekServer) take(body io.Reader) {
	z, err := gzip.NewReader(body)
	if err != nil {
		s.t.Error(err)
		return
	}
	text, _ := io.ReadAll(z)
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		sensor, _ := strconv.ParseInt(string(line[34:37]), 10, 64)
		at, _ := strconv.ParseInt(string(line[bytes.LastIndexByte(line, ' ')+1:]), 10, 64)
		seq := (at-t0)/300e9*backlogSensors + sensor + 1
		if seq < 1 || seq > backlogPoints || string(line) != string(backlogLine(nil, uint64(seq))) {
			s.bad++
			continue
		}
		s.times[seq-1]++
	}
}

// Trial C4: a week of 200 sensors against a server that limits the rate and stalls once. All is delivered once, the
// memory stays flat, and after the stall batches and pace are what they were before.
func TestDrainOfAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &weekServer{t: t, stallAt: 40, times: make([]uint8, backlogPoints)}
		out := newBacklog(backlogPoints)
		u, err := New(Config{URL: "http://central.invalid", API: "v1", Database: "db", Gzip: true}, out)
		if err != nil {
			t.Fatal(err)
		}
		u.poster.transport = s
		runtime.GC()
		var before runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		began := time.Now()
		go func() { defer close(done); _ = u.Run(ctx) }()
		<-out.done
		took := time.Since(began)
		cancel()
		<-done
		for seq, n := range s.times {
			if n != 1 {
				t.Fatalf("point %d came %d times", seq+1, n)
			}
		}
		grown := int64(out.peak) - int64(before.HeapAlloc)
		t.Logf("%d batches in %v, %d times told to wait, heap grew by %.1f MB", len(s.batches), took, s.limited, float64(grown)/1e6)
		if len(s.batches) > 90 || s.bad > 0 || grown > 24e6 || took > 2*time.Minute || s.limited > 25 {
			t.Errorf("%d batches, %d odd lines, heap grew by %d bytes, drained in %v", len(s.batches), s.bad, grown, took)
		}
		n := len(s.batches)
		pre, post := s.batches[39].Sub(s.batches[9]), s.batches[n-1].Sub(s.batches[n-31])
		if post > 2*pre {
			t.Errorf("30 batches took %v before the stall and %v at the end", pre, post)
		}
	})
}
