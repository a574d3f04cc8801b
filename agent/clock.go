package agent

import "time"

// A Clock is where the agent's time comes from. The zero Clock is the machine's.
type Clock struct {
	Now          func() time.Time // with its monotonic part
	Synchronised func() bool      // the kernel says that the clock is disciplined
}

func (c Clock) orMachine() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Synchronised == nil {
		c.Synchronised = synchronised
	}
	return c
}

// trust is whether the wall clock may be believed: told by the configuration, or found out.
type trust struct {
	mode      string // "auto", "trusted", "untrusted"
	buildDate int64  // ns; a clock before it is wrong, and so is one 20 years after it
}

// of reports whether now may be believed. stored is the last wall-clock time written while the clock was trusted.
func (t trust) of(now, stored int64, synchronised func() bool) bool {
	switch t.mode {
	case "trusted":
		return true
	case "untrusted":
		return false
	}
	return now >= t.buildDate && now >= stored && now <= (Rules{BuildDate: t.buildDate}).horizon() && synchronised()
}
