package main

import (
	"context"
	"errors"
	"time"

	"edgeagent/configs"
	"edgeagent/doctor"
)

type doctorCmd struct {
	configFlag
	Listen time.Duration `placeholder:"D" default:"10s" help:"How long to listen at the broker (default ${default}); 0s is not at all."`
	JSON   bool          `name:"json" help:"Print JSON."`
}

func (c doctorCmd) Help() string {
	return `One line for each thing that an agent needs: OK, WARN or FAIL, what was seen, and behind an arrow what to do next. It changes
nothing, and works beside a running agent and without one. Run it as root or as the agent's user.

Exit code 0 says that nothing has failed, 1 that something has, 2 that the configuration cannot be used.

Example: edgeagent doctor -c edgeagent.toml --listen 1m`
}

func (c doctorCmd) Run(ctx context.Context, s streams) error {
	if c.Listen < 0 {
		return usageError{errors.New("--listen takes a time such as 10s, or 0s")}
	}
	cfg, err := loadForRun(c.configFlag)
	var r doctor.Report
	if err != nil {
		r = doctor.Faults(c.Config, err)
	} else {
		r = doctor.Run(ctx, doctorOptions(cfg, c.Config, c.Listen))
	}
	show := r.Text
	if c.JSON {
		show = r.JSON
	}
	if err := show(s.out); err != nil {
		return err
	}
	switch {
	case err != nil:
		return exitCode(exitUsage)
	case r.Worst() == doctor.Fail:
		return exitCode(exitFailed)
	}
	return nil
}

// loadForRun loads a configuration that run would take.
func loadForRun(c configFlag) (*configs.Config, error) {
	cfg, err := c.load()
	if err != nil {
		return nil, err
	}
	return cfg, cfg.CheckRun()
}

func doctorOptions(cfg *configs.Config, file string, listen time.Duration) doctor.Options {
	v, date := built()
	return doctor.Options{Config: cfg, File: file, Warnings: cfg.MemoryWarnings(limitMemory()), Version: v, BuildDate: date, Listen: listen}
}
