package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"edgeagent/agent"
	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/doctor"
	"edgeagent/mqtt"
	"edgeagent/status"
)

type forgetCmd struct {
	configFlag
	Yes   bool `short:"y" help:"Do not ask."`
	Force bool `help:"Go on although the broker says that the gateway is online somewhere."`
}

func (c forgetCmd) Help() string {
	return `For a gateway that is retired: deletes the session that the broker keeps for it, with the messages that wait there, and the
status message edgeagent/<id>/status. Else the broker keeps both, and goes on collecting messages, for ever. The agent must be stopped. The
store is left as it is: carry its points out first (edgeagent buffer export).

Example: edgeagent forget -c edgeagent.toml --yes`
}

// forgetWithin bounds the talk with the broker.
const forgetWithin = time.Minute

func (c forgetCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if len(cfg.MQTT.Brokers) == 0 {
		return usageError{errors.New("no broker: mqtt.brokers is missing in the configuration; write brokers = [\"tcp://HOST:1883\"] below [mqtt]")}
	}
	if err := nobodyRuns(ctx, cfg); err != nil {
		return err
	}
	session, err := agent.SessionOf(cfg, quietLogger())
	if err != nil {
		return err
	}
	talk, cancel := context.WithTimeout(ctx, forgetWithin)
	defer cancel()
	if since := doctor.Online(talk, cfg); since != "" && !c.Force {
		return fmt.Errorf("the broker says that %s is online since %s, but not here: is another gateway using this id? stop that one, or add --force", cfg.Gateway.ID, since)
	}
	left, err := mqtt.LookAtSession(talk, session)
	if err != nil {
		return fmt.Errorf("nothing was deleted: look at the session: %w", unreached(err))
	}
	fmt.Fprintln(s.err, sessionWords(left, session.ClientID))
	if err := c.confirm(s, session.ClientID); err != nil {
		return err
	}
	talk, cancel = context.WithTimeout(ctx, forgetWithin)
	defer cancel()
	if err := mqtt.Forget(talk, session); err != nil {
		return fmt.Errorf("forget the session: %w; run this again: it may be there still", unreached(err))
	}
	fmt.Fprintf(s.out, "%s has forgotten %s\n", left.Broker, session.ClientID)
	return nil
}

// nobodyRuns refuses while an agent uses the session: it would be thrown out, come back, and make a new one.
func nobodyRuns(ctx context.Context, cfg *configs.Config) error {
	_, err := status.Ask(ctx, agent.SocketPath(cfg.Buffer.Dir))
	if err := noneAnswers(err); err != nil {
		return err
	}
	store, err := buffer.OpenReadOnly(buffer.Options{Dir: cfg.Buffer.Dir, LockTimeout: lockWait})
	if errors.Is(err, buffer.ErrLocked) {
		return stopped(err)
	}
	if err == nil {
		return store.Close()
	}
	return nil // a store that cannot be read, or is not there, has nobody who uses it
}

// noneAnswers judges the error of having asked for an agent: only ErrNoAgent says that there is none.
func noneAnswers(asked error) error {
	switch {
	case errors.Is(asked, status.ErrNoAgent):
		return nil
	case errors.Is(asked, status.ErrNotAllowed):
		return fmt.Errorf("see that no agent runs: %w", asked)
	}
	return errors.New("the agent runs: stop it first (systemctl disable --now edgeagent)")
}

// sessionWords says what would be lost.
func sessionWords(l mqtt.Left, client string) string {
	switch {
	case !l.Present:
		return fmt.Sprintf("%s keeps no session for %s; a status message that is left will go", l.Broker, client)
	case l.Messages == 0:
		return fmt.Sprintf("%s keeps a session for %s; no message waits in it", l.Broker, client)
	}
	return fmt.Sprintf("%s keeps a session for %s; at least %d messages wait in it and will be lost (a broker hands out no more than its in-flight limit at once: there may be many more)",
		l.Broker, client, l.Messages)
}

// confirm asks on a terminal; elsewhere --yes must be given.
func (c forgetCmd) confirm(s streams, client string) error {
	if c.Yes {
		return nil
	}
	if f, isFile := s.in.(*os.File); !isFile || !isTerminal(f) {
		return usageError{errors.New("nothing was deleted: add --yes, or run this on a terminal, which is asked")}
	}
	fmt.Fprintf(s.err, "Delete the session of %s? Type yes: ", client)
	answer, _ := bufio.NewReader(s.in).ReadString('\n')
	if strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was deleted")
	}
	return nil
}
