package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"edgeagent/agent"
	"edgeagent/buffer"
	"edgeagent/status"
)

// bufferCmd are the commands for the store in the data folder. While an agent runs it holds the lock; some of them then ask it by its control
// socket.
type bufferCmd struct {
	Check   bufferCheckCmd   `cmd:"" help:"Check the store; changes nothing."`
	Stats   bufferStatsCmd   `cmd:"" help:"Show what is in the store; changes nothing."`
	Compact bufferCompactCmd `cmd:"" help:"Rewrite the store without its free pages."`
	Salvage bufferSalvageCmd `cmd:"" help:"Carry over what can be read in a damaged store into the present one, of a stopped agent."`
	Parked  bufferParkedCmd  `cmd:"" help:"List the points that the server refused, with its reasons."`
	Requeue bufferRequeueCmd `cmd:"" help:"Have refused points sent again."`
	Readmit bufferReadmitCmd `cmd:"" help:"Read rejected messages in again, after the configuration is mended."`
	Export  bufferExportCmd  `cmd:"" help:"Write waiting points as line protocol, or the whole store for another card."`
	Import  bufferImportCmd  `cmd:"" help:"Fill the store of a new card with an exported one."`
	Rewind  bufferRewindCmd  `cmd:"" help:"Set event time back after a device's clock was far ahead."`
}

// lockWait is how long a command waits for a running agent to let go.
const lockWait = time.Second

// checkCommand is the hidden command by which a process of its own checks a store; see buffer.ChildCheck.
const checkCommand = "internal-check"

// storeCheck runs the check after an unclean stop in a process of this program; nil if the program cannot be found again.
func storeCheck() buffer.CheckFunc {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return buffer.ChildCheck(self, checkCommand)
}

type bufferCheckCmd struct{ configFlag }

func (c bufferCheckCmd) Help() string {
	return `Exit code 0 says that the store is sound, 1 that it is damaged or not there. A damaged store needs no attention: the next start moves it aside and
carries over what can be read in it.

Works beside a running agent, whose intake goes on: the store is read as of its last commit. Until that is done the pages that commits free are not used again, so the
file may grow by what is written meanwhile.

Example: edgeagent buffer check -c edgeagent.toml`
}

func (c bufferCheckCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	path := buffer.Path(cfg.Buffer.Dir)
	var seen agent.StoreCheck
	err = askRunning(ctx, cfg, agent.Request{Action: agent.ActionCheck}, &seen)
	if errors.Is(err, status.ErrNoAgent) {
		return c.stopped(ctx, s, path)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: sound, as of a commit of the running agent: %d pages and %d records in %.1f s\n", path, seen.Pages, seen.Records, seen.HeldS)
	tellBad(s, seen.BadRecords)
	return nil
}

// stopped checks the store of an agent that does not run.
func (c bufferCheckCmd) stopped(ctx context.Context, s streams, path string) error {
	if check := storeCheck(); check != nil {
		if err := check(ctx, path); errors.Is(err, buffer.ErrDamaged) {
			return err
		}
	}
	bad, err := buffer.CheckFile(path) // what could end the process has been proven above
	if errors.Is(err, buffer.ErrOlderSchema) {
		fmt.Fprintf(s.out, "%s: sound, as far as this version can tell: an older one made it, and the next start of the agent brings it up\n", path)
		return nil
	}
	if err != nil {
		return unanswered(err)
	}
	fmt.Fprintf(s.out, "%s: sound\n", path)
	tellBad(s, int64(bad))
	return nil
}

func tellBad(s streams, records int64) {
	if records > 0 {
		fmt.Fprintf(s.out, "%d records in it are damaged; the agent puts them into quarantine when it meets them\n", records)
	}
}

type bufferStatsCmd struct {
	configFlag
	JSON bool `name:"json" help:"Print JSON."`
}

func (c bufferStatsCmd) Help() string {
	return `Works beside a running agent.

Example: edgeagent buffer stats -c edgeagent.toml`
}

func (c bufferStatsCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var st agent.StoreStats
	if err := askForAnswer(ctx, cfg, s, agent.Request{Action: agent.ActionStats}, c.JSON, &st); err != nil || c.JSON {
		return err
	}
	counts := st.Points
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "file\t%s of at most %s\n", kib(st.FileBytes), kib(st.MaxBytes))
	fmt.Fprintf(w, "in use\t%s\n", kib(st.UsedBytes))
	fmt.Fprintf(w, "journal\t%d records, %s\n", st.JournalRecords, kib(st.JournalBytes))
	fmt.Fprintf(w, "queued\t%d points, %s\n", st.Outbox, kib(st.OutboxBytes))
	if len(st.Uplinks) == 0 {
		fmt.Fprintf(w, "parked\t%d points, %s\n", counts.Parked, kib(st.ParkedBytes))
	} else {
		fmt.Fprintf(w, "parked\t%s\n", kib(st.ParkedBytes))
	}
	fmt.Fprintf(w, "rejected\t%d messages, %s\n", st.Rejected, kib(st.RejectedBytes))
	fmt.Fprintf(w, "late\t%d readings kept, %s; %d made room\n", st.SideKept, kib(st.SideBytes), st.SideDropped)
	if st.TraceKept > 0 {
		fmt.Fprintf(w, "readings\t%d kept for tracing, %s; %d gone since\n", st.TraceKept, kib(st.TraceBytes), st.TraceDropped)
	}
	fmt.Fprintf(w, "quarantine\t%d records\n", st.Quarantined)
	if len(st.Uplinks) == 0 {
		fmt.Fprintf(w, "so far\t%d points made: %d uploaded, %d evicted, %d superseded\n", counts.Made(), counts.Uploaded, counts.Evicted, counts.Superseded)
	}
	for _, u := range st.Uplinks {
		p := u.Points
		fmt.Fprintf(w, "for %s\t%d points made: %d uploaded, %d queued, %d parked, %d evicted, %d superseded\n", u.Name, p.Made(), p.Uploaded, p.Queued, p.Parked, p.Evicted, p.Superseded)
	}
	fmt.Fprintf(w, "floor\t%s\n", cmp.Or(st.Floor, "none"))
	return w.Flush()
}

