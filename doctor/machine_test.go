package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"edgeagent/agent"
	"edgeagent/buffer"
	"edgeagent/configs"
	"edgeagent/status"
)

func TestJudgeStore(t *testing.T) {
	none := fmt.Errorf("%w: no socket", status.ErrNoAgent)
	sound := agent.StoreStats{Stats: buffer.Stats{FileBytes: 4 << 20, MaxBytes: 256 << 20}, Points: buffer.PointCounts{Queued: 7, Parked: 1}, Balanced: true}
	for _, c := range []struct {
		name string
		r    running
		want string
	}{
		{"sound", running{store: sound}, "OK store: sound, 4.0 MiB of at most 256.0 MiB; 7 points wait, 1 parked"},
		{"none yet", running{err: none, cannot: fmt.Errorf("open: %w", fs.ErrNotExist)}, "OK store: there is none yet"},
		{"locked", running{err: none, cannot: fmt.Errorf("open: %w", buffer.ErrLocked)}, "FAIL store: open: store is in use by another process"},
		{"damaged", running{err: none, cannot: fmt.Errorf("open: %w", buffer.ErrDamaged)}, "WARN store: open: damaged"},
		{"newer", running{err: none, cannot: fmt.Errorf("open: %w", buffer.ErrNewerSchema)}, "FAIL store: open: store was made by a newer version"},
		{"read-only", running{err: none, cannot: fmt.Errorf("open: %w", buffer.ErrReadOnly)}, "FAIL store: open: store is read-only"},
		{"another user", running{err: status.ErrNotAllowed, cannot: status.ErrNotAllowed}, "FAIL store: not seen"},
		{"hangs", running{err: errors.New("no answer within 10s"), cannot: fmt.Errorf("open: %w", buffer.ErrLocked)}, "WARN store: not seen: the agent that has it open does not answer"},
		{"full disk", running{store: sound, report: status.Report{Buffer: status.Buffer{Error: "no space left"}}}, "FAIL store: cannot be written: no space left"},
		{"nearly full", running{store: agent.StoreStats{Stats: buffer.Stats{OutboxBytes: 50 << 20, MaxBytes: 256 << 20}, Balanced: true}}, "WARN store: …78 % of their room"},
		{"quarantine", running{store: agent.StoreStats{Stats: buffer.Stats{Quarantined: 2, MaxBytes: 256 << 20}, Balanced: true}}, "WARN store: 2 damaged records"},
		{"books", running{store: agent.StoreStats{Stats: buffer.Stats{MaxBytes: 256 << 20}}}, "FAIL store: the points in the store do not balance"},
	} {
		expect(t, c.name, judgeStore(c.r, nil), c.want)
	}
	expect(t, "aside", judgeStore(running{store: sound}, []string{"/d/edgeagent.db.damaged-1", "/d/edgeagent.db.damaged-2"}),
		"WARN store: 2 damaged stores lie aside, the newest is edgeagent.db.damaged-2", "OK store")
}

