package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// Set by the build: -ldflags "-X main.version=… -X main.buildDate=…".
var (
	version   = ""
	buildDate = "" // of the commit, RFC 3339
)

// sourceDate stands in for the commit's date in a build that was told none: no clock is right that is before it.
const sourceDate = "2026-11-29T00:00:00Z"

// built is the version and date of this binary: as the build told them, else as the toolchain recorded them.
func built() (string, time.Time) {
	v, d := version, buildDate
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.time" && d == "" {
				d = s.Value
			}
			if s.Key == "vcs.revision" && v == "" {
				v = s.Value[:min(12, len(s.Value))]
			}
		}
	}
	if v == "" {
		v = "dev"
	}
	for _, text := range []string{d, sourceDate} {
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return v, t.UTC()
		}
	}
	return v, time.Time{}
}

type versionCmd struct{}

func (versionCmd) Help() string { return "Example: edgeagent version" }

func (versionCmd) Run(s streams) error {
	v, date := built()
	_, err := fmt.Fprintf(s.out, "edgeagent %s (%s, %s %s/%s)\n", v, date.Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
