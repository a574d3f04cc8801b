package crash

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/configs"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// A recording is a run of the agent with all that it did to its data folder and all that it sent.
type recording struct {
	t      *testing.T
	cfg    *configs.Config
	dir    string
	calls  []call
	sent   []sim.Record  // what it was sent, in order
	prefix []sim.Result  // by number of messages taken: what the agent must have made of them
	acks   []int         // when the nth acknowledgement may have been on the wire
	offers []offer       // by when
	evicts bool          // points may be missing
	size   time.Duration // of windows
}

// An offer is a point on its way to the server.
type offer struct {
	begin int
	line  sim.Line
}

// record runs an agent under strace while a fleet publishes n messages or so, with a time in between in which the server
// is away, and with its store compacted twice meanwhile. more are arguments of strace.
func record(t *testing.T, p sim.FleetParams, maxPoints string, more ...string) *recording {
	t.Helper()
	r := &recording{t: t, evicts: maxPoints != "", size: 5 * time.Minute}
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{MaxInflight: 20})
	tap := testbed.StartTapProxy(t, broker.Addr())
	receiver := sim.NewReceiver(sim.ReceiverOptions{})
	server := httptest.NewServer(receiver)
	t.Cleanup(server.Close)
	g := newGateway(t, config{broker: tap.URL(), buffer: "commit_interval = \"30ms\"\n" + maxPoints,
		uplink: v1(server.URL, "edge") + "gzip = false\nbatch_points = 7\n"})
	r.dir = g.dir
	trace := filepath.Join(t.TempDir(), "trace")
	g.tracer = strace(t, trace, more...)
	g.start()
	g.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
	testbed.WaitFor(t, soon, "the subscription", func() bool { return subscribed(tap) })
	want := r.publish(g, broker.URL(), receiver, p)
	g.await(inTheEnd, "everything to be taken and uploaded", func(r status.Report) bool {
		return r.Ledger.Received == want && r.MQTT.Unacked == 0 && r.Points.Queued == 0
	})
	g.stop()
	var err error
	if r.cfg, err = configs.Load(g.conf); err != nil {
		t.Fatal(err)
	}
	r.calls = readTrace(t, trace)
	r.follow(tap, server.Listener.Addr().String())
	return r
}

// subscribed reports whether the broker has answered a SUBSCRIBE.
func subscribed(tap *testbed.TapProxy) bool { return subscriptions(tap) > 0 }

// subscriptions is how many SUBSCRIBE packets the broker has answered.
func subscriptions(tap *testbed.TapProxy) int {
	const suback = 9
	n := 0
	for _, p := range testbed.Packets(tap.Chunks()) {
		if p.Type == suback {
			n++
		}
	}
	return n
}

// publish publishes a fleet in three parts, the server being away during the second, with a compaction in the second and third, and reports
// how many messages there were.
func (r *recording) publish(g *gateway, broker string, receiver *sim.Receiver, p sim.FleetParams) int64 {
	r.t.Helper()
	speed, sum := 1000.0, int64(0) // slow enough for hundreds of commits
	if long() {
		speed = 150
	}
	for i, down := range []bool{false, true, false} {
		receiver.SetDown(down)
		p.Seed += uint64(i)
		compacted := make(<-chan said)
		if i > 0 {
			compacted = g.begin("compact")
		}
		s, err := sim.Simulate(r.t.Context(), sim.SimulateOptions{Broker: broker, Fleet: p, Speed: speed})
		if err != nil || s.Resent+s.Unknown > 0 {
			r.t.Fatalf("fleet: %+v, %v", s, err)
		}
		if i > 0 {
			(<-compacted).wants(r.t, 0, "KiB before, ")
		}
		sum += s.Sent
		p.Start += int64(p.For)
	}
	return sum
}

// follow finds in the calls what was acknowledged and offered, and lets the oracle say what of every number of messages
// must be.
func (r *recording) follow(tap *testbed.TapProxy, server string) {
	r.t.Helper()
	for _, c := range wireOf(r.t, tap) {
		for _, m := range c.messages {
			if m.dup {
				r.t.Fatalf("message %d came again; the recording needs an undisturbed connection", m.id)
			}
			r.sent = append(r.sent, m.rec)
		}
	}
	run := sim.NewRun(sim.Params{Size: r.size, Delay: 10 * time.Minute})
	r.prefix = append(r.prefix, run.Result())
	for _, item := range sim.Items(r.sent, false) {
		run.Take(item)
		r.prefix = append(r.prefix, run.Result())
	}
	acks, body := []byte(nil), []byte(nil)
	for i := range r.calls {
		c := &r.calls[i]
		if c.name != "write" && c.name != "sendto" && c.name != "writev" {
			continue
		}
		switch to := c.path; {
		case strings.HasSuffix(to, "->"+tap.Addr()+"]"):
			acks = r.acknowledged(c, append(acks, c.data...))
		case strings.HasSuffix(to, "->"+server+"]"):
			body = r.offered(c, append(body, c.data...))
		}
	}
	if len(r.acks) != len(r.sent) || len(r.offers) == 0 {
		r.t.Fatalf("%d messages, %d acknowledged, %d points offered in the trace", len(r.sent), len(r.acks), len(r.offers))
	}
}

// acknowledged takes the whole packets off what was written to the broker.
func (r *recording) acknowledged(c *call, data []byte) []byte {
	for len(data) >= 2 {
		n, shift, i := 0, 0, 1
		for ; i < len(data); i++ {
			n |= int(data[i]&0x7f) << shift
			shift += 7
			if data[i] < 0x80 {
				break
			}
		}
		if len(data) < i+1+n {
			break
		}
		if data[0]>>4 == puback {
			r.acks = append(r.acks, c.begin)
		}
		data = data[i+1+n:]
	}
	return data
}

// offered takes the whole lines off what was written to the server.
func (r *recording) offered(c *call, data []byte) []byte {
	for {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return data
		}
		if bytes.HasPrefix(line, []byte("temperature,")) || bytes.HasPrefix(line, []byte("late_")) {
			lines, err := sim.ParseLines(line)
			if err != nil {
				r.t.Fatal(err)
			}
			r.offers = append(r.offers, offer{c.begin, lines[0]})
		}
		data = rest
	}
}
