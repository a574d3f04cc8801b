package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	strictLimit = 20
	strictAim   = 2500 // readings/s
	syncTime    = 3 * time.Millisecond
)

// strict measures how fast the agent takes a backlog of which never more than strictLimit readings are on the way, on
// this disk and on one whose syncs take syncTime more: strace holds them up. A run that is traced without a delay tells
// what strace itself costs.
func strict(s settings) error {
	fmt.Printf("strict: backlog of %d readings, %d in flight; aim %d/s with syncs of %v\n", s.strict, strictLimit, strictAim, syncTime)
	pace, err := drainStrictly(s)
	if err != nil {
		return err
	}
	fmt.Printf("  %-22s %v\n", "this disk", pace)
	slow := fmt.Sprintf("syncs of %v", syncTime)
	if err := tryTracer(); err != nil {
		fmt.Printf("  %-22s %v\n", slow, err)
		return nil
	}
	if pace, err = drainStrictly(s, tracer(0)...); err != nil {
		return err
	}
	fmt.Printf("  %-22s %v  (what strace itself costs)\n", "traced without a delay", pace)
	if pace, err = drainStrictly(s, tracer(syncTime)...); err != nil {
		return err
	}
	fmt.Printf("  %-22s %v  (strace's cost included)\n", slow, pace)
	return nil
}

// A strictPace is how a backlog went.
type strictPace struct {
	rate  float64       // readings a second, from the subscription to the last acknowledgement
	pause time.Duration // longest between two acknowledgements
}

func (p strictPace) String() string {
	return fmt.Sprintf("%8.0f readings/s  %5d ms longest pause", p.rate, p.pause.Milliseconds())
}

func drainStrictly(s settings, tracer ...string) (pace strictPace, err error) {
	err = with(func(h *host) {
		b := newStrictBroker(h, strictLimit, s.strict)
		x := newBox(h, s.agent, b.url)
		p := x.start(h, tracer...)
		begin := b.await(h, b.subscribed)
		took := b.await(h, b.taken).Sub(begin)
		pace = strictPace{float64(s.strict) / took.Seconds(), b.pause}
		x.stop(h, p)
	})
	return pace, err
}

// tracer is the strace that makes each sync take longer. It stays in the background, so that the agent is the process
// that was started, and stops it at no other system call.
func tracer(delay time.Duration) []string {
	argv := []string{"strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", os.DevNull, "-e", "trace=fdatasync,fsync"}
	if delay > 0 {
		argv = append(argv, "-e", fmt.Sprintf("inject=fdatasync,fsync:delay_exit=%d", delay.Microseconds()))
	}
	return argv
}

// tryTracer tells why the tracer cannot be used, if it cannot.
func tryTracer() error {
	if _, err := exec.LookPath("strace"); err != nil {
		return errors.New("strace missing")
	}
	argv := append(tracer(syncTime), "true")
	if text, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil || len(text) > 0 {
		return fmt.Errorf("strace cannot be used: %s", strings.TrimSpace(string(text)))
	}
	return nil
}
