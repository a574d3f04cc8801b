package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// An outlet is standard output that remembers what it could not take: a command whose output went nowhere has failed, whether it looked or
// not. Safe for concurrent use if what it stands for is.
type outlet struct {
	to io.Writer

	mu  sync.Mutex // guards err
	err error      // the first
}

func (o *outlet) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

// judge is err, or what became of the output where err tells of nothing else.
func (o *outlet) judge(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var exit exitCode
	var usage usageError // the command line's own help cannot be printed: that is no mistake in it
	if o.err == nil || err != nil && !errors.Is(err, o.err) && !errors.As(err, &exit) && !errors.As(err, &usage) {
		return err
	}
	return fmt.Errorf("standard output cannot be written: %w; what was printed is not whole: see where it goes, make room or name another file, and run this again", o.err)
}

// behind is what a writer stands for.
func behind(w io.Writer) io.Writer {
	if o, ok := w.(*outlet); ok {
		return o.to
	}
	return w
}
