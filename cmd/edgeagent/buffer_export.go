package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"edgeagent/agent"
	"edgeagent/reading"
)

type bufferExportCmd struct {
	configFlag
	Late     bool      `xor:"what" help:"The late readings that are kept, instead of points."`
	All      bool      `xor:"what" help:"The whole store, for \"buffer import\" on another card or machine; the agent must be stopped."`
	Readings bool      `xor:"what" help:"What became of every reading, as far as buffer.retain_readings has it kept: one JSON object a line."`
	Sensor   string    `placeholder:"ID" help:"Of readings: only this sensor's."`
	Since    time.Time `placeholder:"TIME" help:"Of readings: only what came at or after TIME, RFC 3339."`
	Until    time.Time `placeholder:"TIME" help:"Of readings: only what came before TIME."`
	Format   string    `enum:"json,lp,auto" default:"auto" help:"Of late readings: json, one object a line, or lp, line protocol. Without it lp for a file named .lp, else json."`
	Out      string    `placeholder:"FILE" help:"The same as FILE."`
	File     string    `arg:"" optional:"" help:"Where to; - is standard output, and so is nothing."`
}

func (c bufferExportCmd) Help() string {
	return `Writes the points that wait or are parked as line protocol with times in ns, for instance to carry them to the server on a stick; they stay in the store, and
to send them twice changes nothing at the server. Works beside a running agent.

With --late it writes the readings that came too late for their windows, as late_readings = "keep" or "uplink" has the store keep them; docs/reconcile.md adds
them back. With "drop" it writes those that the store still remembers.

With --readings it writes every reading that was judged while retain_readings was above "0s": sensor, tags, its time and value, when it came and by which source,
the column of the ledger, and the window in which its time lies.

With --all the file holds everything that another card needs to go on exactly where this one stops. Start no agent on the old card after that:
both would go on from the same point.

Example: edgeagent buffer export -c edgeagent.toml points.lp
         edgeagent buffer export -c edgeagent.toml --late --out late.jsonl
         edgeagent buffer export -c edgeagent.toml --readings --sensor cellar --since 2026-11-29T10:00:00Z --out cellar.jsonl
         edgeagent buffer export -c edgeagent.toml --all /media/stick/gw-07.store`
}

func (c bufferExportCmd) Run(ctx context.Context, s streams) error {
	if c.File != "" && c.Out != "" {
		return usageError{errors.New("--out and FILE are the same: give one of them")}
	}
	if c.Format != "auto" && !c.Late {
		return usageError{errors.New("--format is for --late; points are always line protocol")}
	}
	if !c.Readings && (c.Sensor != "" || c.came() != nil) {
		return usageError{errors.New("--sensor, --since and --until are for --readings")}
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
		err = askStore(ctx, cfg, s, agent.Request{Action: agent.ActionExport, Late: c.Late, Traced: c.Readings,
			Sensor: c.Sensor, Came: c.came(), Format: c.format()}, lines)
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

// came is the span of arrivals that is asked for; nil is all.
func (c bufferExportCmd) came() *agent.Span {
	if c.Since.IsZero() && c.Until.IsZero() {
		return nil
	}
	span := agent.Span{From: reading.NoTime, To: math.MaxInt64}
	if !c.Since.IsZero() {
		span.From = c.Since.UnixNano()
	}
	if !c.Until.IsZero() {
		span.To = c.Until.UnixNano()
	}
	return &span
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
