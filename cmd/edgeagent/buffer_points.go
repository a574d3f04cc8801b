package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"edgeagent/agent"
)

type bufferParkedCmd struct {
	configFlag
	Uplink string `help:"Only those that this one of several uplinks has parked." placeholder:"NAME"`
	JSON   bool   `name:"json" help:"Print a JSON list."`
}

func (c bufferParkedCmd) Help() string {
	return `Each point is shown with its number, the time of the refusal and the server's own reason; with several uplinks also with the name of the one whose server refused it. Works beside a running agent.

Example: edgeagent buffer parked -c edgeagent.toml --json`
}

func (c bufferParkedCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	req := agent.Request{Action: agent.ActionParked, Uplink: c.Uplink}
	if c.JSON {
		return askStore(ctx, cfg, s, req, s.out)
	}
	var list []agent.ParkedPoint
	if err := askForAnswer(ctx, cfg, s, req, false, &list); err != nil {
		return err
	}
	for _, p := range list {
		line := p.Line
		if line == "" {
			line = "(no line could be made of it)"
		}
		of := ""
		if p.Uplink != "" {
			of = p.Uplink + "  "
		}
		fmt.Fprintf(s.out, "%d  %s  %s%q\n    %q\n", p.Seq, p.Time, of, p.Reason, line)
	}
	fmt.Fprintf(s.out, "%d points parked\n", len(list))
	return nil
}

type bufferRequeueCmd struct {
	configFlag
	JSON   bool     `name:"json" help:"Print JSON."`
	All    bool     `help:"All that are parked."`
	Uplink string   `help:"Only those that this one of several uplinks has parked." placeholder:"NAME"`
	Seqs   []uint64 `arg:"" optional:"" name:"seq" help:"Numbers of parked points, as \"buffer parked\" shows them."`
}

func (c bufferRequeueCmd) Help() string {
	return `Puts refused points back at the end of the queue, to be sent again: after the cause at the server is mended. They are the same points as before;
one that is refused again is parked again. With several uplinks a point goes only to those that had it parked. Works beside a running agent. Exit code 1 says that a number is not parked.

Example: edgeagent buffer requeue -c edgeagent.toml --all`
}

func (c bufferRequeueCmd) Run(ctx context.Context, s streams) error {
	if c.All == (len(c.Seqs) > 0) {
		return usageError{errors.New("say which points: numbers as \"edgeagent buffer parked\" shows them, or --all")}
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var r agent.RequeueResult
	req := agent.Request{Action: agent.ActionRequeue, Seqs: c.Seqs, All: c.All, Uplink: c.Uplink}
	if err := askForAnswer(ctx, cfg, s, req, c.JSON, &r); err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintf(s.out, "%d points queued again; now %d queued, %d parked\n", r.Requeued, r.Queued, r.Parked)
		if r.NoLine > 0 {
			fmt.Fprintf(s.out, "%d points stay parked: no line could be made of them\n", r.NoLine)
		}
		if r.Busy > 0 {
			fmt.Fprintf(s.out, "%d points stay parked: they are on their way to another server just now; ask again\n", r.Busy)
		}
	}
	if len(r.Missing) > 0 {
		return fmt.Errorf("not parked: %s; \"edgeagent buffer parked\" lists what is", strings.Trim(fmt.Sprint(r.Missing), "[]"))
	}
	return nil
}

type bufferReadmitCmd struct {
	configFlag
	JSON   bool `name:"json" help:"Print JSON."`
	DryRun bool `help:"Only say what could be read now; change nothing."`
}

func (c bufferReadmitCmd) Help() string {
	return `After a source is mended: decodes the rejected messages that the store has kept once more, in order of arrival, and judges their readings as if they
came now. What is accepted leaves the ring and moves in the ledger from rejected to its new column. Without --dry-run the agent must run
with the mended configuration, or be stopped. A second run changes nothing.

Example: edgeagent buffer readmit -c edgeagent.toml --dry-run`
}

func (c bufferReadmitCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var r agent.Readmitted
	if err := askForAnswer(ctx, cfg, s, agent.Request{Action: agent.ActionReadmit, DryRun: c.DryRun}, c.JSON, &r); err != nil {
		return err
	}
	if c.JSON {
		return nil
	}
	verb := "were"
	if r.DryRun {
		verb = "would be"
	}
	fmt.Fprintf(s.out, "%d rejected messages looked at: %d %s accepted, %d in part, %d are still refused; %d readings\n",
		r.Messages, r.Accepted, verb, r.Partly, r.Refused, r.Readings)
	for _, name := range sortedKeys(r.Columns) {
		fmt.Fprintf(s.out, "  %-20s %+d\n", name, r.Columns[name])
	}
	return nil
}
