package crash

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
	"edgeagent/window"
)

// A gauge samples the memory of a process while a test goes on.
type gauge struct {
	samples []int64 // anonymous memory in bytes: what cannot be given back when memory runs short
	whole   int64   // largest resident size, pages of files included
	quit    chan struct{}
	done    chan struct{}
}

func startGauge(pid int) *gauge {
	g := &gauge{quit: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(g.done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				anon, whole := residentOf(pid)
				g.samples = append(g.samples, anon)
				g.whole = max(g.whole, whole)
			case <-g.quit:
				return
			}
		}
	}()
	return g
}

// stop ends the sampling and gives the peaks of its first half and of its second.
func (g *gauge) stop() (first, second int64) {
	close(g.quit)
	<-g.done
	half := len(g.samples) / 2
	return slices.Max(g.samples[:half]), slices.Max(g.samples[half:])
}

const mib = 1 << 20

// TestMemory runs the agent on little memory, with 500 sensors at 100 readings a second of their time, while the server
// is away and the link to the broker comes and goes. Then 100,000 sensors that nobody knows come by, and at last the
// agent is killed as the kernel does when memory runs out.
func TestMemory(t *testing.T) {
	t.Parallel()
	rng := testbed.Random(t)
	length, strangers := 10*time.Minute, 10000
	if long() {
		length, strangers = 6*time.Hour, 100000
	}
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{MaxInflight: 20})
	tap := testbed.StartTapProxy(t, broker.Addr())
	nobody := fmt.Sprintf("http://127.0.0.1:%d", testbed.FreePort(t))
	g := newGateway(t, config{broker: tap.URL(), uplink: v1(nobody, "edge"), buffer: "commit_interval = \"1s\"\nmax_sensors = 500\n"})
	group := newMemoryGroup(t, 64*mib)
	if group != nil {
		g.launcher = group.launcher // the agent finds the limit by itself
	} else {
		g.env = []string{"GOMEMLIMIT=48MiB"}
	}
	g.start()
	g.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
	testbed.WaitFor(t, soon, "the subscription", func() bool { return subscribed(tap) })
	memory := startGauge(g.Pid())

	// All 500 are known before strangers come: the fleet's first minutes have them all.
	p := sim.FleetParams{Sensors: 500, Rate: 100, For: length, Start: fleetStart.UnixNano(), Seed: rng.Uint64()}
	sent := flapWhile(t, tap, func() int64 { return simulate(t, broker.URL(), p) })
	known := g.await(inTheEnd, "the fleet's readings", func(r status.Report) bool {
		return r.Ledger.Windowed == sent && r.MQTT.Unacked == 0 && r.MQTT.Connected
	})
	first, second := memory.stop()
	memory = startGauge(g.Pid())
	p2 := sim.FleetParams{Sensors: 500, Rate: 100, For: time.Minute, Start: fleetStart.Add(length).UnixNano(), Seed: rng.Uint64()}
	publishStrangers(t, broker.URL(), strangers, fleetStart.Add(length))
	sent += simulate(t, broker.URL(), p2)
	r := g.await(inTheEnd, "the readings after the strangers", func(r status.Report) bool {
		return r.Ledger.Windowed == sent && r.MQTT.Unacked == 0 && r.Ledger.Rejected["sensors"] >= int64(strangers)
	})
	third, fourth := memory.stop()
	third = max(third, fourth)
	t.Logf("%d readings, %d strangers, %d connections: peak of anonymous memory %d KiB, then %d KiB, with the strangers %d KiB; %d KiB with pages of files; %d points wait",
		sent, strangers, tap.Conns(), first>>10, second>>10, third>>10, memory.whole>>10, r.Points.Queued)
	if r.Ledger.Rejected["sensors"] != int64(strangers) || r.Sensors != 500 || r.Ledger.Late != known.Ledger.Late || r.Points.Evicted > 0 {
		t.Errorf("ledger %+v, %d sensors, %d evicted; want %d windowed, %d rejected as sensors", r.Ledger, r.Sensors, r.Points.Evicted, sent, strangers)
	}
	if group != nil {
		t.Logf("in a control group of 64 MiB: peak %d KiB with pages of files", group.number(group.peak, "")>>10)
		if n := group.number(group.events, "oom_kill"); n > 0 {
			t.Errorf("the kernel has ended %d processes for want of memory", n)
		}
	}
	if most := max(first, second, third); !raced && most > 64*mib {
		t.Errorf("%d KiB of memory, want at most 64 MiB", most>>10)
	}
	if long() && !raced && float64(second) > 1.25*float64(first) {
		t.Errorf("memory grows from %d KiB to %d KiB", first>>10, second>>10)
	}
	if group != nil {
		group.starve(t, g)
	} else {
		g.kill()
	}
	g.start()
	after := g.await(soon, "the agent to answer", answers)
	if after.Ledger.Windowed != sent || after.Points.Queued != r.Points.Queued {
		t.Errorf("after a kill: %d windowed, %d queued; want %d, %d", after.Ledger.Windowed, after.Points.Queued, sent, r.Points.Queued)
	}
	balanced(t, after)
	g.stop()
}

