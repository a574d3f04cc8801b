package agent

import (
	"context"
	"fmt"
	"time"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/status"
	"edgeagent/uplink"
)

// A link is one uplink and what it sees of the store. None waits for another: each has a goroutine, connections and a back-off
// of its own.
type link struct {
	name   string
	uplink *uplink.Uplink
	outbox *outbox
}

// newLinks makes one for each uplink of the configuration, in its order.
func (a *Agent) newLinks() error {
	for i := range a.cfg.Uplinks {
		u := &a.cfg.Uplinks[i]
		l := link{name: u.Name, outbox: newOutbox(a.store, u.Name, a.settles, func() int64 { return a.clock.Now().UnixNano() })}
		c, err := a.uplinkConfig(u)
		if err != nil {
			return err
		}
		if l.uplink, err = uplink.New(c, l.outbox); err != nil {
			return fmt.Errorf("uplink %q: %w", u.Name, err)
		}
		a.links = append(a.links, l)
	}
	return nil
}

func (a *Agent) uplinkConfig(u *configs.Uplink) (uplink.Config, error) {
	c, err := UplinkOf(u, a.version, a.log)
	c.Observe = a.uploads.note
	if len(a.cfg.Uplinks) > 1 {
		c.Name = u.Name
	}
	return c, err
}

// hold keeps all uplinks from looking at the store until let is called, and tells what is on its way to any server.
func (a *Agent) hold() (all []buffer.InFlight, let func()) {
	for _, l := range a.links {
		all = append(all, l.outbox.hold())
	}
	return all, func() {
		for _, l := range a.links {
			l.outbox.let()
		}
	}
}

// wake tells every uplink that points have come.
func (a *Agent) wake() {
	for _, l := range a.links {
		l.outbox.wake()
	}
}

// runners are the uplinks, by what they are called in errors.
func (a *Agent) runners() map[string]func(context.Context) error {
	all := make(map[string]func(context.Context) error)
	for _, l := range a.links {
		all["uplink "+l.name] = l.uplink.Run
	}
	return all
}

// noteSuccesses takes into the state of the next commit when each server last stored a line, so that it is known after a restart too.
func (a *Agent) noteSuccesses() {
	all := make(map[string]int64, len(a.links))
	for _, l := range a.links {
		if at := a.lastSuccess(l); !at.IsZero() {
			all[l.name] = at.UnixNano()
		}
	}
	a.engine.Node.LastSuccess = all
}

// lastSuccess is when the server of an uplink last stored a line, by this process or, as the store has it, by one before; zero if never.
func (a *Agent) lastSuccess(l link) time.Time {
	at := l.uplink.Status().LastSuccess
	if before := a.engine.Node.LastSuccess[l.name]; at.IsZero() && before != 0 {
		return time.Unix(0, before)
	}
	return at
}

// linkStatus is the state of one uplink for people.
func (a *Agent) linkStatus(l link) status.Uplink {
	s := l.uplink.Status()
	return status.Uplink{State: s.State, Since: rfc3339(s.Since), LastSuccess: rfc3339(a.lastSuccess(l)),
		LastError: s.LastError, RetryInS: s.RetryIn.Seconds()}
}

// uplinksStatus is the state and the books of each of several uplinks, by name; nil if there is one.
func (a *Agent) uplinksStatus() map[string]status.UplinkPart {
	if len(a.links) < 2 {
		return nil
	}
	all := make(map[string]status.UplinkPart)
	books := a.store.Books()
	for i, l := range a.links {
		all[l.name] = status.UplinkPart{Points: pointsStatus(books[i].Points), Uplink: a.linkStatus(l)}
	}
	return all
}
