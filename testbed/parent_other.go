//go:build !linux

package testbed

import "os/exec"

// dieWithParent does nothing here: only Linux can tie a process to its parent.
func dieWithParent(*exec.Cmd) {}
