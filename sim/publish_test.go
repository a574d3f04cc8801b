package sim

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	mochipackets "github.com/mochi-mqtt/server/v2/packets"
	"go.uber.org/goleak"
)

// A writerFunc is an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// listenLocal opens a port that is closed at the end.
func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a broker under test may have closed it
	return l
}

// recorded are the payloads of a record, in order.
func recorded(t *testing.T, text string) []string {
	t.Helper()
	records, err := ReadRecords(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var payloads []string
	for _, r := range records {
		payloads = append(payloads, r.Topic+" "+string(r.Payload))
	}
	return payloads
}

// An openDoor lets everyone use the test broker.
type openDoor struct{ mochi.HookBase }

func (*openDoor) Provides(b byte) bool {
	return b == mochi.OnConnectAuthenticate || b == mochi.OnACLCheck
}

func (*openDoor) OnConnectAuthenticate(*mochi.Client, mochipackets.Packet) bool { return true }

func (*openDoor) OnACLCheck(*mochi.Client, string, bool) bool { return true }

// TestSimulate publishes to a real broker and compares what a subscriber gets with the record.
func TestSimulate(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l := listenLocal(t)
	broker := mochi.New(&mochi.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	for _, err := range []error{broker.AddHook(new(openDoor), nil), broker.AddListener(listeners.NewNet("t", l)), broker.Serve()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var arrived []string
	err := broker.Subscribe("sensors/#", 1, func(_ *mochi.Client, _ mochipackets.Subscription, pk mochipackets.Packet) {
		mu.Lock()
		defer mu.Unlock()
		arrived = append(arrived, pk.TopicName+" "+string(pk.Payload))
	})
	if err != nil {
		t.Fatal(err)
	}
	var record bytes.Buffer
	sum, err := Simulate(t.Context(), SimulateOptions{Broker: "tcp://" + l.Addr().String(), Fleet: mixed, Record: &record})
	if err != nil {
		t.Fatal(err)
	}
	if err := broker.Close(); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if got := recorded(t, record.String()); !slices.Equal(got, arrived) {
		t.Errorf("record has %d messages, %d arrived, or in another order", len(got), len(arrived))
	}
	var n [Bad + 1]int64
	all := messages(t, mixed)
	for _, m := range all {
		n[m.Fate]++
	}
	want := Summary{Start: mixed.Start, Sent: int64(len(all)), Delayed: n[Delayed], TooLate: n[TooLate], Repeated: n[Repeated], Bad: n[Bad]}
	if sum != want {
		t.Errorf("summary: got %+v, want %+v", sum, want)
	}
}

func TestSimulateEnds(t *testing.T) {
	l := listenLocal(t)
	c := cutter{}
	done := make(chan struct{})
	go func() { defer close(done); c.serve(l) }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fleet := mixed
	fleet.For = 0 // endless
	lines := 0
	sum, err := Simulate(ctx, SimulateOptions{Broker: "tcp://" + l.Addr().String(), Fleet: fleet, Record: writerFunc(func(b []byte) (int, error) {
		if lines++; lines == 500 {
			cancel()
		}
		return len(b), nil
	})})
	if err != nil || sum.Unknown != 0 || sum.Sent < 500 || sum.Sent != int64(lines) {
		t.Errorf("cancelled: got %+v, %v, %d lines, want all acknowledged and recorded", sum, err, lines)
	}
	full := errors.New("disk full")
	_, err = Simulate(t.Context(), SimulateOptions{Broker: "tcp://" + l.Addr().String(), Fleet: fleet,
		Record: writerFunc(func([]byte) (int, error) { return 0, full })})
	if !errors.Is(err, full) {
		t.Errorf("record cannot be written: got %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	<-done
}

func TestSimulateErrors(t *testing.T) {
	l := listenLocal(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	url := "tcp://user:secret@" + l.Addr().String()
	for _, c := range []struct {
		o    SimulateOptions
		want string
	}{
		{SimulateOptions{Broker: url, Fleet: mixed, Speed: -1}, "simulate a fleet: speed: must not be negative (got -1)"},
		{SimulateOptions{Broker: url}, "simulate a fleet: sensors: must be at least 1 (got 0)"},
		{SimulateOptions{Broker: "localhost", Fleet: mixed}, "connect to broker: not a URL such as tcp://localhost:1883"},
		{SimulateOptions{Broker: url, Fleet: mixed}, "connect to broker tcp://user:xxxxx@" + l.Addr().String() + ": "},
	} {
		_, err := Simulate(t.Context(), c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want %s…", err, c.want)
		}
	}
}

func TestPace(t *testing.T) {
	begin := time.Unix(1000, 0)
	for _, c := range []struct {
		speed float64
		at    int64 // after the fleet's start
		now   time.Duration
		want  time.Duration
	}{
		{1, 5e9, time.Second, 4 * time.Second}, {10, 5e9, 0, 500 * time.Millisecond}, {0.5, 5e9, 0, 10 * time.Second},
		{1, 5e9, 7 * time.Second, 0}, {0, 5e9, 0, 0},
	} {
		p := publisher{o: SimulateOptions{Speed: c.speed}, begin: begin, sum: Summary{Start: ns(0)}}
		if got := p.wait(ns(0)+c.at, begin.Add(c.now)); got != c.want {
			t.Errorf("speed %v, at %v: got %v, want %v", c.speed, time.Duration(c.at), got, c.want)
		}
	}
}

func TestStartFor(t *testing.T) {
	now := time.Unix(100000, 0)
	for _, c := range []struct {
		length time.Duration
		speed  float64
		want   time.Duration // before now
	}{
		{time.Hour, 1, 0}, {time.Hour, 60, 59 * time.Minute}, {time.Hour, 0, time.Hour}, {time.Hour, 0.5, 0}, {0, 60, 0},
	} {
		if got := now.Sub(startFor(now, c.length, c.speed)); got != c.want {
			t.Errorf("%v at %v: got %v before now, want %v", c.length, c.speed, got, c.want)
		}
	}
}
