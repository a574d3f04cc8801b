package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"edgeagent/doctor"
	"edgeagent/support"
)

type supportCmd struct {
	configFlag
	Out    string        `placeholder:"FILE" help:"Where to write it (default edgeagent-support-DATE.txt here); - is standard output."`
	Listen time.Duration `placeholder:"D" default:"10s" help:"How long doctor listens at the broker (default ${default})."`
}

func (c supportCmd) Help() string {
	return `One text file: configuration, what doctor says, status, the last log lines, the store in numbers, the machine. Passwords and tokens
are hidden in it; topics, sensor names and addresses are not. It works beside a running agent, without one, and with a configuration
that is wrong.

Example: edgeagent support -c edgeagent.toml --out support.txt`
}

func (c supportCmd) Run(ctx context.Context, s streams) error {
	now := time.Now().UTC()
	cfg, err := loadForRun(c.configFlag)
	o := support.Options{File: c.Config, Now: now, Version: versionText(), Fault: err}
	if err == nil {
		o.Config = cfg
		o.Doctor = doctor.Run(ctx, doctorOptions(cfg, c.Config, max(0, c.Listen)))
	} else {
		o.Doctor = doctor.Faults(c.Config, err)
	}
	if c.Out == "" {
		c.Out = "edgeagent-support-" + now.Format("20060102-150405") + ".txt"
	}
	if err := writeOut(s, c.Out, func(w io.Writer) error { return support.Write(ctx, w, o) }); err != nil {
		return fmt.Errorf("write support file: %w", err)
	}
	if c.Out != "-" {
		fmt.Fprintf(s.err, "%s is written; look it over before you send it\n", c.Out)
	}
	return nil
}

// versionText is what edgeagent version prints.
func versionText() string {
	var b bytes.Buffer
	_ = versionCmd{}.Run(streams{out: &b}) // a buffer takes all
	return strings.TrimSpace(b.String())
}
