// Command edgeagent is an edge agent for fleets of temperature sensors: it takes readings from MQTT, folds them into
// event-time windows, keeps everything in one file, and uploads it to InfluxDB whenever the link is there.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"edgeagent/configs"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // failed while running
	exitUsage  = 2 // usage or configuration
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// streams are the standard ones.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// cli is the command line.
type cli struct {
	Run      runCmd      `cmd:"" help:"Run the agent until it is told to stop."`
	Demo     demoCmd     `cmd:"" help:"Show the whole pipeline in one process, with an outage, and check the books."`
	Replay   replayCmd   `cmd:"" help:"Run recorded messages through the same pipeline and print line protocol."`
	Try      tryCmd      `cmd:"" help:"Show what each source makes of messages, or of what the broker brings."`
	Discover discoverCmd `cmd:"" help:"Listen at a broker and print a configuration to start from."`
	Simulate simulateCmd `cmd:"" help:"Publish as a fleet of sensors would, for testing."`
	Check    checkCmd    `cmd:"" help:"Check the configuration and print it with defaults, secrets hidden."`
	Status   statusCmd   `cmd:"" help:"Ask the running agent how it is."`
	Advise   adviseCmd   `cmd:"" help:"Say how late readings come, and which delay that calls for."`
	Buffer   bufferCmd   `cmd:"" help:"Look after the store: what is in it, out and in again, and mending."`
	Doctor   doctorCmd   `cmd:"" help:"Look at all that the agent needs, a line each, with what to do."`
	Support  supportCmd  `cmd:"" help:"Write one file for whoever helps, with every secret hidden."`
	Forget   forgetCmd   `cmd:"" help:"Delete the session at the broker, when a gateway is retired."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Completion completionCmd `cmd:"" help:"Print a script by which a shell completes commands, flags and files."`

	Man           manCmd           `cmd:"" hidden:"" help:"Print the manual page."`
	InternalCheck internalCheckCmd `cmd:"" hidden:"" name:"internal-check"`
}

// configFlag is how commands name the configuration.
type configFlag struct {
	Config string `short:"c" name:"config" placeholder:"FILE" env:"EDGEAGENT_CONFIG" default:"/etc/edgeagent/edgeagent.toml" help:"Configuration file (default ${default}, or $$EDGEAGENT_CONFIG)."`
}

func (c configFlag) load() (*configs.Config, error) { return configs.Load(c.Config) }

// usageError is a mistake on the command line.
type usageError struct{ error }

// exitCode carries a code without an error line: the command has said all there is to say.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// run runs one command and reports the exit code. Errors are one `error: ` line.
func run(ctx context.Context, args []string, s streams) int {
	out := &outlet{to: s.out}
	s.out = out
	return fail(s, out.judge(parseAndRun(ctx, args, s)))
}

// parseAndRun runs the command of a command line. Help is a command that has said all there is to say.
func parseAndRun(ctx context.Context, args []string, s streams) error {
	code, help := exitDone, false
	var c cli
	parser, err := newParser(&c, s, func(n int) { code, help = n, true })
	if err != nil {
		return fmt.Errorf("BUG: command line: %w", err)
	}
	k, err := parser.Parse(args)
	if help {
		return exitCode(code)
	}
	if err != nil {
		return usageError{fmt.Errorf("%w; see edgeagent --help", err)}
	}
	k.BindTo(ctx, (*context.Context)(nil))
	return k.Run(s)
}

// newParser reads command lines into c. exit is called with the exit code when help was asked for, and must return.
func newParser(c *cli, s streams, exit func(int)) (*kong.Kong, error) {
	return kong.New(c, kong.Name("edgeagent"), kong.Description("An edge agent for fleets of temperature sensors: MQTT to InfluxDB, nothing lost, nothing counted twice."),
		kong.UsageOnError(), kong.Writers(s.out, s.err), kong.Exit(exit), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
}

// fail says what went wrong, if anything did, and gives the exit code for it.
func fail(s streams, err error) int {
	var exit exitCode
	var usage usageError
	var config *configs.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &exit):
		return int(exit)
	}
	fmt.Fprintf(s.err, "error: %v\n", err)
	if errors.As(err, &usage) || errors.As(err, &config) {
		return exitUsage
	}
	return exitFailed
}
