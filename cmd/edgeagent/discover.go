package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"edgeagent/configs"
	"edgeagent/discover"
	"edgeagent/mqtt"
)

type discoverCmd struct {
	Config string        `short:"c" name:"config" placeholder:"FILE" help:"Configuration whose broker is asked, and whose other sections are kept."`
	Broker string        `placeholder:"URL" help:"Broker, such as tcp://192.168.1.2:1883, in place of that of the configuration."`
	Listen time.Duration `placeholder:"D" default:"60s" help:"How long to listen (default ${default}). Devices that send less often are not seen."`
	Filter []string      `placeholder:"F" default:"#" help:"Topic filters to listen on (default ${default})."`
}

func (c discoverCmd) Help() string {
	return `Listens at the broker, in a session of its own that leaves the agent's alone, guesses for every topic which source would
read it, and prints a configuration to start from: check it, look the sources over, and give what a guess cannot know.

Example: edgeagent discover --broker tcp://127.0.0.1:1883 --listen 2m > edgeagent.toml`
}

func (c discoverCmd) Run(ctx context.Context, s streams) error {
	cfg, given, err := c.load()
	if err != nil {
		return err
	}
	if c.Listen <= 0 {
		return usageError{errors.New("--listen takes a time above 0, such as 60s")}
	}
	fmt.Fprintf(s.err, "listening for %v …\n", c.Listen)
	survey := discover.NewSurvey()
	if err := listenFor(ctx, c.Listen, cfg.MQTT, c.Filter, s.err, func(d mqtt.Delivery) { survey.Add(messageOf(d)) }); err != nil {
		return err
	}
	groups, strangers := survey.Groups()
	if _, err := io.WriteString(s.out, report(survey, groups, strangers)); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if len(groups) == 0 {
		fmt.Fprintln(s.err, "no topic was recognised: the source printed is an example only")
	}
	return printConfig(s.out, cfg, given, groups)
}

// load is the configuration that names the broker, and whether it is of a file.
func (c discoverCmd) load() (cfg *configs.Config, given bool, err error) {
	path := cmp.Or(c.Config, os.Getenv("EDGEAGENT_CONFIG"))
	if path == "" && c.Broker == "" {
		path = defaultConfig
	}
	cfg = configs.Default()
	if path != "" {
		if cfg, err = loadWithoutSources(path); err != nil {
			return nil, false, fmt.Errorf("%w; or name the broker with --broker tcp://HOST:1883", err)
		}
	}
	if c.Broker != "" {
		url, err := brokerOf(c.Broker)
		if err != nil {
			return nil, false, err
		}
		cfg.MQTT.Brokers = []string{url}
	}
	cfg.MQTT.ClientID = cmp.Or(cfg.MQTT.ClientID, "edgeagent")
	return cfg, path != "", nil
}

// loadWithoutSources loads a configuration that may lack sources still: to find them is what this is for.
func loadWithoutSources(path string) (*configs.Config, error) {
	cfg, err := configs.Load(path)
	var bad *configs.Error
	if !errors.As(err, &bad) || !slices.ContainsFunc(bad.Faults, func(f configs.Fault) bool { return f.Key == "source" }) {
		return cfg, err
	}
	text, readErr := os.ReadFile(path)
	if readErr != nil {
		return nil, err
	}
	return configs.Parse(path, append(text, "\n"+exampleSource...), os.LookupEnv)
}

// report lists what was seen, as comments.
func report(survey *discover.Survey, groups []discover.Group, strangers []discover.Stranger) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Made by edgeagent discover from %d messages. Look the sources over before this is used.\n", survey.Messages)
	if survey.Untold > 0 {
		fmt.Fprintf(&b, "# There are more topics than were looked at: %d messages came on others. Narrow it with --filter.\n", survey.Untold)
	}
	b.WriteString("#\n")
	b.WriteString(discover.Comment(strangers))
	return b.String() + "\n"
}

// printConfig writes a configuration with the sources found: the whole of a given one, else the least.
func printConfig(w io.Writer, cfg *configs.Config, given bool, groups []discover.Group) error {
	sources := exampleSource
	if len(groups) > 0 {
		var b strings.Builder
		for i := range groups {
			b.WriteString(groups[i].Comment() + configs.SourceText(groups[i].Rule) + "\n")
		}
		sources = b.String()
	}
	if given {
		return cfg.RenderWith(w, sources)
	}
	_, err := fmt.Fprintf(w, leastConfig, gatewayName(), configs.ListText(cfg.MQTT.Brokers), sources)
	return err
}

// gatewayName is the host's name where that will do as an id.
func gatewayName() string {
	host, err := os.Hostname()
	if err != nil || configs.BadGatewayID(host) != "" {
		return "change-me"
	}
	return host
}

// defaultConfig is where the configuration is unless -c or $EDGEAGENT_CONFIG says otherwise.
const defaultConfig = "/etc/edgeagent/edgeagent.toml"

const exampleSource = `# An example: nothing was recognised.
[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"

`

const leastConfig = `[gateway]
id = %q # one of its own for each gateway

[mqtt]
brokers = %s

%s[uplink]
url = "http://127.0.0.1:8086" # the central InfluxDB
database = "sensors"
`
