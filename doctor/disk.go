package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"edgeagent/status"
)

// leastFree is the room that commits need whatever the store's size.
const leastFree = 16 << 20

// probeBytes are written to find out whether the data folder can be written.
const probeBytes = 4096

// A disk is the file system of the data folder.
type disk struct {
	dir      string
	free     int64 // bytes for the agent; -1 if not known
	readOnly bool  // mounted so
	missing  bool  // the folder is not there yet
	err      error // of a file written there
}

// seeDisk looks at the file system of dir, or of the nearest folder above it that exists, and writes a small file unless the agent runs:
// what it writes is proof enough.
func seeDisk(dir string, running bool) disk {
	d := disk{dir: dir}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		d.missing = true
	}
	at := dir
	for {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	d.free, d.readOnly = room(at)
	if !running && !d.missing {
		d.err = tryWrite(dir)
	}
	return d
}

// tryWrite makes a file, has it written to the card, and removes it. Its name is one that a start of the agent removes should a power cut
// come between.
func tryWrite(dir string) error {
	f, err := os.CreateTemp(dir, "doctor.tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	return errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name()))
}

func judgeDisk(d disk, r running, o Options) Report {
	grow := int64(o.Config.Buffer.MaxSize)
	if r.cannot == nil {
		grow = max(0, r.store.MaxBytes-r.store.FileBytes)
	}
	const full = "make room: journalctl --vacuum-size=50M, apt-get clean; or lower buffer.max_size"
	switch {
	case errors.Is(d.err, syscall.ENOSPC), errors.Is(d.err, syscall.EDQUOT):
		return Report{fail("disk", full, "%s is full: %v", d.dir, d.err)}
	case d.readOnly, errors.Is(d.err, syscall.EROFS):
		return Report{fail("disk", "dmesg says why it was made read-only; mostly the card is at its end: replace it", "%s is on a read-only file system", d.dir)}
	case errors.Is(d.err, fs.ErrPermission):
		return Report{fail("disk", "run this as root or as the agent's user, who must own the folder", "%s cannot be written: %v", d.dir, d.err)}
	case d.err != nil:
		return Report{fail("disk", "dmesg says why", "%s cannot be written: %v", d.dir, d.err)}
	case d.free < 0:
		return Report{ok("disk", "%s can be written; how much is free is not known on this system", d.dir)}
	case d.free < leastFree:
		return Report{fail("disk", full, "%s has %s free", d.dir, status.Size(d.free))}
	case d.free < grow+leastFree:
		return Report{warn("disk", full, "%s has %s free, and the store may grow by %s", d.dir, status.Size(d.free), status.Size(grow))}
	}
	how := "can be written"
	if d.missing {
		how = "is made by the first start"
	} else if r.answers() {
		how = "is written by the agent"
	}
	return Report{ok("disk", "%s %s, %s free", d.dir, how, status.Size(d.free))}
}

// secondsOfDay turns a rate into one a day.
const secondsOfDay = 86400

// Bounds of wear, in bytes a day handed to the kernel: see docs/operations.md, Sizing the card.
const (
	wearMuch   = 5 << 30
	cardWrites = 30e12 // what a card is rated for
	amplified  = 4     // what it writes for each byte that it is handed
)

// leastUptime is how long the agent must have run for its writes to say something.
const leastUptime = 60

// judgeWear says how much is written a day, measured since the agent started.
func judgeWear(r running, o Options) Report {
	if !r.answers() || r.cannot != nil || r.report.UptimeS < leastUptime {
		return Report{ok("wear", "not measured yet: the agent must have run for a minute (commit_interval is %s)", o.Config.Buffer.CommitInterval)}
	}
	day := float64(r.store.Written) / float64(r.report.UptimeS) * secondsOfDay
	years := cardWrites / amplified / max(1, day) / 365
	text := fmt.Sprintf("%.2f GB a day written to the store, measured over %s; a card rated for 30 TB lasts about %s", day/1e9, span(uptime(r)), lasts(years))
	if day > wearMuch {
		return Report{warn("wear", "raise buffer.commit_interval to 30s, and at the broker max_inflight_messages to the messages of that time", "%s", text)}
	}
	return Report{ok("wear", "%s", text)}
}

func lasts(years float64) string {
	switch {
	case years > 50:
		return "50 years and more"
	case years < 2:
		return fmt.Sprintf("%.0f months", years*12)
	}
	return fmt.Sprintf("%.0f years", years)
}
