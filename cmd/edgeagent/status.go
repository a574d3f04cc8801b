package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
)

type statusCmd struct {
	configFlag
	JSON  bool `name:"json" help:"Print JSON, with the keys of /status."`
	Watch bool `help:"Print again every two seconds until interrupted."`
}

func (c statusCmd) Help() string {
	return `Exit code 0 says that the agent is healthy, 1 that it is not or does not answer.

Example: edgeagent status -c edgeagent.toml --json`
}

// watchEvery is how often --watch asks, askFor how long an answer may take.
const (
	watchEvery = 2 * time.Second
	askFor     = 5 * time.Second
)

func (c statusCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	path := agent.SocketPath(cfg.Buffer.Dir)
	for {
		err := c.once(ctx, s, path)
		if !c.Watch || ctx.Err() != nil {
			return err
		}
		if err != nil {
			fmt.Fprintf(s.out, "%v\n", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

func (c statusCmd) once(ctx context.Context, s streams, path string) error {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	r, err := status.Ask(ctx, path)
	if err != nil {
		return err
	}
	if c.JSON {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fmt.Errorf("encode status: %w", err)
		}
		fmt.Fprintf(s.out, "%s\n", text)
	} else {
		if c.Watch {
			fmt.Fprint(s.out, "\x1b[H\x1b[2J")
		}
		r.Text(s.out)
	}
	if healthy, _ := r.Healthy(); !healthy {
		return exitCode(exitFailed)
	}
	return nil
}
