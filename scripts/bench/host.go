package main

import (
	"fmt"
	"os"
)

// A host stands in for a test before the testbed.
type host struct {
	cleanups []func()
	failed   bool
}

// fatal is what Fatalf panics with, for with to catch.
type fatal struct{ error }

// with calls fn with a host, runs the cleanups, and returns what Fatalf said, if it was called.
func with(fn func(*host)) (err error) {
	h := &host{}
	defer func() {
		r := recover()
		f, ok := r.(fatal)
		if r != nil && !ok {
			panic(r)
		}
		for i := len(h.cleanups) - 1; i >= 0; i-- {
			h.cleanups[i]()
		}
		err = f.error
	}()
	fn(h)
	return nil
}

func (h *host) Helper()                     {}
func (h *host) Cleanup(fn func())           { h.cleanups = append(h.cleanups, fn) }
func (h *host) Failed() bool                { return h.failed }
func (h *host) Logf(f string, args ...any)  { fmt.Fprintf(os.Stderr, f+"\n", args...) }
func (h *host) Skipf(f string, args ...any) { h.Fatalf(f, args...) }

func (h *host) Fatalf(f string, args ...any) {
	h.failed = true
	panic(fatal{fmt.Errorf(f, args...)})
}

// TempDir makes a folder that a cleanup removes.
func (h *host) TempDir() string {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		h.Fatalf("make folder: %v", err)
	}
	h.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
