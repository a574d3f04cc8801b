package main

import (
	"fmt"
	"slices"
)

type checkCmd struct{ configFlag }

func (c checkCmd) Help() string {
	return "Example: edgeagent check -c edgeagent.toml"
}

func (c checkCmd) Run(s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := cfg.CheckRun(); err != nil {
		return err
	}
	if err := cfg.Render(s.out); err != nil {
		return err
	}
	for _, w := range slices.Concat(cfg.Warnings(), cfg.FileWarnings(), cfg.MemoryWarnings(limitMemory())) {
		fmt.Fprintf(s.err, "warning: %s\n", w)
	}
	fmt.Fprintf(s.err, "%s: right\n", c.Config)
	return nil
}
