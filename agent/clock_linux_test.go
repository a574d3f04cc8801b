package agent

import (
	"testing"

	"golang.org/x/sys/unix"
)

// What adjtimex says, and that nothing speaks against the clock where there is no adjtimex or a sandbox forbids it.
func TestDisciplined(t *testing.T) {
	for _, c := range []struct {
		name   string
		state  int
		status int32
		err    error
		want   bool
	}{
		{"synchronised", unix.TIME_OK, unix.STA_PLL, nil, true},
		{"a leap second is due", unix.TIME_INS, unix.STA_PLL | unix.STA_INS, nil, true},
		{"clock in error", unix.TIME_ERROR, unix.STA_PLL, nil, false},
		{"unsynchronised", unix.TIME_OK, unix.STA_UNSYNC, nil, false},
		{"as a Pi boots", unix.TIME_ERROR, unix.STA_UNSYNC, nil, false},
		{"no such call", 0, 0, unix.ENOSYS, true},
		{"not allowed", 0, unix.STA_UNSYNC, unix.EPERM, true},
	} {
		if got := disciplined(c.state, c.status, c.err); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
