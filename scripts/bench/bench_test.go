package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && child(os.Args[1]) != nil {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestMeasureYardstick(t *testing.T) {
	const n = 2000
	for _, inflight := range []int{0, 20} {
		var r result
		if err := with(func(h *host) { r = measure(h, yardstick{}, n, inflight) }); err != nil {
			if strings.Contains(err.Error(), "mosquitto is not installed") && os.Getenv("CI") != "true" {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		if r.messages != n || r.left != 0 || r.wall <= 0 || r.cpu <= 0 || r.memory < 1<<20 {
			t.Errorf("max_inflight_messages %d: %+v; want %d messages, none left, time and memory used", inflight, r, n)
		}
	}
}

func TestResult(t *testing.T) {
	r := result{messages: 200_000, wall: 4 * time.Second, cpu: 3 * time.Second, memory: 15_500_000, left: 7}
	const want = "   50000 messages/s    1.50 CPU s per 100,000   15.5 MB resident  7 left at the broker"
	if got := r.String(); got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}

func TestHost(t *testing.T) {
	var order []string
	var dir string
	err := with(func(h *host) {
		dir = h.TempDir()
		h.Cleanup(func() { order = append(order, "first") })
		h.Cleanup(func() { order = append(order, "second") })
		h.Fatalf("no %s", "luck")
	})
	if err == nil || err.Error() != "no luck" || strings.Join(order, " ") != "second first" {
		t.Errorf("with: %v, cleanups %v; want no luck, the second first", err, order)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
