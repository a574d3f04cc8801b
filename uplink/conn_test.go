package uplink

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// protocols runs f over HTTP/1.1 and over HTTP/2.
func protocols(t *testing.T, f func(*meshRun)) {
	t.Run("HTTP/1.1", func(t *testing.T) { inMesh(t, false, f) })
	t.Run("HTTP/2", func(t *testing.T) { inMesh(t, true, f) })
}

const twoTimeouts = 2 * 30 * time.Second

// The other end loses its power, or a proxy stops: the connection stays and nothing comes. The next one serves.
func TestHalfOpen(t *testing.T) {
	protocols(t, func(r *meshRun) {
		r.delivers(windows("a", 0, 10)...)
		for i := range 3 {
			r.mesh.freeze(false)
			if took := r.delivers(windows("b", 10*i, 10)...); took > twoTimeouts {
				r.t.Errorf("resumed after %v, want at most %v", took, twoTimeouts)
			}
		}
		big := windows("c", 0, 4000) // more than the system takes for a peer that does not read
		r.mesh.freeze(false)
		if took := r.delivers(big...); took > twoTimeouts/2+2*time.Second {
			r.t.Errorf("a large body: resumed after %v, want one time-out and one short wait", took)
		}
		check(r.t, r.central, r.memory, slices.Concat(windows("a", 0, 10), windows("b", 0, 30), big), nil)
		want := 1
		if r.cert != nil {
			want = 2
		}
		for _, q := range r.central.requests {
			if q.ProtoMajor != want {
				r.t.Errorf("came by %s", q.Proto)
			}
		}
	})
}

// Every connection hangs for an hour. Each attempt is given up in time, and when the link is back the next one serves.
func TestStalledForLong(t *testing.T) {
	protocols(t, func(r *meshRun) {
		r.delivers(windows("a", 0, 10)...)
		r.mesh.freeze(true)
		r.memory.add(windows("b", 0, 10)...)
		<-time.After(time.Hour)
		if s := r.uplink.Status(); s.State != "down" || !strings.Contains(s.LastError, "within 30s") {
			r.t.Errorf("status %+v", s)
		}
		if n := r.mesh.dialed(); n < 12 || n > 120 {
			r.t.Errorf("%d dials in an hour", n)
		}
		r.mesh.freeze(false)
		r.uplink.Reload()
		if took := r.delivers(); took > twoTimeouts {
			r.t.Errorf("resumed after %v, want at most %v", took, twoTimeouts)
		}
	})
}

// The server stops in order, which HTTP/2 tells by GOAWAY, and starts again at the same address.
func TestServerRestarts(t *testing.T) {
	protocols(t, func(r *meshRun) {
		r.delivers(windows("a", 0, 10)...)
		for i := range 3 {
			_ = r.server.Shutdown(context.Background())
			r.serve("192.0.2.1")
			if took := r.delivers(windows("b", 10*i, 10)...); took > 5*time.Second {
				r.t.Errorf("resumed after %v", took)
			}
		}
		if strings.Contains(r.log.String(), "uplink blocked") {
			r.t.Errorf("log:\n%s", r.log.String())
		}
	})
}

// The server says GOAWAY with a request in flight, which it still answers.
func TestGoAwayInFlight(t *testing.T) {
	protocols(t, func(r *meshRun) {
		arrived, release := make(chan struct{}), make(chan struct{})
		r.central.answer = func(n int, _ []string) reply {
			if n == 2 {
				close(arrived)
				<-release
			}
			return stored
		}
		r.delivers(windows("a", 0, 10)...)
		r.memory.add(windows("b", 0, 10)...)
		<-arrived
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = r.server.Shutdown(ctx)
		cancel()
		r.serve("192.0.2.1")
		close(release)
		if took := r.delivers(windows("c", 0, 10)...); took > 5*time.Second {
			r.t.Errorf("resumed after %v", took)
		}
	})
}

// The connection breaks in the middle of a request.
func TestServerDies(t *testing.T) {
	protocols(t, func(r *meshRun) {
		arrived := make(chan struct{})
		release := make(chan struct{})
		r.central.answer = func(n int, _ []string) reply {
			if n == 2 {
				close(arrived)
				<-release
			}
			return stored
		}
		r.delivers(windows("a", 0, 10)...)
		r.memory.add(windows("b", 0, 10)...)
		<-arrived
		_ = r.server.Close()
		close(release)
		r.serve("192.0.2.1")
		if took := r.delivers(); took > 5*time.Second {
			r.t.Errorf("resumed after %v", took)
		}
	})
}

// The name leads to a new address: at once when the old one is gone, and after one time-out when the old one hangs.
func TestAddressChanges(t *testing.T) {
	protocols(t, func(r *meshRun) {
		r.delivers(windows("a", 0, 10)...)
		old := r.server
		r.mesh.lead("192.0.2.2")
		r.serve("192.0.2.2")
		_ = old.Close()
		if took := r.delivers(windows("b", 0, 10)...); took > 5*time.Second {
			r.t.Errorf("the old one is gone: resumed after %v", took)
		}
		r.mesh.lead("192.0.2.3")
		r.serve("192.0.2.3")
		r.mesh.freeze(false)
		if took := r.delivers(windows("c", 0, 10)...); took > twoTimeouts {
			r.t.Errorf("the old one hangs: resumed after %v", took)
		}
	})
}

// The name cannot be resolved, then the server refuses connections, then it is there. The log says what was wrong.
func TestNameAndPortFail(t *testing.T) {
	protocols(t, func(r *meshRun) {
		r.mesh.lead("")
		r.memory.add(windows("a", 0, 10)...)
		<-time.After(20 * time.Minute)
		if s := r.uplink.Status(); !strings.Contains(s.LastError, "the name central cannot be resolved: no such host") {
			r.t.Errorf("status %+v", s)
		}
		r.mesh.lead("192.0.2.9")
		<-time.After(20 * time.Minute)
		if s := r.uplink.Status(); !strings.Contains(s.LastError, "connection refused") {
			r.t.Errorf("status %+v", s)
		}
		if n := strings.Count(r.log.String(), "\n"); n > 12 {
			r.t.Errorf("%d lines in 40 min:\n%s", n, r.log.String())
		}
		r.mesh.lead("192.0.2.1")
		if took := r.delivers(); took > 5*time.Minute {
			r.t.Errorf("resumed after %v, want at most retry_max", took)
		}
	})
}

// A server that takes the body a byte at a time, or answers slowly, holds up nothing but itself: the body is halved
// until it fits the time, and grows again when the link is well. Trial C4.
func TestSlowLinkRecovers(t *testing.T) {
	inMesh(t, false, func(r *meshRun) {
		var slow atomic.Bool
		slow.Store(true)
		r.central.answer = func(_ int, lines []string) reply {
			if slow.Load() && len(lines) > 180 { // 9 kB
				<-time.After(time.Minute)
			}
			return stored
		}
		lines := windows("s", 0, 2000) // 100 kB
		took := r.delivers(lines[:1000]...)
		if took > 5*time.Minute {
			r.t.Errorf("slow: %v", took)
		}
		slow.Store(false)
		before := r.central.count()
		if took := r.delivers(lines[1000:]...); took > time.Minute || r.central.count()-before > 8 {
			r.t.Errorf("well again: %v, %d requests", took, r.central.count()-before)
		}
		before = r.central.count()
		r.delivers(windows("t", 0, 1000)...)
		if n := r.central.count() - before; n != 1 {
			r.t.Errorf("%d requests for a batch, want 1", n)
		}
		check(r.t, r.central, r.memory, append(lines, windows("t", 0, 1000)...), nil)
	})
}
