package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	bolt "go.etcd.io/bbolt"
)

func TestParse(t *testing.T) {
	chosen, s, err := parse([]string{"-modes", "wear,strict", "-inflight", "5", "-for", "3s"})
	if err != nil || len(chosen) != 2 || chosen[0].name != "wear" || chosen[1].name != "strict" {
		t.Errorf("modes %v, error %v; want wear, strict", chosen, err)
	}
	if !slices.Equal(s.limits, []int{5}) || s.span != 3*time.Second || s.backlog != 200_000 {
		t.Errorf("settings %+v; want limit 5, 3 s, a backlog of 200,000", s)
	}
	for _, bad := range [][]string{{"-modes", "fast"}, {"-inflight", "x"}, {"-runs", "0"}, {"-for", "1ms"}} {
		if _, _, err := parse(bad); err == nil {
			t.Errorf("parse(%q) found no fault", bad)
		}
	}
}

// TestStrictBroker takes nothing but what fits the limit, then acknowledges one by one.
func TestStrictBroker(t *testing.T) {
	const limit, n = 3, 10
	got := make(chan paho.Message, n)
	err := with(func(h *host) {
		b := newStrictBroker(h, limit, n)
		c, err := join(b.url, session, func(_ paho.Client, m paho.Message) { got <- m })
		if err != nil {
			t.Fatal(err)
		}
		h.Cleanup(func() { c.Disconnect(100) })
		if err := await(c.Subscribe(filter, 1, nil)); err != nil {
			t.Fatal(err)
		}
		b.await(h, b.subscribed)
		var held []paho.Message
		for i := range n {
			if i >= limit {
				held[i-limit].Ack()
			}
			held = append(held, <-got)
			if topic, payload := backlog(i, n, b.now); held[i].Topic() != topic || string(held[i].Payload()) != payload {
				t.Errorf("message %d: %s %s; want %s %s", i, held[i].Topic(), held[i].Payload(), topic, payload)
			}
			if i >= limit-1 && len(got) > 0 {
				t.Errorf("%d more than %d on the way", len(got), limit)
			}
		}
		for _, m := range held[n-limit:] {
			m.Ack()
		}
		b.await(h, b.taken)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBacklog(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for _, c := range []struct {
		i              int
		topic, payload string
	}{
		{0, "bench/s00/temperature", `{"temperature":15.00,"ts":1699999999000}`},
		{150, "bench/s50/temperature", `{"temperature":16.50,"ts":1700000000000}`},
		{199, "bench/s99/temperature", `{"temperature":16.99,"ts":1700000000000}`},
	} {
		if topic, payload := backlog(c.i, 200, now); topic != c.topic || payload != c.payload {
			t.Errorf("backlog(%d) = %s %s, want %s %s", c.i, topic, payload, c.topic, c.payload)
		}
	}
}

func TestPublishLive(t *testing.T) {
	err := with(func(h *host) {
		b := newStrictBroker(h, 1, 0)
		begin := time.Now()
		if err := publishLive([]string{"-broker", b.url, "-n", "21", "-rate", "100", "-sensors", "3"}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < 200*time.Millisecond {
			t.Errorf("21 readings at 100/s took %v", took)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestProc(t *testing.T) {
	if n, err := field("VmPeak:\t  9 kB\nVmHWM:\t   1234 kB\n", "VmHWM"); n != 1234 || err != nil {
		t.Errorf("field = %d, %v; want 1234", n, err)
	}
	if _, err := field("VmPeak: 9 kB\n", "VmHWM"); err == nil {
		t.Error("field found what is not there")
	}
	stat := "42 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20"
	if d, err := cpuOf(stat); d != 3*time.Second || err != nil {
		t.Errorf("cpuOf = %v, %v; want 3s", d, err)
	}
	if _, err := cpuOf("42 (a) S"); err == nil {
		t.Error("cpuOf took a short line")
	}
}

func TestCommits(t *testing.T) {
	dir := t.TempDir()
	db, err := bolt.Open(filepath.Join(dir, "edgeagent.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = with(func(h *host) {
		before := commits(h, dir)
		for i := range int64(3) {
			if err := db.Update(func(*bolt.Tx) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if n := commits(h, dir) - before; n != i+1 {
				t.Errorf("after %d commits: %d", i+1, n)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSpread(t *testing.T) {
	ms := time.Millisecond
	const want = "min 10.0, median 20.0, max 90.5 ms in 3 runs"
	if got := spread([]time.Duration{90*ms + ms/2, 10 * ms, 20 * ms}); got != want {
		t.Errorf("spread = %q, want %q", got, want)
	}
}

// TestTracer only looks at the words: whether strace may trace is up to the machine.
func TestTracer(t *testing.T) {
	if with3 := strings.Join(tracer(3*time.Millisecond), " "); !strings.HasSuffix(with3, "-e inject=fdatasync,fsync:delay_exit=3000") {
		t.Errorf("tracer = %s; want a delay of 3000 us", with3)
	}
	if none := strings.Join(tracer(0), " "); strings.Contains(none, "inject") {
		t.Errorf("tracer without a delay = %s", none)
	}
}
