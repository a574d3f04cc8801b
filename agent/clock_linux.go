package agent

import "golang.org/x/sys/unix"

// synchronised asks the kernel whether something (NTP, PTP, a radio clock) disciplines its clock. Where the call does not
// exist or is not allowed nothing speaks against the clock. See adjtimex(2): the state TIME_ERROR is an unsynchronised
// clock, and so is the status flag STA_UNSYNC.
func synchronised() bool {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	return disciplined(state, t.Status, err)
}

// disciplined reads an answer of adjtimex.
func disciplined(state int, status int32, err error) bool {
	return err != nil || state != unix.TIME_ERROR && status&unix.STA_UNSYNC == 0
}
