package demo

import (
	"fmt"
	"strings"
	"time"

	"edgeagent/configs"
)

// The rules of the demo's agent are the defaults.
const (
	windowSize = 5 * time.Minute
	delay      = 10 * time.Minute
)

// gateway is short so that an uploaded line fits into a terminal.
const gateway = "gw1"

// configText is the agent's configuration. What is marked makes the demo brisk, or keeps it to itself.
func (w *world) configText() string {
	return fmt.Sprintf(`[gateway]
id = %q
clock = "trusted"           # demo

[mqtt]
brokers = [%q]

[[source]]
topic = "sensors/{sensor}/temperature"
value = "temperature"
time = "ts"
time_format = "unix_ms"

[uplink]
url = %q
database = "demo"
retry_min = "200ms"         # demo
retry_max = "1s"            # demo
health_interval = "0s"      # demo

[watermark]
max_future = "0s"           # demo

[buffer]
dir = %q
commit_interval = "200ms"   # demo

[http]
listen = ""                 # demo
`, gateway, w.brokerURL, w.serverURL, w.dir)
}

// config is configText as the agent takes it.
func (w *world) config() (*configs.Config, error) {
	cfg, err := configs.Parse("demo.toml", []byte(w.configText()), nil)
	if err != nil {
		return nil, fmt.Errorf("BUG: the demo's configuration: %w", err)
	}
	return cfg, nil
}

// configLines are the lines to show.
func (w *world) configLines() []string {
	return strings.Split(strings.TrimSpace(w.configText()), "\n")
}
