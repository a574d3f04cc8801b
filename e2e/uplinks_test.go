package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"edgeagent/status"
	"edgeagent/testbed"
)

// several makes [[uplink]] tables, by name in front of each.
func (g *gateway) several() { g.reconfigure(`(?m)^\[uplink\]`, "[[uplink]]") }

// deliveredTo reports whether nothing is left to upload to an uplink.
func deliveredTo(name string) func(status.Report) bool {
	return func(r status.Report) bool {
		u, ok := r.Uplinks[name]
		return ok && r.MQTT.Unacked == 0 && u.Points.Queued == 0
	}
}

// balancedAll is balanced for every uplink.
func balancedAll(t *testing.T, r status.Report) {
	t.Helper()
	if len(r.Uplinks) == 0 {
		t.Error("no uplinks in the status")
	}
	for _, u := range r.Uplinks {
		r.Points = u.Points
		balanced(t, r)
	}
}

// TestTwoServers has a fleet publish to two real servers, of which the second is away for a while, the first for another, and the
// agent is killed in between: both end with the same points, and both books balance.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	rng := testbed.Random(t)
	b := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight})
	central, mirror := testbed.StartInfluxd(t, testbed.InfluxOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	central.CreateDB("edge")
	mirror.CreateDB("copy")
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: "name = \"central\"\norder = \"newest\"\nbatch_points = 40\n" + v1(central.URL(), "edge") +
		"[[uplink]]\nname = \"mirror\"\nbatch_points = 30\n" + v2(mirror.URL(), "copy")})
	w.several()
	w.start()
	awaitSubscription(t, b, "gw")
	f := startFleet(t, b.URL(), ordinary(rng), 750)
	mirror.Stop()
	w.killAtRandom(rng, 2*time.Second)
	central.Stop()
	mirror.Restart()
	w.killAtRandom(rng, 2*time.Second)
	central.Restart()
	want, ledger := expect(t, w.conf, f.recorded())
	here := arrived(ledger)
	r := w.await(inTheEnd, "all readings at both", func(r status.Report) bool {
		return here(r) && deliveredTo("central")(r) && deliveredTo("mirror")(r)
	})
	sameButRedelivered(t, r, ledger)
	balancedAll(t, r)
	samePoints(t, "central", held(central, "edge"), want)
	samePoints(t, "mirror", held(mirror, "copy"), want)
	w.stop()
	w.checkStore()
}

// TestDeadMirror has a second server that takes connections and never answers. The central one gets everything at once; when the dead one
// is taken out of the configuration nothing waits for it any more, and the central one gets nothing twice.
func TestDeadMirror(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	release := make(chan struct{})
	dead := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(dead.Close)
	t.Cleanup(func() { close(release) })
	single := "name = \"central\"\n" + v1(server.URL(), "edge")
	w := newGateway(t, native(t), config{broker: b.URL(), buffer: quick, uplink: "name = \"dead\"\ntimeout = \"2s\"\n" + v1(dead.URL, "edge") + "[[uplink]]\n" + single})
	w.several()
	w.start()
	awaitSubscription(t, b, "gw")
	newPublisher(t, b.URL()).publish(windowed(20)...)
	w.await(soon, "delivery to the one that lives", func(r status.Report) bool {
		return deliveredTo("central")(r) && r.Uplinks["central"].Points.Uploaded >= 20
	})
	r := w.await(soon, "a time-out at the other", func(r status.Report) bool { return r.Uplinks["dead"].Uplink.State == "down" })
	if d := r.Uplinks["dead"].Points; d.Uploaded != 0 || d.Queued < 20 || r.Points != d {
		t.Errorf("the dead one, which is the first: %+v; at the top %+v", d, r.Points)
	}
	balancedAll(t, r)
	samePoints(t, "server", held(server, "edge"), windows(20))
	w.stop()
	w.checkStore()

	w.reconfigure(`(?s)\[\[uplink\]\].*\[http\]`, "[uplink]\n"+single+"[http]")
	w.start()
	r = w.await(soon, "what is left", func(r status.Report) bool { return delivered(r) && r.Points.Uploaded >= 20 })
	balanced(t, r)
	if r.Points.Evicted != 0 || len(r.Uplinks) != 0 {
		t.Errorf("the central one alone: %+v, %d uplinks", r.Points, len(r.Uplinks))
	}
	if n := strings.Count(w.Log(), "an uplink is not configured any more"); n != 1 {
		t.Errorf("told %d times that the dead one is gone, want once:\n%s", n, w.Log())
	}
	w.stop()
	w.checkStore()
}

// A gate is a proxy in front of a server that notes the lines of each write that was taken, and answers 502 while it is shut.
type gate struct {
	*httptest.Server
	mu     sync.Mutex
	shut   bool
	writes [][]string
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g, forward := &gate{}, httputil.NewSingleHostReverseProxy(target)
	forward.ModifyResponse = func(res *http.Response) error {
		if res.StatusCode == http.StatusNoContent {
			g.note(res.Request)
		}
		return nil
	}
	g.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		shut := g.shut
		g.mu.Unlock()
		if shut {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		body, _ := io.ReadAll(r.Body)
		r.Body, r.GetBody = io.NopCloser(bytes.NewReader(body)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gate) note(r *http.Request) {
	body, err := r.GetBody()
	if err != nil {
		return
	}
	plain, err := gzip.NewReader(body)
	if err != nil {
		return
	}
	text, _ := io.ReadAll(plain)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes = append(g.writes, strings.Split(strings.TrimSpace(string(text)), "\n"))
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = shut
}

// TestNewestFirst cuts a real server off, has a hundred windows come meanwhile, and kills the agent. What the server gets first when it is there again is
// the newest windows, then the rest, oldest first, each once.
func TestNewestFirst(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.CreateDB("edge")
	g := newGate(t, server.URL())
	w := newGateway(t, native(t), config{broker: b.URL(), buffer: quick,
		uplink: v1(g.URL, "edge") + "order = \"newest\"\nbatch_points = 30\nhealth_interval = \"0s\"\n"})
	w.start()
	awaitSubscription(t, b, "gw")
	p, all := newPublisher(t, b.URL()), windowed(140)
	p.publish(all[:40]...)
	w.await(soon, "the first windows", func(r status.Report) bool { return delivered(r) && r.Points.Uploaded > 30 })
	g.set(true)
	p.publish(all[40:]...)
	w.await(soon, "an outage", func(r status.Report) bool {
		return r.Points.Queued > 90 && r.Points.Finalized == 140 && r.Uplink.State == "down"
	})
	w.Kill()
	before := len(g.writes) // nothing is under way
	g.set(false)
	w.start()
	w.await(soon, "delivery", func(r status.Report) bool { return delivered(r) && r.Points.Uploaded == 140 })
	samePoints(t, "server", held(server, "edge"), windows(140))
	w.stop()
	w.checkStore()
	seen := map[string]bool{}
	for _, l := range slices.Concat(g.writes...) {
		if seen[l] {
			t.Errorf("twice: %s", l)
		}
		seen[l] = true
	}
	var ends []string
	for _, lines := range g.writes[before:] {
		_, end, _ := strings.Cut(lines[len(lines)-1], " ")
		ends = append(ends, strings.Split(end, ",")[0])
	}
	if n := len(ends); n < 2 || ends[0] != "max=139.5" || ends[n-1] != "max=109.5" {
		t.Errorf("the writes after the outage end with %v; want the newest window first, and the newest of the backlog last", ends)
	}
}
