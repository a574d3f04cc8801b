package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"edgeagent/agent"
)

// How far the clock may be off.
const (
	offLittle = 5 * time.Second // more than the whole seconds of a Date header and a slow answer explain
	offMuch   = time.Minute
)

// kernelClock is the kernel's word on its clock.
func kernelClock() bool { return agent.Synchronised() }

// A clock is what is known of the gateway's.
type clock struct {
	now          time.Time
	buildDate    time.Time
	zone         string
	mode         string // gateway.clock
	synchronised bool
	dates        []offset // of servers
	devices      []time.Duration
}

// An offset is how far our clock is ahead of another.
type offset struct {
	of    string
	ahead time.Duration
}

func seeClock(o Options, brokers []broker, servers []server) clock {
	now := o.Now()
	zone, _ := now.Zone()
	c := clock{now: now, buildDate: o.BuildDate, zone: zone, mode: o.Config.Gateway.Clock, synchronised: o.Synchronised()}
	for _, s := range servers {
		if p := s.probe; !p.Date.IsZero() {
			c.dates = append(c.dates, offset{p.Where, aheadOf(p.Date, p.Sent, p.Answered)})
		}
	}
	if h := heardAt(brokers); h != nil {
		c.devices = h.offsets
	}
	return c
}

// aheadOf is how far our clock is certainly ahead of another that said date, in whole seconds, between sent and answered; 0 if they agree.
func aheadOf(date, sent, answered time.Time) time.Duration {
	switch {
	case sent.After(date.Add(time.Second)):
		return sent.Sub(date.Add(time.Second))
	case answered.Before(date):
		return answered.Sub(date)
	}
	return 0
}

func judgeClock(c clock) Report {
	now := c.now.UTC().Format(time.RFC3339)
	worst := offset{}
	for _, d := range c.dates {
		if d.ahead.Abs() > worst.ahead.Abs() {
			worst = d
		}
	}
	told := c.told(worst)
	const set = "timedatectl status; is NTP reachable from here? does this board lack a clock chip?"
	switch {
	case c.now.Before(c.buildDate):
		return Report{fail("clock", set, "%s is before this program was made (%s)", now, c.buildDate.UTC().Format(time.DateOnly))}
	case worst.ahead.Abs() > offMuch:
		return Report{fail("clock", set+" or is that server's clock wrong?", "%s%s", now, told)}
	case worst.ahead.Abs() > offLittle:
		return Report{warn("clock", set, "%s%s", now, told)}
	case !c.synchronised && c.mode == "auto":
		return Report{warn("clock", set+" Until it is, readings far ahead are held", "%s, and the kernel does not call its clock synchronised%s", now, told)}
	case !c.synchronised:
		return Report{warn("clock", set, "%s; the kernel does not call its clock synchronised, gateway.clock is %q%s", now, c.mode, told)}
	}
	return Report{ok("clock", "%s, synchronised%s", now, told)}
}

// told says what the other clocks and the devices say, and that the zone does not matter.
func (c clock) told(worst offset) string {
	var b strings.Builder
	switch {
	case len(c.dates) == 0:
		b.WriteString("; no server told its time")
	case worst.ahead.Abs() <= offLittle:
		b.WriteString("; agrees with the server's")
	default:
		fmt.Fprintf(&b, "; %s by %s", distance(worst.ahead), worst.of)
	}
	if n := len(c.devices); n > 0 {
		sorted := slices.Sorted(slices.Values(c.devices))
		fmt.Fprintf(&b, "; readings are %s (median of %d)", distance(sorted[n/2]), n)
	}
	if c.zone != "UTC" {
		fmt.Fprintf(&b, "; the time zone set here (%s) does not matter", c.zone)
	}
	return b.String()
}

// distance says how far something is ahead or behind.
func distance(ahead time.Duration) string {
	switch {
	case ahead.Abs() < time.Second:
		return "on time"
	case ahead < 0:
		return span(-ahead) + " behind"
	}
	return span(ahead) + " ahead"
}
