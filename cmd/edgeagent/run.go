package main

import (
	"context"
	"os"
	"os/signal"
	"slices"

	"edgeagent/agent"
	"edgeagent/logs"
)

type runCmd struct{ configFlag }

func (c runCmd) Help() string {
	return `It runs in the foreground, logs to standard error, and stops in order on SIGINT or SIGTERM; SIGHUP has tokens and passwords read anew.

Example: edgeagent run -c edgeagent.toml`
}

func (c runCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := cfg.CheckRun(); err != nil {
		return err
	}
	recent := new(logs.Ring)
	log := newLogger(cfg.Log, s.err, recent)
	defer routeStandardLog(log)()
	limit := limitMemory()
	for _, w := range slices.Concat(cfg.Warnings(), cfg.FileWarnings(), cfg.MemoryWarnings(limit)) {
		log.Warn("configuration: " + w)
	}
	v, date := built()
	a, err := agent.Open(agent.Options{Config: cfg, Version: v, BuildDate: date, Logger: log, MemoryLimit: limit, Check: storeCheck(),
		Recent: recent.Lines, Supervisor: supervisor(log)})
	if err != nil {
		return err
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, reloadSignals...)
	defer signal.Stop(hup)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for {
			select {
			case <-hup:
				a.Reload()
			case <-ctx.Done():
				return
			}
		}
	}()
	return a.Run(ctx)
}
