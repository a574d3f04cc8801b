package main

import (
	"context"
	"time"

	"edgeagent/demo"
)

type demoCmd struct {
	Speed float64       `default:"150" help:"Seconds of the sensors' clock in one second; 0 is as fast as possible."`
	For   time.Duration `default:"75m" help:"How long the sensors publish, by their clock; at least 45m."`
}

func (c demoCmd) Help() string {
	return `Needs nothing else: broker, sensors and server are built in, and the data is put away at the end. Takes half a
minute. Exit code 1 says that the books did not balance, or that the server did not hold what it must.

Example: edgeagent demo --speed 300`
}

func (c demoCmd) Run(ctx context.Context, s streams) error {
	v, date := built()
	o := demo.Options{Speed: c.Speed, For: c.For, Out: s.out, Version: v, BuildDate: date}
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	return demo.Run(ctx, o)
}
