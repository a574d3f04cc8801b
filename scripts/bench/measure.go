package main

import (
	"fmt"
	"regexp"
	"syscall"
	"time"

	"edgeagent/testbed"
)

const (
	session = "bench-consumer" // the client id whose backlog is drained
	filter  = "bench/+/temperature"

	drainTimeout = 20 * time.Minute
)

// goodbye is what mosquitto logs when the session's connection has ended, be it in order or not.
var goodbye = regexp.MustCompile(`lient ` + session + `( disconnected|, disconnecting| closed its connection)`)

// A contender is a consumer under measurement.
type contender interface {
	name() string

	// start starts the consumer as a process of its own. It joins the broker as session and takes what waits there. The
	// function returned ends the process once it has taken n messages for good.
	start(h *host, b *testbed.Broker, n int) (p *testbed.Process, finish func())
}

// A result is what one contender needed for one backlog.
type result struct {
	messages int
	wall     time.Duration // from its start until it had taken all
	cpu      time.Duration // user and system, of the whole process
	memory   int64         // largest resident set, bytes
	left     int           // messages that the broker still held afterwards
}

func (r result) String() string {
	per := float64(r.messages) / 100_000
	return fmt.Sprintf("%8.0f messages/s  %6.2f CPU s per 100,000  %5.1f MB resident  %d left at the broker",
		float64(r.messages)/r.wall.Seconds(), r.cpu.Seconds()/per, float64(r.memory)/1e6, r.left)
}

// drainBacklogs measures the yardstick, and the agent if there is one, at each in-flight limit.
func drainBacklogs(s settings) error {
	contenders := []contender{yardstick{}}
	if s.agent != "" {
		contenders = append(contenders, edgeagent{s.agent})
	}
	for _, limit := range s.limits {
		fmt.Printf("drain: backlog of %d messages, max_inflight_messages %d\n", s.backlog, limit)
		for _, c := range contenders {
			var r result
			if err := with(func(h *host) { r = measure(h, c, s.backlog, limit) }); err != nil {
				return fmt.Errorf("measure %s: %w", c.name(), err)
			}
			fmt.Printf("  %-10s %v\n", c.name(), r)
		}
	}
	return nil
}

// measure builds the backlog in a broker of its own, so that no contender gains from what another left, and has c drain it.
func measure(h *host, c contender, n, inflight int) result {
	b := testbed.StartMosquitto(h, testbed.MosquittoOptions{MaxInflight: inflight})
	if err := fill(b.URL(), n); err != nil {
		h.Fatalf("fill the backlog: %v", err)
	}
	begin := time.Now()
	p, finish := c.start(h, b, n)
	finish()
	wall := time.Since(begin)
	if code, ok := p.Terminate(time.Minute); !ok || code != 0 {
		h.Fatalf("%s ended with code %d, in time: %v", c.name(), code, ok)
	}
	// Joining earlier would take the session over and drop the acknowledgements that the broker has not read yet.
	testbed.WaitFor(h, drainTimeout, "the broker to read the last acknowledgements", func() bool {
		return len(goodbye.FindAllString(b.Log(), -1)) == 2 // the first was when the backlog was made
	})
	left, err := leftover(b.URL())
	if err != nil {
		h.Fatalf("look for what is left: %v", err)
	}
	state := p.State()
	r := result{messages: n, wall: wall, cpu: state.UserTime() + state.SystemTime(), left: left}
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.memory = int64(u.Maxrss) << 10 // KiB on Linux
	}
	return r
}