// TestMemoryBound gives the agent so little memory that it may not remember all readings: those that are too many are
// refused and counted, and when event time has moved on there is room again.
func TestMemoryBound(t *testing.T) {
	t.Parallel()
	const most = 4 * mib / 2 / 32 // half of the limit, at 32 bytes a reading; with less the collector would do nothing but collect
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	tap := testbed.StartTapProxy(t, broker.Addr())
	g := newGateway(t, config{broker: tap.URL(), uplink: v1("http://127.0.0.1:1", "edge")})
	g.env = []string{"GOMEMLIMIT=4MiB"}
	g.start()
	g.awaitSubscription(tap, 1)
	p := sim.FleetParams{Sensors: 100, Rate: 750, For: 100 * time.Second, Start: fleetStart.UnixNano()}
	sent := simulate(t, broker.URL(), p)
	r := g.await(inTheEnd, "all readings", func(r status.Report) bool { return r.Ledger.Received == sent && r.MQTT.Unacked == 0 })
	if r.Ledger.Windowed != most || r.Ledger.Rejected["overflow"] != sent-most {
		t.Errorf("ledger %+v, want %d windowed and the rest of %d refused as overflow", r.Ledger, most, sent)
	}
	pub := newPublisher(t, broker.URL())
	pub.send("sensors/s000/temperature", good(60, 20)) // refused, but it moves event time
	pub.send("sensors/s001/temperature", good(61, 20))
	pub.flush()
	r = g.await(soon, "room again", func(r status.Report) bool { return r.Ledger.Received == sent+2 && r.MQTT.Unacked == 0 })
	if r.Ledger.Windowed != most+1 || r.Ledger.Rejected["overflow"] != sent-most+1 || r.Points.Finalized == 0 {
		t.Errorf("an hour later: ledger %+v, %d points; want one more windowed and one more refused", r.Ledger, r.Points.Finalized)
	}
	balanced(t, r)
	g.stop()
}

// simulate publishes a fleet as fast as the broker takes it, and reports how many messages.
func simulate(t *testing.T, broker string, p sim.FleetParams) int64 {
	t.Helper()
	sum, err := sim.Simulate(t.Context(), sim.SimulateOptions{Broker: broker, Fleet: p, InFlight: 500})
	if err != nil || sum.Resent+sum.Unknown > 0 {
		t.Errorf("fleet: %+v, %v", sum, err)
	}
	return sum.Sent
}

// flapEvery is a minute of the fleet's time, when it publishes as fast as it can, and time enough to connect again.
const flapEvery = 3 * time.Second

// flapWhile cuts the connection now and then until fn returns.
func flapWhile(t *testing.T, tap *testbed.TapProxy, fn func() int64) int64 {
	t.Helper()
	done := make(chan int64, 1)
	go func() { done <- fn() }()
	tick := time.NewTicker(flapEvery)
	defer tick.Stop()
	for {
		select {
		case n := <-done:
			return n
		case <-tick.C:
			tap.Cut()
		}
	}
}

// publishStrangers publishes one reading of each of n sensors that nobody has heard of.
func publishStrangers(t *testing.T, broker string, n int, at time.Time) {
	t.Helper()
	p := newPublisher(t, broker)
	for i := range n {
		p.send(fmt.Sprintf("sensors/stranger-%08x/temperature", uint32(i)*2654435761), fmt.Sprintf(`{"ts": %d, "temperature": 21}`, at.UnixMilli()))
	}
	p.flush()
}

// TestBytesPerReading measures what a remembered reading costs, by which the bound of remembered readings is set.
func TestBytesPerReading(t *testing.T) {
	const readings, sensors = 1_000_000, 500
	size := int64(5 * time.Minute)
	before := heap()
	set := window.NewSet(window.Spec{Size: size, Keep: 2 * size})
	series := make([]reading.Series, sensors)
	for i := range series {
		series[i] = reading.MakeSeries(fmt.Sprintf("sensor-%03d", i), nil)
	}
	var out []window.Output
	for i := range int64(readings) {
		at := i * 3 * size / readings
		out = set.Fold(series[i%sensors], at, float64(i%50), 0, uint64(i/100), out[:0])
	}
	each := float64(heap()-before) / readings
	runtime.KeepAlive(set)
	t.Logf("%.1f bytes a remembered reading", each)
	if each > 32 {
		t.Errorf("%.1f bytes a remembered reading, the agent reckons with 32", each)
	}
}

// heap is the size of what is reachable.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
