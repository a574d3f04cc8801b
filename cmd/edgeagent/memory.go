package main

import (
	"math"
	"os"
	"runtime/debug"
)

// limitMemory sets a soft limit on the memory of this process and reports it in bytes, 0 if there is none: the one that
// $GOMEMLIMIT asks for, which may be "off", or one that suits the machine. Near the limit the collector works harder, so
// that garbage does not have the kernel end the process on a small gateway.
func limitMemory() int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		if limit := machineMemory(); limit > 0 {
			debug.SetMemoryLimit(limit)
		}
	}
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}
