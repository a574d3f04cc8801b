package uplink

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The backlog of trial C4: 200 sensors, windows of five minutes, seven days.
const (
	backlogSensors = 200
	backlogPoints  = backlogSensors * 7 * 24 * 12
)

// A backlog is an Outbox without a disk and without a memory of its points: it makes them as they are asked for.
type backlog struct {
	points  uint64
	mu      sync.Mutex
	settled uint64
	peak    uint64 // largest heap seen at a Peek, bytes
	done    chan struct{}
	ready   chan struct{}
}

func newBacklog(points uint64) *backlog {
	return &backlog{points: points, done: make(chan struct{}), ready: make(chan struct{})}
}

// backlogLine appends the point of that sequence number, in the order in which the engine finalizes windows.
func backlogLine(dst []byte, seq uint64) []byte {
	window, sensor := int64(seq-1)/backlogSensors, int64(seq-1)%backlogSensors
	noise := uint64(window*7919+sensor*104729) * 0x9e3779b97f4a7c15 >> 40
	hundredths := 1500 + 10*(sensor%100) + window%288 + int64(noise%60)
	dst = append(dst, "temperature,gateway=gw-07,sensor=s"...)
	dst = append(dst, byte('0'+sensor/100), byte('0'+sensor/10%10), byte('0'+sensor%10))
	dst = append(dst, " max="...)
	dst = strconv.AppendFloat(dst, float64(hundredths)/100, 'f', -1, 64)
	dst = append(dst, ",count="...)
	dst = strconv.AppendInt(dst, 298+int64(noise>>8%3), 10)
	dst = append(dst, "i "...)
	return strconv.AppendInt(dst, t0+window*300e9, 10)
}

func (b *backlog) Peek(_ context.Context, after, upto uint64, maxPoints, maxBytes int) ([]Entry, error) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.mu.Lock()
	b.peak = max(b.peak, mem.HeapAlloc)
	b.mu.Unlock()
	entries := make([]Entry, 0, maxPoints)
	for seq := after + 1; seq <= min(upto, b.points) && len(entries) < maxPoints && maxBytes > 0; seq++ {
		e := Entry{Seq: seq, Line: backlogLine(make([]byte, 0, 80), seq)}
		maxBytes -= len(e.Line)
		entries = append(entries, e)
	}
	return entries, nil
}

func (b *backlog) Newest(context.Context) (Entry, bool, error) {
	return Entry{Seq: b.points, Line: backlogLine(nil, b.points)}, true, nil
}

func (b *backlog) Release() {}

func (b *backlog) Settle(_ context.Context, after, through uint64, refused []Refused) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(refused) > 0 || after != b.settled || through <= after {
		return fmt.Errorf("settled from %d to %d after %d, refused %v", after, through, b.settled, refused)
	}
	if b.settled = through; through == b.points {
		close(b.done)
	}
	return nil
}

func (b *backlog) Ready() <-chan struct{} { return b.ready }

// A counter is a transport that counts the bytes of bodies.
type counter struct {
	http.RoundTripper
	bytes atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.bytes.Add(r.ContentLength)
	return c.RoundTripper.RoundTrip(r)
}

// drain brings the backlog to the server with an uplink, and gives the time and the bytes of bodies that it took.
func drain(t testing.TB, cfg Config, b *backlog) (time.Duration, int64) {
	u, err := New(cfg, b)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{RoundTripper: u.poster.transport}
	u.poster.transport = c
	defer u.poster.wires.cut()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	began := time.Now()
	go func() { defer close(done); _ = u.Run(ctx) }()
	<-b.done
	took := time.Since(began)
	cancel()
	<-done
	return took, c.bytes.Load()
}

// preEncoded is the backlog as bodies of batches, compressed at a level of gzip.
func preEncoded(t testing.TB, points uint64, batch, level int) (bodies [][]byte) {
	var line []byte
	for seq := uint64(1); seq <= points; {
		var buf bytes.Buffer
		z, err := gzip.NewWriterLevel(&buf, level)
		if err != nil {
			t.Fatal(err)
		}
		for range batch {
			if seq > points {
				break
			}
			line = append(backlogLine(line[:0], seq), '\n')
			_, _ = z.Write(line)
			seq++
		}
		_ = z.Close()
		bodies = append(bodies, buf.Bytes())
	}
	return bodies
}

// plainLoop posts bodies one after the other and gives the time that took.
func plainLoop(t testing.TB, url string, bodies [][]byte) time.Duration {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	began := time.Now()
	for _, body := range bodies {
		r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Encoding", "gzip")
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusNoContent {
			t.Fatalf("the server answers %s", res.Status)
		}
	}
	return time.Since(began)
}

// BenchmarkDrain drains a week of 200 sensors into a real InfluxDB, in turns with a plain loop that posts the same
// batches encoded before. Both write into databases of their own.
func BenchmarkDrain(b *testing.B) {
	s := startInfluxd(b)
	defer http.DefaultClient.CloseIdleConnections()
	bodies := preEncoded(b, backlogPoints, 5000, gzipLevel)
	var plain, agent time.Duration
	var wire int64
	var peak uint64
	for i := range b.N {
		for turn := range 2 {
			if turn == i%2 {
				db := fmt.Sprint("plain", i)
				s.query("", "CREATE DATABASE "+db)
				plain += plainLoop(b, s.url+"/write?precision=ns&db="+db, bodies)
				continue
			}
			db := fmt.Sprint("agent", i)
			s.query("", "CREATE DATABASE "+db)
			out := newBacklog(backlogPoints)
			took, n := drain(b, Config{URL: s.url, API: "v1", Database: db, Gzip: true, RetryMin: time.Millisecond}, out)
			agent, wire, peak = agent+took, wire+n, max(peak, out.peak)
			got := s.query(db, "SELECT count(max) FROM temperature")
			if len(got) != 1 || got[0][2] != fmt.Sprint(backlogPoints) {
				b.Fatalf("the server holds %v points", got)
			}
		}
		s.query("", "DROP DATABASE "+fmt.Sprint("plain", i))
		s.query("", "DROP DATABASE "+fmt.Sprint("agent", i))
	}
	points := float64(b.N * backlogPoints)
	b.ReportMetric(points/agent.Seconds(), "points/s")
	b.ReportMetric(points/plain.Seconds(), "plain-points/s")
	b.ReportMetric(plain.Seconds()/agent.Seconds(), "of-plain")
	b.ReportMetric(float64(wire)/points, "bytes/point")
	b.ReportMetric(float64(peak)/1e6, "peak-MB")
	b.ReportMetric(0, "ns/op")
}
