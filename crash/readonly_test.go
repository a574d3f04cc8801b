package crash

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/buffer"
	"edgeagent/status"
	"edgeagent/testbed"
)

// TestUnusableFolder starts the agent on folders that it cannot use: exit code 1 at once, and a line that names the folder.
func TestUnusableFolder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(g *gateway)
		want string
	}{
		{"read-only", func(g *gateway) { g.mountable("-t", "tmpfs", "-o", "ro,size=8m", "tmpfs") }, "read-only"},
		{"full, without a store", func(g *gateway) { g.small(); g.fillUp(func() {}) }, "no space left"},
		{"a file", func(g *gateway) { writeFile(g.t, g.dir, "") }, "not a directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t, config{broker: "tcp://127.0.0.1:1", uplink: v1("http://127.0.0.1:1", "edge")})
			tt.make(g)
			g.start()
			code, ok := g.Wait(10 * time.Second)
			last := g.LogTail(1)
			if !ok || code != 1 || !strings.HasPrefix(last, "error: ") || !strings.Contains(last, g.dir) || !strings.Contains(last, tt.want) {
				t.Errorf("ended %v with code %d, %q; want 1 and a line with the folder and %q", ok, code, last, tt.want)
			}
		})
	}
}

// TestReadOnlyWhileRunning has the store's file refuse writes under the running agent, as a file system does that the kernel has made read-only: nothing is acknowledged, points go
// out once, and when it can be written again all goes on by itself.
func TestReadOnlyWhileRunning(t *testing.T) {
	t.Parallel()
	s := newStrait(t, "")
	image := filepath.Join(t.TempDir(), "image")
	if err := take(image, 32<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testbed.Need(t, "mkfs.ext4"), "-q", "-F", image).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v: %s", err, out)
	}
	s.mountable("-o", "loop", image)
	s.up()
	n := s.publish(0, 100)
	s.await(soon, "points to wait", func(r status.Report) bool { return r.Points.Queued >= 100 && r.MQTT.Unacked == 0 })
	immutable := func(flag string) {
		if out, err := exec.Command(testbed.Need(t, "chattr"), flag, buffer.Path(s.dir)).CombinedOutput(); err != nil {
			t.Errorf("chattr %s: %v: %s", flag, err, out)
		}
	}
	immutable("+i")
	t.Cleanup(func() { immutable("-i") })
	n += s.publish(100, 110)
	r := s.await(soon, "the file to refuse", func(r status.Report) bool { return r.Buffer.Error != "" && r.MQTT.Unacked > 0 })
	if !strings.Contains(r.Buffer.Error, "read-only") || r.Ledger.Windowed < n-100 {
		t.Errorf("the status says %q, ledger %+v", r.Buffer.Error, r.Ledger)
	}
	s.buffer("compact").wants(t, 1, "cannot be written now", "read-only")
	s.buffer("export", filepath.Join(t.TempDir(), "points.lp")).wants(t, 0, "lines written")
	s.link.Accept()
	testbed.WaitFor(t, soon, "the points that wait to arrive all the same", func() bool {
		return int64(len(s.server.Points("edge", "temperature"))) >= r.Points.Queued
	})
	immutable("-i")
	s.delivered(n)
}
