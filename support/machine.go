package support

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"edgeagent/logs"
)

// told are files in which a Linux machine tells about itself, and how many lines of each are of use.
var told = []struct {
	path  string
	lines int
}{
	{"/proc/device-tree/model", 1},
	{"/etc/os-release", 2},
	{"/proc/version", 1},
	{"/proc/uptime", 1},
	{"/proc/loadavg", 1},
	{"/proc/meminfo", 3},
}

func writeMachine(_ context.Context, w io.Writer, o Options) error {
	host, _ := os.Hostname()
	fmt.Fprintf(w, "host %s, %s/%s, %d processors, user %d\n", logs.Clean(host, 100), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), os.Geteuid())
	for _, f := range told {
		text, err := os.ReadFile(f.path)
		if err != nil {
			continue
		}
		lines := strings.SplitN(strings.TrimRight(string(text), "\n\x00"), "\n", f.lines+1)
		fmt.Fprintf(w, "%s:\n", f.path)
		for _, line := range lines[:min(len(lines), f.lines)] {
			fmt.Fprintf(w, "  %s\n", logs.Clean(line, 200))
		}
	}
	return nil
}
