package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// manCmd writes the manual page that packages carry, from the command line's own model, so that it cannot tell of a flag
// that is not there.
type manCmd struct{}

func (manCmd) Run(k *kong.Kong, s streams) error {
	v, date := built()
	page := manPage{version: v, date: date}
	page.write(k.Model)
	if _, err := io.WriteString(s.out, page.text.String()); err != nil {
		return fmt.Errorf("write manual page: %w", err)
	}
	return nil
}

// A manPage is a page in the making, in the man macros of roff.
type manPage struct {
	version string
	date    time.Time
	text    strings.Builder
}

// manRest is what the model does not know.
const manRest = `.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 1
failed while running
.TP
.B 2
wrong usage or configuration
.SH ENVIRONMENT
.TP
.B EDGEAGENT_CONFIG
the configuration file, unless \-c names one
.TP
.B GOMEMLIMIT
the soft limit on memory, instead of one that suits the machine
.P
The configuration may take values from variables, as ${NAME}.
.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
stop in order; a second one ends the process at once, which loses nothing
.TP
.B SIGHUP
read token and passwords anew
.SH FILES
.TP
.I /etc/edgeagent/edgeagent.toml
the configuration
.TP
.I /etc/edgeagent/edgeagent.env
variables for it, NAME=value lines
.TP
.I /etc/edgeagent/secrets
tokens and passwords, a file each
.TP
.I /var/lib/edgeagent
the store and the control socket
.TP
.I /usr/share/doc/edgeagent
the guide, what to do by symptom, examples, dashboards
`

func (p *manPage) write(app *kong.Application) {
	fmt.Fprintf(&p.text, ".TH EDGEAGENT 1 %q \"edgeagent %s\" \"User Commands\"\n", p.date.Format(time.DateOnly), roff(p.version))
	p.text.WriteString(".SH NAME\nedgeagent \\- takes temperature readings from MQTT to InfluxDB\n")
	p.text.WriteString(".SH SYNOPSIS\n.B edgeagent\n.I command\n.RI [ flags ]\n")
	fmt.Fprintf(&p.text, ".SH DESCRIPTION\n%s\n", roff(app.Help))
	p.text.WriteString(".SH COMMANDS\n")
	for _, command := range app.Leaves(true) {
		p.command(command)
	}
	p.text.WriteString(manRest)
}

func (p *manPage) command(n *kong.Node) {
	fmt.Fprintf(&p.text, ".SS %s\n%s\n", roff("edgeagent "+n.Path()), roff(n.Help))
	p.text.WriteString(".P\n.B " + roff("edgeagent "+n.Summary()) + "\n")
	for _, arg := range n.Positional {
		fmt.Fprintf(&p.text, ".TP\n.I %s\n%s\n", roff(arg.Summary()), roff(arg.Help))
	}
	for _, flag := range n.Flags {
		if !flag.Hidden {
			fmt.Fprintf(&p.text, ".TP\n.B %s\n%s\n", roff(flag.String()), roff(flag.Help))
		}
	}
	if n.Detail != "" {
		p.text.WriteString(".P\n.nf\n" + roff(n.Detail) + "\n.fi\n")
	}
}

// roff escapes text so that it is printed as it is: backslashes, hyphens that must stay hyphens when copied, and what
// would be a request at the start of a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
