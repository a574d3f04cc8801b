package testbed

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel end the process when the test process is killed and no cleanup runs. The signal is tied
// to the thread that starts the process; Go keeps its threads, so that this is the process in practice.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
