package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"edgeagent/testbed"
)

// live measures the agent while a fleet publishes at a steady rate.
func live(s settings) error {
	n := int(s.span.Seconds() * float64(s.rate))
	for _, limit := range s.limits {
		err := with(func(h *host) {
			f := newFleet(h, s.agent, limit)
			before := cpu(h, f.agent.Pid())
			f.publish(h, n, s.rate, s.rate)
			used := cpu(h, f.agent.Pid()) - before
			fmt.Printf("live: %d readings at %d/s from %d sensors, max_inflight_messages %d\n", n, s.rate, s.rate, limit)
			fmt.Printf("  %.2f CPU s per 100,000  %.1f MB resident\n", used.Seconds()*100_000/float64(n), float64(peak(h, f.agent.Pid()))/1e6)
			f.box.stop(h, f.agent)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wear measures what the agent writes while one reading a second arrives.
func wear(s settings) error {
	n := int(s.span.Seconds())
	return with(func(h *host) {
		f := newFleet(h, s.agent, 0)
		pid := f.agent.Pid()
		bytes, before := written(h, pid), commits(h, f.box.store)
		f.publish(h, n, 1, 1)
		bytes, before = written(h, pid)-bytes, commits(h, f.box.store)-before
		fmt.Printf("wear: %d readings at 1/s, %d commits, %.1f KiB written, %.1f KiB a commit%s\n", n, before,
			float64(bytes)/1024, float64(bytes)/1024/float64(max(before, 1)), inMemory(bytes))
		f.box.stop(h, f.agent)
	})
}

func inMemory(bytes int64) string {
	if bytes == 0 {
		return " (TMPDIR is not on a disk)"
	}
	return ""
}

// A fleet is a broker, an agent that is subscribed there, and readings to come.
type fleet struct {
	broker *testbed.Broker
	box    *box
	agent  *testbed.Process
}

func newFleet(h *host, bin string, limit int) *fleet {
	f := &fleet{broker: testbed.StartMosquitto(h, testbed.MosquittoOptions{MaxInflight: limit, Conf: []string{"log_type subscribe"}})}
	f.box = newBox(h, bin, f.broker.URL())
	f.agent = f.box.start(h)
	testbed.WaitFor(h, time.Minute, "the agent to subscribe", func() bool {
		f.box.checkRunning(h, f.agent)
		return strings.Contains(f.broker.Log(), session+" 1 "+filter)
	})
	return f
}

// publish has a process of its own send n readings at a rate and returns when the agent has taken them. The agent is not
// asked for its state before the last is sent, for the answer costs it time.
func (f *fleet) publish(h *host, n, rate, sensors int) {
	self, err := os.Executable()
	if err != nil {
		h.Fatalf("find this program: %v", err)
	}
	cmd := testbed.Command(self, "publish", "-broker", f.broker.URL(), "-n", strconv.Itoa(n),
		"-rate", strconv.Itoa(rate), "-sensors", strconv.Itoa(sensors))
	p := testbed.Start(h, cmd, filepath.Join(h.TempDir(), "publish.log"))
	if code, ok := p.Wait(drainTimeout); code != 0 || !ok {
		h.Fatalf("publish ended with code %d, in time: %v", code, ok)
	}
	f.box.await(h, f.agent, n)
}

// publishLive sends readings at a rate, each with the time it is sent at.
func publishLive(args []string) error {
	flags := flag.NewFlagSet("publish", flag.ContinueOnError)
	broker := flags.String("broker", "", "URL of the broker")
	n := flags.Int("n", 0, "readings to send")
	rate := flags.Int("rate", 1, "readings a second")
	sensors := flags.Int("sensors", 1, "sensors that they come from in turn")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := join(*broker, "bench-publisher", nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer c.Disconnect(250)
	begin := time.Now()
	return publish(c, *n, func(i int) (string, string) {
		due := time.Duration(i) * time.Second / time.Duration(*rate)
		<-time.After(due - time.Since(begin))
		return reading(i%*sensors, 15+float64(i%1000)/100, time.Now())
	})
}
