package crash

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"edgeagent/buffer"
	"edgeagent/status"
	"edgeagent/testbed"
)

// mountable makes the data folder of a gateway a file system of its own; only root can.
func (g *gateway) mountable(argv ...string) {
	g.t.Helper()
	if err := os.MkdirAll(g.dir, 0o750); err != nil {
		g.t.Fatal(err)
	}
	if out, err := exec.Command("mount", append(argv, g.dir)...).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			g.t.Fatalf("mount %v: %v: %s", argv, err, out)
		}
		g.t.Skipf("mount %v: %v: %s", argv, err, out)
	}
	g.t.Cleanup(func() {
		if out, err := exec.Command("umount", g.dir).CombinedOutput(); err != nil {
			g.t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// small is a file system of 8 MiB.
func (g *gateway) small() { g.mountable("-t", "tmpfs", "-o", "size=8m", "tmpfs") }

// fillUp takes the last byte of the gateway's file system, after between has had what 3 MiB of others' files leave; free gives these back.
func (g *gateway) fillUp(between func()) (free func()) {
	g.t.Helper()
	for i, most := range []int64{3 << 20, 1 << 40} {
		if i > 0 {
			between()
		}
		if err := take(filepath.Join(g.dir, []string{"large", "rest"}[i]), most); err != nil {
			g.t.Fatal(err)
		}
	}
	return func() {
		g.t.Helper()
		for _, name := range []string{"large", "rest"} {
			if err := os.Remove(filepath.Join(g.dir, name)); err != nil {
				g.t.Error(err)
			}
		}
	}
}

// take makes a file of most bytes, or as many as there is room for.
func take(name string, most int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.CopyN(f, zeros{}, most); !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// A strait is a gateway whose server is behind a proxy, and whose disk is small.
type strait struct {
	*gateway
	broker *testbed.Broker
	link   *testbed.TapProxy // to the server
	server *testbed.Influx
	pub    *publisher
}

// newStrait starts nothing but the servers; the link to InfluxDB is down.
func newStrait(t *testing.T, more string) *strait {
	t.Helper()
	s := &strait{broker: testbed.StartMosquitto(t, testbed.MosquittoOptions{MaxInflight: 20}), server: testbed.StartInfluxd(t, testbed.InfluxOptions{})}
	s.server.CreateDB("edge")
	s.link = testbed.StartTapProxy(t, s.server.Addr())
	s.link.Refuse()
	s.gateway = newGateway(t, config{broker: s.broker.URL(), uplink: v1("http://"+s.link.Addr(), "edge"), buffer: "commit_interval = \"100ms\"\n" + more})
	s.pub = newPublisher(t, s.broker.URL())
	return s
}

// publish sends readings of ten sensors, one a minute, from one minute to another.
func (s *strait) publish(from, to int) (n int64) {
	s.t.Helper()
	for minute := from; minute < to; minute++ {
		for i := range 10 {
			s.pub.send(fmt.Sprintf("sensors/s%d/temperature", i), good(minute, float64(20+i)))
			n++
		}
	}
	s.pub.flush()
	return n
}

// up starts the agent and waits until it is connected.
func (s *strait) up() {
	s.t.Helper()
	s.start()
	s.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
}

// delivered waits until n readings are windowed and acknowledged and all points are uploaded, and checks the books and the server.
func (s *strait) delivered(n int64) {
	s.t.Helper()
	r := s.await(inTheEnd, "full service", func(r status.Report) bool {
		return r.Ledger.Windowed == n && r.MQTT.Unacked == 0 && r.Points.Queued == 0 && r.Points.Finalized > 0 && r.Buffer.Error == ""
	})
	balanced(s.t, r)
	if r.Ledger.Received-r.Ledger.Duplicate != n || r.Points.Evicted > 0 || r.StoreResets > 0 {
		s.t.Errorf("ledger %+v, %d evicted, %d resets; want %d readings and neither", r.Ledger, r.Points.Evicted, r.StoreResets, n)
	}
	if got := len(s.server.Points("edge", "temperature")); int64(got) != r.Points.Finalized {
		s.t.Errorf("the server has %d points, want %d", got, r.Points.Finalized)
	}
	if n := strings.Count(s.Log(), "store: cannot write"); n < 1 || n > 2 {
		s.t.Errorf("%d warnings of a disk that refuses, want one a minute", n)
	}
	if starts := strings.Count(s.Log(), "edgeagent starts"); starts != 1 {
		s.t.Errorf("started %d times", starts)
	}
	s.stop()
	s.buffer("check").wants(s.t, 0, "sound\n")
}

// TestFullWhileRunning fills a disk of 8 MiB to the last byte under the running agent: readings stay at the broker, points go out and make room within the file, a compaction
// says that there is none for it, and when there is room again all goes on by itself.
func TestFullWhileRunning(t *testing.T) {
	t.Parallel()
	s := newStrait(t, "max_size = \"7MiB\"\n")
	s.small()
	s.up()
	n := s.publish(0, 100)
	s.await(soon, "points to wait", func(r status.Report) bool { return r.Points.Queued >= 100 && r.MQTT.Unacked == 0 })
	free := s.fillUp(func() {})
	s.buffer("compact").wants(t, 1, "error: the store ", "no space left") // for its content, or for a commit that is due before
	last := 100
	r := s.await(soon, "the disk to refuse", func(r status.Report) bool {
		if r.Buffer.Error == "" {
			n += s.publish(last, last+50)
			last += 50
		}
		return r.Buffer.Error != ""
	})
	if !strings.Contains(r.Buffer.Error, "no space left") {
		t.Errorf("the status says %q", r.Buffer.Error)
	}
	s.buffer("compact").wants(t, 1, "error: the store cannot be written now", "no space left")
	s.buffer("check").wants(t, 0, "sound, as of a commit")
	before := r.Points.Uploaded
	s.link.Accept()
	s.await(soon, "points to go out and make room", func(r status.Report) bool { return r.Points.Uploaded > before && r.Points.Queued == 0 })
	free()
	s.delivered(n)
}

// TestFullAtStart starts the agent on a disk of 8 MiB that its store, of a cap far above that, has filled beside others to the last byte.
func TestFullAtStart(t *testing.T) {
	t.Parallel()
	s := newStrait(t, "rejected_ring = \"16MiB\"\n")
	s.small()
	s.up()
	n := s.publish(0, 100)
	s.await(soon, "points to wait", func(r status.Report) bool { return r.Points.Queued >= 100 && r.MQTT.Unacked == 0 })
	s.kill()
	free := s.fillUp(func() { fillStore(t, s.dir) })
	writeFile(t, s.log, "") // of the start that matters
	s.start()
	s.await(soon, "the agent to answer", answers)
	n += s.publish(100, 150)
	s.link.Accept()
	s.await(soon, "points to go out", func(r status.Report) bool { return r.Points.Uploaded >= 100 })
	if _, answered := s.status(); !answered {
		t.Error("no answer")
	}
	free()
	s.delivered(n)
}

// fillStore commits rejected messages to a store until there is no room on its disk.
func fillStore(t *testing.T, dir string) {
	t.Helper()
	s, err := buffer.Open(buffer.Options{Dir: dir, RejectedRing: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = s.Commit(&buffer.Batch{Rejected: []buffer.Raw{{Topic: "ballast", Payload: make([]byte, 3000)}}})
	}
	if !errors.Is(err, buffer.ErrFull) {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
