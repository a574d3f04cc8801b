//go:build unix

package main

import (
	"os"
	"syscall"
)

// reloadSignals have secrets read anew.
var reloadSignals = []os.Signal{syscall.SIGHUP}