func TestJudgeDisk(t *testing.T) {
	o := Options{Config: config(t, "")}
	stopped := running{err: status.ErrNoAgent, cannot: fs.ErrNotExist}
	grown := running{store: agent.StoreStats{Stats: buffer.Stats{FileBytes: 250 << 20, MaxBytes: 256 << 20}}}
	for _, c := range []struct {
		name string
		d    disk
		r    running
		want string
	}{
		{"room", disk{dir: "/d", free: 1 << 30}, stopped, "OK disk: /d can be written, 1.0 GiB free"},
		{"agent", disk{dir: "/d", free: 1 << 30}, running{}, "OK disk: /d is written by the agent"},
		{"first start", disk{dir: "/d", free: 1 << 30, missing: true}, stopped, "OK disk: /d is made by the first start"},
		{"little", disk{dir: "/d", free: 100 << 20}, stopped, "WARN disk: /d has 100.0 MiB free, and the store may grow by 256.0 MiB"},
		{"little, but grown", disk{dir: "/d", free: 100 << 20}, grown, "OK disk: "},
		{"none", disk{dir: "/d", free: 1 << 20}, grown, "FAIL disk: /d has 1.0 MiB free"},
		{"full", disk{dir: "/d", err: syscall.ENOSPC}, stopped, "FAIL disk: /d is full"},
		{"read-only", disk{dir: "/d", free: 1 << 30, readOnly: true}, stopped, "FAIL disk: /d is on a read-only file system"},
		{"read-only on writing", disk{dir: "/d", free: 1 << 30, err: syscall.EROFS}, stopped, "FAIL disk: /d is on a read-only file system"},
		{"not ours", disk{dir: "/d", free: 1 << 30, err: syscall.EACCES}, stopped, "FAIL disk: /d cannot be written: permission denied"},
		{"worn", disk{dir: "/d", free: 1 << 30, err: syscall.EIO}, stopped, "FAIL disk: /d cannot be written: input/output error"},
		{"another system", disk{dir: "/d", free: -1}, stopped, "OK disk: /d can be written; how much is free"},
	} {
		expect(t, c.name, judgeDisk(c.d, c.r, o), c.want)
	}
}

func TestJudgeWear(t *testing.T) {
	o := Options{Config: config(t, "")}
	after := func(seconds, written int64) running {
		return running{report: status.Report{UptimeS: seconds}, store: agent.StoreStats{Stats: buffer.Stats{Written: written}}}
	}
	expect(t, "stopped", judgeWear(running{err: status.ErrNoAgent}, o), "OK wear: not measured yet")
	expect(t, "just started", judgeWear(after(59, 1e9), o), "OK wear: not measured yet")
	expect(t, "little", judgeWear(after(3600, 30e6), o), "OK wear: 0.72 GB a day written to the store, measured over 1 h 0 min; a card rated for 30 TB lasts about 29 years")
	expect(t, "much", judgeWear(after(3600, 625e6), o), "WARN wear: 15.00 GB a day …lasts about 16 months")
	expect(t, "nothing", judgeWear(after(3600, 0), o), "OK wear: …50 years and more")
}

func TestJudgeSecrets(t *testing.T) {
	good := secret{key: "uplink.token_file", path: "/t", mode: 0o600}
	expect(t, "none", judgeSecrets(nil))
	expect(t, "good", judgeSecrets([]secret{good, {key: "k", mode: 0o640}}), "OK secrets: 2 files")
	expect(t, "bad", judgeSecrets([]secret{good, {key: "a", path: "/a", mode: 0o644}, {key: "b", path: "/b", mode: 0o660}, {key: "c", path: "/c", err: fs.ErrNotExist}, {key: "d", path: "/d", mode: 0o600, empty: true}, {key: "e", err: fs.ErrPermission}}),
		"WARN secrets: a: others may read or change /a (0644)", "WARN secrets: b: others", "FAIL secrets: c: /c is not there", "FAIL secrets: d: /d is empty", "FAIL secrets: e: permission denied")
}

func TestJudgeHTTP(t *testing.T) {
	for _, c := range []struct {
		p    page
		want string
	}{
		{page{}, "OK http: off"},
		{page{http: configs.HTTP{Listen: "127.0.0.1:1"}}, "OK http: 127.0.0.1:1, for this machine only"},
		{page{http: configs.HTTP{Listen: "[::1]:1"}}, "OK http: [::1]:1, for this machine only"},
		{page{http: configs.HTTP{Listen: "0.0.0.0:1", PublicStatus: true}}, "WARN http: 0.0.0.0:1: everybody"},
		{page{http: configs.HTTP{Listen: ":1", TokenFile: "t"}}, "OK http: :1, with a token"},
		{page{http: configs.HTTP{Listen: "127.0.0.1:1"}, taken: errors.New("address in use")}, "FAIL http: the page is not served: address in use"},
	} {
		expect(t, c.want, judgeHTTP(c.p), c.want)
	}
}
