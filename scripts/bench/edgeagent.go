package main

import (
	"edgeagent/testbed"
)

// edgeagent is the agent as it ships, by the path of its binary.
type edgeagent struct{ bin string }

func (edgeagent) name() string { return "edgeagent" }

func (e edgeagent) start(h *host, b *testbed.Broker, n int) (*testbed.Process, func()) {
	x := newBox(h, e.bin, b.URL())
	p := x.start(h)
	return p, func() { x.await(h, p, n) }
}
