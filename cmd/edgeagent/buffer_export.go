package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"edgeagent/agent"
)

type bufferExportCmd struct {
	configFlag
	Late   bool   `xor:"what" help:"The late readings that are kept, instead of points."`
	All    bool   `xor:"what" help:"The whole store, for \"buffer import\" on another card or machine; the agent must be stopped."`
	Format string `enum:"json,lp,auto" default:"auto" help:"Of late readings: json, one object a line, or lp, line protocol. Without it lp for a file named .lp, else json."`
	Out    string `placeholder:"FILE" help:"The same as FILE."`
	File   string `arg:"" optional:"" help:"Where to; - is standard output, and so is nothing."`
}

func (c bufferExportCmd) Help() string {
	return `Writes the points that wait or are parked as line protocol with times in ns, for instance to carry them to the server on a stick; they stay in the store, and
to send them twice changes nothing at the server. Works beside a running agent.

With --late it writes the readings that came too late for their windows, as late_readings = "keep" or "uplink" has the store keep them; docs/reconcile.md adds
them back. With "drop" it writes those that the store still remembers.

With --all the file holds everything that another card needs to go on exactly where this one stops. Start no agent on the old card after that:
both would go on from the same point.

Example: edgeagent buffer export -c edgeagent.toml points.lp
         edgeagent buffer export -c edgeagent.toml --late --out late.jsonl
         edgeagent buffer export -c edgeagent.toml --all /media/stick/gw-07.store`
}

func (c bufferExportCmd) Run(ctx context.Context, s streams) error {
	if c.File != "" && c.Out != "" {
		return usageError{errors.New("--out and FILE are the same: give one of them")}
	}
	if c.Format != "auto" && !c.Late {
		return usageError{errors.New("--format is for --late; points are always line protocol")}
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var n int64
	err = writeOut(s, c.where(), func(w io.Writer) (err error) {
		if c.All {
			n, err = agent.ExportStore(storeOptions(cfg, s), w)
			return stopped(err)
		}
		lines := &lineCounter{w: w}
		err = askStore(ctx, cfg, s, agent.Request{Action: agent.ActionExport, Late: c.Late, Format: c.format()}, lines)
		n = lines.lines
		return err
	})
	if err != nil {
		return err
	}
	what := "lines"
	if c.All {
		what = "records"
	}
	fmt.Fprintf(s.err, "%d %s written\n", n, what)
	return nil
}

// where is the file to write to.
func (c bufferExportCmd) where() string {
	if c.File+c.Out == "" {
		return "-"
	}
	return c.File + c.Out
}

// format is that of late readings, "" for points.
func (c bufferExportCmd) format() string {
	switch {
	case !c.Late:
		return ""
	case c.Format != "auto":
		return c.Format
	case strings.HasSuffix(c.where(), ".lp"):
		return agent.FormatLines
	}
	return agent.FormatJSON
}
