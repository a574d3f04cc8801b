package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/mqtt"
)

// stopped adds the next step to the error of a store that is in use.
func stopped(err error) error {
	if errors.Is(err, buffer.ErrLocked) {
		return fmt.Errorf("%w; this command needs the store to itself: stop the agent first (systemctl stop edgeagent), and start it again afterwards", err)
	}
	return err
}

// unanswered adds the next step to the error of a store that is read because no agent answered.
func unanswered(err error) error {
	switch {
	case errors.Is(err, buffer.ErrLocked):
		return fmt.Errorf("%w; it does not answer on its control socket: if it is just starting ask again in a moment, or stop the agent first", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; has the agent run yet, and is buffer.dir right?", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run this as root or as the agent's user", err)
	}
	return err
}

// unreached adds the next step to the error of a broker that was asked in vain. What the broker itself refuses has its own.
func unreached(err error) error {
	var refused *mqtt.RefusedError
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w; does a broker run there, is its address right, and is a firewall between? edgeagent doctor looks closer", err)
}

// brokerOf is the broker that --broker names.
func brokerOf(address string) (string, error) {
	url, problem := configs.BrokerURL(address)
	if problem != "" {
		return "", usageError{fmt.Errorf("--broker %s", problem)}
	}
	return url, nil
}

// openInput opens a file of messages or of a store, what it is called in errors; "-" is standard input. Whoever calls closes it.
func openInput(s streams, what, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(s.in), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", what, notThere(err))
	}
	return f, nil
}

// notThere adds the next step to the error of a file that is named on the command line.
func notThere(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; is the name right?", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; may this user have it? else run this as root", err)
	}
	return err
}
