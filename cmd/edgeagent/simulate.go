package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"edgeagent/configs"
	"edgeagent/sim"
)

type simulateCmd struct {
	Broker  string        `required:"" placeholder:"URL" help:"Broker, for instance tcp://127.0.0.1:1883."`
	Rate    float64       `default:"10" help:"Readings a second of the fleet's clock."`
	Sensors int           `default:"10" help:"Number of sensors."`
	Late    float64       `default:"0.05" help:"Share of readings sent late, some of them too late."`
	Repeat  float64       `default:"0.02" help:"Share of readings sent once more."`
	Bad     float64       `default:"0" help:"Share of messages that hold no reading."`
	Skew    time.Duration `default:"0s" help:"Largest constant offset of a sensor's clock."`
	Speed   float64       `default:"1" help:"Seconds of the fleet's clock in one second; 0 is as fast as the broker takes it."`
	Seed    uint64        `default:"1" help:"Seed: the same one gives the same fleet."`
	For     time.Duration `default:"1m" help:"How long, by the fleet's clock."`
	Record  string        `placeholder:"FILE" help:"Write every message here, in order of arrival, as replay reads it."`
}

func (c simulateCmd) Help() string {
	return "Example: edgeagent simulate --broker tcp://127.0.0.1:1883 --rate 200 --sensors 50 --for 5m --record sent.ndjson"
}

func (c simulateCmd) Run(ctx context.Context, s streams) error {
	url, err := brokerOf(c.Broker)
	if err != nil {
		return err
	}
	o := sim.SimulateOptions{Broker: url, Speed: c.Speed, Log: newLogger(configs.Log{Level: "info"}, s.err, nil),
		Fleet: sim.FleetParams{Sensors: c.Sensors, Rate: c.Rate, Late: c.Late, Repeat: c.Repeat, Bad: c.Bad, Skew: c.Skew, Seed: c.Seed, For: c.For}}
	if c.Record != "" {
		f, err := os.Create(c.Record)
		if err != nil {
			return fmt.Errorf("make the record: %w", err)
		}
		defer f.Close()
		o.Record = f
	}
	sum, err := sim.Simulate(ctx, o)
	fmt.Fprintf(s.err, "sent %d messages: %d delayed, %d too late, %d repeated, %d bad; %d reconnects, %d perhaps twice, %d unknown\n",
		sum.Sent, sum.Delayed, sum.TooLate, sum.Repeated, sum.Bad, sum.Reconnects, sum.Resent, sum.Unknown)
	return unreached(err)
}
