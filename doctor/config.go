package doctor

import (
	"errors"
	"strings"

	"edgeagent/configs"
)

// Faults are the lines for a configuration that cannot be used, one for each fault, with its line number. Nothing else can be looked at
// then.
func Faults(file string, err error) Report {
	var bad *configs.Error
	if !errors.As(err, &bad) {
		return Report{fail("config", "mend it; edgeagent check says the same", "%s: %v", file, err)}
	}
	var r Report
	for _, f := range strings.Split(bad.Error(), "\n") {
		r = append(r, fail("config", "", "%s", f))
	}
	r[len(r)-1].Next = "mend all of these, then run this again; nothing else was looked at"
	return r
}

func judgeConfig(o Options) Report {
	var r Report
	for _, w := range append(o.Config.Warnings(), o.Warnings...) {
		r = append(r, warn("config", "", "%s", w))
	}
	if len(r) == 0 {
		r = append(r, ok("config", "%s is right", o.File))
	} else {
		r[len(r)-1].Next = "docs/configuration.md says what each key does"
	}
	return append(r, ok("gateway", "%s, client id %s", o.Config.Gateway.ID, o.Config.MQTT.ClientID))
}
