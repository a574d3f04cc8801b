package doctor

import (
	"errors"
	"path/filepath"
	"time"

	"edgeagent/buffer"
	"edgeagent/reading"
	"edgeagent/status"
)

// oldest is the end of the oldest window that waits for a server; false if none does, or nothing is known of the store.
func (r running) oldest() (time.Time, bool) {
	if r.cannot != nil || r.store.Points.Queued == 0 || r.store.OldestEnd == reading.NoTime || r.store.OldestEnd == 0 {
		return time.Time{}, false
	}
	return time.Unix(0, r.store.OldestEnd), true
}

// seeAside lists damaged stores that were moved aside.
func seeAside(dir string) []string {
	files, _ := filepath.Glob(buffer.Path(dir) + ".damaged-*")
	return files
}

func judgeStore(r running, aside []string) Report {
	var out Report
	if len(aside) > 0 {
		out = append(out, warn("store", "a card that damages a store does it again: replace it; then delete these files", "%d damaged stores lie aside, the newest is %s", len(aside), filepath.Base(aside[len(aside)-1])))
	}
	if r.answers() && r.report.Buffer.Error != "" {
		return append(out, fail("store", "make room on the disk; if it is read-only, dmesg says why", "cannot be written: %s", r.report.Buffer.Error))
	}
	switch {
	case r.cannot == nil:
		return append(out, judgeSize(r)...)
	case errors.Is(r.err, status.ErrNotAllowed):
		return append(out, fail("store", "run this as root or as the agent's user", "not seen: the agent that has it open may not be asked"))
	case r.missing():
		return append(out, ok("store", "there is none yet; the first start makes it"))
	case r.hangs():
		return append(out, warn("store", "start the agent again, see its line above", "not seen: the agent that has it open does not answer"))
	case errors.Is(r.cannot, buffer.ErrLocked):
		return append(out, fail("store", "is a second edgeagent running on this folder? stop it", "%v", r.cannot))
	case errors.Is(r.cannot, buffer.ErrDamaged):
		return append(out, warn("store", "start the agent: it moves the file aside and goes on with all that can be read", "%v", r.cannot))
	case errors.Is(r.cannot, buffer.ErrNewerSchema):
		return append(out, fail("store", "install the newer version again; the file is left as it is", "%v", r.cannot))
	case errors.Is(r.cannot, buffer.ErrReadOnly):
		return append(out, fail("store", "run this as root or as the agent's user; or dmesg: a worn card turns read-only", "%v", r.cannot))
	}
	return append(out, fail("store", "edgeagent buffer check says more", "%v", r.cannot))
}

// judgeSize tells how full a sound store is.
func judgeSize(r running) Report {
	s := r.store
	var out Report
	if !s.Balanced {
		out = append(out, fail("store", "report this, with the file of edgeagent support", "the points in the store do not balance: a fault of the program"))
	}
	if s.Quarantined > 0 {
		out = append(out, warn("store", "a card at its end does this: think of replacing it", "%d damaged records are in quarantine", s.Quarantined))
	}
	share := 100 * float64(s.OutboxBytes) / float64(max(1, s.MaxBytes/4))
	if share > 75 {
		out = append(out, warn("store", "mend the link, raise buffer.max_size, or carry points out: edgeagent buffer export", "%d points wait and take %.0f %% of their room; the oldest are given up when it is full", s.Points.Queued, share))
	}
	if len(out) > 0 {
		return out
	}
	return Report{ok("store", "sound, %s of at most %s; %d points wait, %d parked", size(s.FileBytes), size(s.MaxBytes), s.Points.Queued, s.Points.Parked)}
}
