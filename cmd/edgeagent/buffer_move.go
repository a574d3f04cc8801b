package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"edgeagent/agent"
)

type bufferImportCmd struct {
	configFlag
	JSON        bool   `name:"json" help:"Print JSON."`
	MergePoints bool   `help:"Take queued and parked points alone, into a store that has begun; they count as carried."`
	File        string `arg:"" help:"What \"buffer export --all\" wrote; - is standard input."`
}

func (c bufferImportCmd) Help() string {
	return `Fills the empty store of a new card with an exported one, which then goes on exactly where that stopped: open windows, watermark, floor, points and every
count. The agent must not run. A cut or an error leaves the store empty; import again.

Example: edgeagent buffer import -c edgeagent.toml /media/stick/gw-07.store`
}

func (c bufferImportCmd) Run(s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	in, err := openInput(s, "the file", c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := agent.ImportStore(storeOptions(cfg, s), bufio.NewReader(in), c.MergePoints)
	if err != nil {
		return stopped(err)
	}
	if r.From != cfg.Gateway.ID {
		fmt.Fprintf(s.err, "warning: the store was that of gateway %q, the configuration says %q\n", r.From, cfg.Gateway.ID)
	}
	if c.JSON {
		return printJSON(s, r)
	}
	c.tell(s.out, r)
	return nil
}

func (c bufferImportCmd) tell(w io.Writer, r *agent.ImportResult) {
	fmt.Fprintf(w, "store of %q as of %s: %d points queued, %d parked\n", r.From, r.Time, r.Queued, r.Parked)
	if r.Evicted > 0 {
		fmt.Fprintf(w, "%d points did not fit and count as evicted; is buffer.max_size smaller here?\n", r.Evicted)
	}
	if r.Before > 0 {
		fmt.Fprintf(w, "%d points of the file were in the store already\n", r.Before)
	}
	if r.Ahead {
		fmt.Fprintf(w, "an agent has sent windows up to %s from this folder: readings of windows that end at or before that count as late\n", r.Floor)
	}
}

type bufferRewindCmd struct {
	configFlag
	JSON   bool      `name:"json" help:"Print JSON."`
	To     time.Time `required:"" placeholder:"TIME" help:"The time to go back to, RFC 3339, by your own watch; such as 2026-11-29T10:00:00Z."`
	Force  bool      `help:"Lower the floor too: windows that may be at the server are taken up again, and may overwrite what is there."`
	DryRun bool      `help:"Only show what would change."`
}

func (c bufferRewindCmd) Help() string {
	return `For a store into which a device with a clock far ahead has brought event time, so that all others are late. Sets M to TIME and the watermark behind it.
Readings of windows that lie ahead of TIME and of the clock count as rejected, future, from then on; queued points of such windows are parked.

Windows that end after the new watermark and may have been sent are shown. The floor keeps them closed: their readings stay late. With --force
they are open again, and what comes for them now overwrites what the server has. The agent must not run. Health lines count rewinds.

Example: edgeagent buffer rewind -c edgeagent.toml --to 2026-11-29T10:00:00Z --dry-run`
}

func (c bufferRewindCmd) Run(s streams) error {
	if c.To.IsZero() {
		return usageError{errors.New("--to is no time")}
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	r, err := agent.Rewind(storeOptions(cfg, s), agent.RewindRequest{To: c.To, Force: c.Force, DryRun: c.DryRun})
	if err != nil {
		return stopped(err)
	}
	if c.JSON {
		return printJSON(s, r)
	}
	tellRewound(s.out, r)
	return nil
}

func tellRewound(w io.Writer, r *agent.Rewound) {
	moved := func(what string, m agent.Moved) {
		fmt.Fprintf(w, "%-16s %s -> %s\n", what, cmp.Or(m.Before, "none"), cmp.Or(m.After, "none"))
	}
	if !r.Changed {
		fmt.Fprintf(w, "nothing lies ahead of %s: event time %s, watermark %s, floor %s\n", r.To, cmp.Or(r.MaxEventTime.Before, "none"),
			cmp.Or(r.Watermark.Before, "none"), cmp.Or(r.Floor.Before, "none"))
		return
	}
	moved("max event time", r.MaxEventTime)
	moved("watermark", r.Watermark)
	moved("floor", r.Floor)
	fmt.Fprintf(w, "sensors set back %d; readings taken back %d; points parked %d\n", r.Sensors, r.TakenBack, r.Parked)
	switch {
	case len(r.Windows) == 0:
		fmt.Fprintln(w, "no window that may be at the server is open again")
	case r.Forced:
		fmt.Fprintln(w, "windows that may be at the server and can be overwritten now, by start:")
	default:
		fmt.Fprintf(w, "windows that may be at the server, by start; they stay closed, their readings late, up to %s:\n", r.LateUntil)
	}
	for _, start := range r.Windows {
		fmt.Fprintf(w, "  %s\n", start)
	}
	if r.More > 0 {
		fmt.Fprintf(w, "  and %d later ones\n", r.More)
	}
	if r.LateUntil != "" {
		fmt.Fprintf(w, "every reading of a window that ends at or before %s is late; --force lowers the floor\n", r.LateUntil)
	}
	if r.DryRun {
		fmt.Fprintln(w, "nothing was changed")
	}
}

// sortedKeys are the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
