package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"edgeagent/agent"
)

type replayCmd struct {
	configFlag
	State  string   `placeholder:"DIR" help:"Keep the store here between runs, as a checkpoint; it remembers how far each input is committed."`
	Topic  string   `placeholder:"T" help:"Lines are bare payloads that came on this topic."`
	Close  bool     `help:"At the end finalize every open window and report all late counts."`
	Again  bool     `help:"Feed the inputs from their beginning, whatever the store remembers of them."`
	Ledger string   `placeholder:"FILE" help:"Write the ledger here as JSON."`
	Files  []string `arg:"" optional:"" help:"Recordings, one message a line; - is standard input."`
}

func (c replayCmd) Help() string {
	return `A line is {"topic": "...", "payload": <JSON or text>, "retained": false, "time": "<RFC 3339>"}.

Example: edgeagent replay -c edgeagent.toml --state /tmp/state --close recorded.ndjson`
}

func (c replayCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := checkTopic(c.Topic); err != nil {
		return err
	}
	if len(c.Files) == 0 {
		c.Files = []string{"-"}
	}
	_, date := built()
	r, err := agent.OpenReplay(agent.ReplayOptions{Config: cfg, StateDir: c.State, Close: c.Close, Again: c.Again, BuildDate: date,
		Out: s.out, Logger: newLogger(cfg.Log, s.err, nil)})
	if err != nil {
		return err
	}
	for _, name := range c.Files {
		if err := c.feed(ctx, s, r, name); err != nil {
			return errors.Join(err, r.Abort())
		}
	}
	ledger, err := r.Finish()
	if err != nil {
		return err
	}
	return c.writeLedger(ledger)
}

func (c replayCmd) feed(ctx context.Context, s streams, r *agent.Replay, name string) error {
	in, err := openInput(s, "recording", name)
	if err != nil {
		return err
	}
	defer in.Close()
	rec, err := agent.NewRecording(name, in, c.Topic)
	if err != nil {
		return err
	}
	return r.Feed(ctx, rec)
}

func (c replayCmd) writeLedger(l agent.Ledger) error {
	if c.Ledger == "" {
		return nil
	}
	text, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		return fmt.Errorf("encode ledger: %w", err)
	}
	if err := os.WriteFile(c.Ledger, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	return nil
}
