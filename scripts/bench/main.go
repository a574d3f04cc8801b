// Command bench measures the agent and prints figures; it judges nothing. Each mode measures one thing:
//
//	drain   a backlog that mosquitto kept, beside a yardstick: the least an MQTT client can do, a bare paho consumer
//	        that acknowledges each message and forgets it, in the same run on the same machine
//	live    a fleet that publishes at a steady rate: CPU time and the largest resident memory
//	strict  a backlog behind an in-flight limit that is kept to exactly, on a disk whose syncs take 3 ms
//	start   the time from exec to the subscription, with an empty store and with a large journal
//	wear    bytes written to the disk per commit at one reading a second
//	beside  readings through kills and an outage of the server, beside telegraf: how many are in the server at the end
//	sizes   of the binaries in dist/, or of the one measured if there are none
//
// All but sizes and the yardstick need -agent and are left out without it; beside needs -telegraf too.
//
//	bench [-modes drain,live,...] [-agent BINARY] [-telegraf BINARY] [-n 200000] [-inflight 0,20] [-rate 1000] [-for 20s]
//	      [-strict 20000] [-runs 10] [-journal 1000000]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are what the flags say.
type settings struct {
	agent    string // path of the binary, "" for none
	telegraf string // likewise
	backlog  int    // messages
	limits   []int  // max_inflight_messages, one run each; 0 is unlimited
	rate     int    // readings a second, each from a sensor of its own
	span     time.Duration
	strict   int // readings
	runs     int
	journal  int // readings, 0 for no start with a journal
}

// A mode measures one thing and prints it.
type mode struct {
	name       string
	needsAgent bool
	run        func(settings) error
}

func modes() []mode {
	return []mode{
		{"drain", false, drainBacklogs},
		{"live", true, live},
		{"strict", true, strict},
		{"start", true, starts},
		{"wear", true, wear},
		{"sizes", false, sizes},
		{"beside", true, beside},
	}
}

func main() {
	if len(os.Args) > 1 {
		if run := child(os.Args[1]); run != nil {
			exitOn(1, run(os.Args[2:]))
			return
		}
	}
	chosen, s, err := parse(os.Args[1:])
	exitOn(2, err)
	failed := false
	for _, m := range chosen {
		if m.needsAgent && s.agent == "" || m.name == "beside" && s.telegraf == "" {
			continue
		}
		if err := m.run(s); err != nil {
			fmt.Fprintf(os.Stderr, "error: %s: %v\n", m.name, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// child is what this program does when it runs as a part of a measurement, nil if name is none.
func child(name string) func(args []string) error {
	switch name {
	case "drain":
		return drain
	case "publish":
		return publishLive
	}
	return nil
}

func exitOn(code int, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(code)
	}
}

func parse(args []string) ([]mode, settings, error) {
	all := modes()
	var names []string
	for _, m := range all {
		names = append(names, m.name)
	}
	var s settings
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	which := flags.String("modes", strings.Join(names, ","), "what to measure")
	inflight := flags.String("inflight", "0,20", "drain and live: the broker's max_inflight_messages, one run each; 0 is unlimited")
	flags.StringVar(&s.agent, "agent", "", "edgeagent binary to measure")
	flags.StringVar(&s.telegraf, "telegraf", "", "beside: telegraf binary")
	flags.IntVar(&s.backlog, "n", 200_000, "drain: messages in the backlog")
	flags.IntVar(&s.rate, "rate", 1000, "live: sensors, each with one reading a second")
	flags.DurationVar(&s.span, "for", 20*time.Second, "live and wear: how long readings come")
	flags.IntVar(&s.strict, "strict", 20_000, "strict: readings in the backlog")
	flags.IntVar(&s.runs, "runs", 10, "start: how often")
	flags.IntVar(&s.journal, "journal", 1_000_000, "start: readings in the journal, 0 for only the empty store")
	if err := flags.Parse(args); err != nil {
		return nil, s, err
	}
	if s.runs < 1 || s.rate < 1 || s.strict < 1 || s.span < time.Second {
		return nil, s, errors.New("-runs, -rate and -strict are at least 1, -for 1s")
	}
	for text := range strings.SplitSeq(*inflight, ",") {
		limit, err := strconv.Atoi(text)
		if err != nil {
			return nil, s, fmt.Errorf("-inflight: %w", err)
		}
		s.limits = append(s.limits, limit)
	}
	var chosen []mode
	for name := range strings.SplitSeq(*which, ",") {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, s, fmt.Errorf("-modes: no mode %q, only %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, s, nil
}
