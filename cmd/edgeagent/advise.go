package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"edgeagent/agent"
)

type adviseCmd struct {
	configFlag
	Loss share `default:"0.1%" placeholder:"SHARE" help:"Share of readings that may be late (default ${default})."`
	JSON bool  `name:"json" help:"Print JSON."`
}

func (c adviseCmd) Help() string {
	return `Says how late readings come and which watermark.delay keeps all but the given share of them. Works beside a running agent and on the store of a
stopped one. Exit code 1 if there are too few readings to say so.

Example: edgeagent advise -c edgeagent.toml --loss 0.1%`
}

func (c adviseCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var a agent.Advice
	req := agent.Request{Action: agent.ActionAdvise, Loss: float64(c.Loss)}
	if err := askForAnswer(ctx, cfg, s, req, c.JSON, &a); err != nil {
		return err
	}
	if !c.JSON {
		if err := printAdvice(s.out, &a); err != nil {
			return err
		}
	}
	if !a.Enough {
		return fmt.Errorf("too few readings to advise: %d of the %d that a loss of %s needs; let the agent run on, or give a larger --loss", a.All.Readings, a.Needed, percent(a.Loss))
	}
	return nil
}

// A share is a part of all, from 0 to 1, written as a percentage.
type share float64

// UnmarshalText reads "0.1%".
func (p *share) UnmarshalText(text []byte) error {
	digits, ok := strings.CutSuffix(string(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(x >= 0.001 && x <= 50) {
		return fmt.Errorf("want a percentage from 0.001%% to 50%%, such as 0.1%% (got %q)", text)
	}
	*p = share(x / 100)
	return nil
}

// percent writes a share so that what is not 0 does not look like it.
func percent(x float64) string {
	p, digits := 100*x, 1
	switch {
	case p > 0 && p < 0.001:
		return "<0.001 %"
	case p < 0.1:
		digits = 3
	case p < 10:
		digits = 2
	}
	text := strconv.FormatFloat(p, 'f', digits, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	return cmp.Or(text, "0") + " %"
}
