package main

import (
	"bufio"
	"fmt"
	"io"
	"time"
)

// record writes the backlog of n readings as a recording for replay, and closes w.
func record(w io.WriteCloser, n int, now time.Time) error {
	out := bufio.NewWriter(w)
	for i := range n {
		topic, payload := backlog(i, n, now)
		fmt.Fprintf(out, `{"topic":%q,"payload":%s}`+"\n", topic, payload)
	}
	if err := out.Flush(); err != nil {
		w.Close()
		return fmt.Errorf("write the recording: %w", err)
	}
	return w.Close()
}