// kib writes a size as people read it.
func kib(n int64) string { return fmt.Sprintf("%d KiB", (n+1023)/1024) }

type bufferCompactCmd struct{ configFlag }

func (c bufferCompactCmd) Help() string {
	return `The agent does this by itself when it starts and that pays. A power cut while it runs loses nothing. It needs room on the disk for what is in use beside the
file that is there; without it the file stays as it is.

Works beside a running agent, which takes nothing in until it is done: readings wait at the broker, and what has come before is committed and acknowledged first.

Example: edgeagent buffer compact -c edgeagent.toml`
}

func (c bufferCompactCmd) Run(ctx context.Context, s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	var done agent.Compacted
	err = askRunning(ctx, cfg, agent.Request{Action: agent.ActionCompact}, &done)
	if errors.Is(err, status.ErrNoAgent) {
		done.Before, done.After, err = buffer.Compact(storeOptions(cfg, s).StoreByHand())
		err = unanswered(err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s before, %s now\n", kib(done.Before), kib(done.After))
	return nil
}

type bufferSalvageCmd struct {
	configFlag
	File string `arg:"" help:"The damaged file, such as edgeagent.db.damaged-20260304-1."`
}

func (c bufferSalvageCmd) Help() string {
	return `A start on a damaged store has done this already; by hand it is for a file from another place, or for one that a full disk or slow card kept from being
carried over whole. A store in which nothing has been stored yet takes all that is readable. One that has begun takes points, refused points and
rejected messages: the readings of windows that were open belong to the store that counted them. To do it twice sends the points twice, which
changes nothing at the server.

Example: edgeagent buffer salvage -c edgeagent.toml /var/lib/edgeagent/edgeagent.db.damaged-20260304-1`
}

func (c bufferSalvageCmd) Run(s streams) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	sum, err := buffer.Rescue(storeOptions(cfg, s).StoreByHand(), c.File)
	if err != nil {
		return notThere(stopped(err))
	}
	fmt.Fprintf(s.out, "carried over: %d points, %d refused points, %d readings of open windows, %d rejected messages, %d late readings; state: %s\n",
		sum.Points, sum.Parked, sum.Readings, sum.Rejected, sum.Late, map[bool]string{true: "yes", false: "no"}[sum.State])
	if sum.Faults > 0 || sum.Short {
		fmt.Fprintf(s.out, "%d pages or records could not be read; ended early for want of time or room: %v\n", sum.Faults, sum.Short)
	}
	return nil
}

// internalCheckCmd is the process that checks a store after an unclean stop.
type internalCheckCmd struct {
	File string `arg:""`
}

func (c internalCheckCmd) Run(s streams) error {
	return exitCode(buffer.CheckMain(c.File, s.err))
}
