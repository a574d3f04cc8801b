package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"edgeagent/agent"
	"edgeagent/status"
)

type statusCmd struct {
	configFlag
	JSON    bool   `name:"json" help:"Print JSON, with the keys of /status (with --sensors, a list)."`
	Watch   bool   `help:"Refresh every two seconds until interrupted."`
	Sensors bool   `help:"List the sensors instead: last value, last time, lag, open windows, late drops, clock offset."`
	Find    string `placeholder:"TEXT" help:"Only sensors with this in their name."`
	Sort    string `enum:"name,value,time,lag,open,late,offset" default:"name" help:"Order of the sensors: name, value, time (longest silent first), lag, open, late, offset."`
	Reverse bool   `help:"The other way round."`
}

func (c statusCmd) Help() string {
	return `Exit code 0 says that the agent is healthy, 1 that it is not or does not answer, 2 that the command line or the configuration is wrong. Healthy means that the store can be written and the books balance: a broker or a server that is away is told, but is no fault of the agent's. With --watch the code is that of the last look.

Example: edgeagent status -c edgeagent.toml --json

    edgeagent status -c edgeagent.toml --watch

    edgeagent status -c edgeagent.toml --sensors --sort late`
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
	if !c.Sensors && (c.Find != "" || c.Sort != "name" || c.Reverse) {
		return usageError{errors.New("--find, --sort and --reverse are for --sensors; add it")}
	}
	path := agent.SocketPath(cfg.Buffer.Dir)
	if c.Watch {
		return c.watch(ctx, s, path)
	}
	text, err := c.look(ctx, path)
	if len(text) > 0 {
		if _, err := s.out.Write(text); err != nil {
			return fmt.Errorf("write status: %w", err)
		}
	}
	return err
}

// watch looks again and again until ctx ends, and leaves the last look behind.
func (c statusCmd) watch(ctx context.Context, s streams, path string) error {
	screen := newScreen(s.out)
	defer screen.close()
	said := ""
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var last error
	for {
		text, err := c.look(ctx, path)
		if ctx.Err() != nil {
			return last // the look was cut short
		}
		last = err
		var code exitCode
		if err != nil && !errors.As(err, &code) {
			text = c.unseen(err)
			last = exitCode(exitFailed) // it has been said
			if c.JSON && err.Error() != said {
				said = err.Error()
				fmt.Fprintf(s.err, "error: %s\n", said)
			}
		} else {
			said = ""
		}
		if err := screen.show(text); err != nil {
			return fmt.Errorf("write status: %w", err)
		}
		select {
		case <-ctx.Done():
			return last
		case <-tick.C:
		}
	}
}

// unseen is what there is to print where there was nothing to see: with --json an object too, whose error says why.
func (c statusCmd) unseen(err error) []byte {
	now := time.Now().UTC()
	if !c.JSON {
		return fmt.Appendf(nil, "%s  %v\n", now.Format(time.TimeOnly), err)
	}
	text, err := json.Marshal(struct {
		Time  string `json:"time"` // of the look, RFC 3339
		Error string `json:"error"`
	}{now.Format(time.RFC3339), err.Error()})
	if err != nil {
		return nil // of two strings there is always JSON
	}
	return append(text, '\n')
}

// look asks once, and gives what there is to print. An agent that is not healthy is an exitCode.
func (c statusCmd) look(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	o, err := status.AskOverview(ctx, path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := c.print(ctx, &b, path, o); err != nil {
		return nil, err
	}
	if healthy, _ := o.Report.Healthy(); !healthy {
		return b.Bytes(), exitCode(exitFailed)
	}
	return b.Bytes(), nil
}

func (c statusCmd) print(ctx context.Context, b *bytes.Buffer, path string, o status.Overview) error {
	var v any = o.Report
	if c.Sensors {
		list, err := status.AskSensors(ctx, path, c.Sort, c.Find, c.Reverse)
		if err != nil {
			return err
		}
		if !c.JSON {
			return status.SensorText(b, list, o.Report.Clock.Now)
		}
		if v = list; list == nil {
			v = []status.Sensor{}
		}
	}
	if !c.JSON {
		return o.Text(b)
	}
	e := json.NewEncoder(b)
	if !c.Watch { // one line for each look is what scripts can read
		e.SetIndent("", "  ")
	}
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode status: %w", err)
	}
	return nil
}
