package grafana

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"edgeagent/reading"
	"edgeagent/testbed"
	"edgeagent/uplink"
	"edgeagent/window"
)

// A fleet writes the points of a simulated fleet, whose troubles are known, as gateways do: by the agent's encoder.
type fleet struct {
	t   *testing.T
	now time.Time // the end, a whole five minutes
	b   strings.Builder
}

// A gateway is one of them, at one moment.
type gateway struct {
	id, shard                string
	received, late, rejected int64
	queued, parked, evicted  int64
	resets, instance         int64
	untrusted, unbalanced    bool
	behind                   float64
}

const (
	interval = 5 * time.Minute
	hours    = 6 // of points
)

func (f *fleet) encoder(id, shard string) *uplink.Encoder {
	f.t.Helper()
	e, err := uplink.NewEncoder(uplink.Identity{Gateway: id, Shard: shard, Measurement: "temperature", Timestamp: "start", Aggregates: []string{"max", "count"}})
	if err != nil {
		f.t.Fatal(err)
	}
	return e
}

func (f *fleet) add(line []byte, err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
	f.b.Write(line)
	f.b.WriteByte('\n')
}

// health is the part of a health line that dashboards ask for; TestHealthKeys compares the names with a real agent's.
func (f *fleet) health(at time.Time, g gateway) {
	f.t.Helper()
	f.add(f.encoder(g.id, g.shard).Health(nil, at.UnixNano(), []uplink.Field{
		uplink.Int("received", g.received), uplink.Int("late", g.late), uplink.Int("rejected", g.rejected),
		uplink.Int("queued", g.queued), uplink.Int("parked", g.parked), uplink.Int("evicted", g.evicted),
		uplink.Int("store_resets", g.resets), uplink.Int("instance", g.instance), uplink.Float("behind_s", g.behind),
		uplink.Bool("clock_trusted", !g.untrusted), uplink.Bool("balanced", !g.unbalanced), uplink.Int("uptime_s", 1000),
	}))
}

func (f *fleet) window(id, sensor string, start time.Time, highest float64, count int64) {
	f.t.Helper()
	f.add(f.encoder(id, "").Window(nil, reading.MakeSeries(sensor, nil), start.UnixNano(), start.Add(interval).UnixNano(),
		&window.Aggregate{Max: highest, Count: count}, true, false))
}

func (f *fleet) lateDrops(id, sensor string, at time.Time, count, total int64, lateness time.Duration) {
	f.t.Helper()
	f.add(f.encoder(id, "").Late(nil, reading.MakeSeries(sensor, nil), at.UnixNano(), count, total, int64(lateness)))
}

// simulate is six hours of eleven gateways, one with each trouble:
//
//	well     nothing: all that is asked of it must come out empty
//	silent   its last health line is three hours old
//	mute     its sensor "attic" has sent nothing for two hours
//	queue    up to 500 points wait
//	clock    its clock is not trusted in the last hour, and 400 s slow
//	books    two lines say that the books do not balance
//	reset    its store was damaged once
//	card     its card was exchanged: all counts begin anew
//	twins    two boxes have this id
//	restart  started anew four times, which is no trouble
//	site     two agents that share a site, which is no trouble either
func (f *fleet) simulate() {
	f.t.Helper()
	for n := range hours * 12 {
		at := f.now.Add(time.Duration(n-hours*12) * interval)
		ago := hours*12 - n // intervals before now, from 72 to 1
		base := gateway{received: int64(100 * n), late: int64(n), rejected: int64(2 * n), instance: 11, behind: 15}
		line := func(id string, change func(*gateway)) {
			g := base
			g.id = id
			if change != nil {
				change(&g)
			}
			f.health(at, g)
		}
		line("well", nil)
		if ago > 36 {
			line("silent", nil)
		}
		line("mute", nil)
		line("queue", func(g *gateway) { g.queued = 500 - int64(7*ago); g.parked, g.evicted = 3, 40 })
		line("clock", func(g *gateway) {
			if g.untrusted = ago <= 12; g.untrusted {
				g.behind = -400
			}
		})
		line("books", func(g *gateway) { g.unbalanced = ago == 20 || ago == 19 })
		line("reset", func(g *gateway) {
			if ago < 30 {
				g.resets = 1
			}
		})
		line("card", func(g *gateway) {
			if ago < 30 {
				g.received, g.late, g.rejected, g.instance = 1, 0, 0, 12
			}
		})
		line("twins", func(g *gateway) { g.instance = 1<<52 + int64(n%2) })
		line("restart", func(g *gateway) { g.instance = int64(100 + n/18) })
		line("site", func(g *gateway) { g.shard = "1/2" })
		line("site", func(g *gateway) { g.shard, g.received, g.instance = "2/2", int64(30*n), 9 })
		f.window("well", "attic", at, float64(n)/2, 10)
		if ago > 24 {
			f.window("mute", "attic", at, 20, 10)
		}
		f.window("mute", "cellar", at, 12, 5)
		if n%6 == 0 {
			f.lateDrops("mute", "cellar", at, 2, int64(2+n/3), time.Duration(700+n)*time.Second)
		}
	}
}

// start is a server that holds the fleet, in the database sensors.
func start(t *testing.T) (*testbed.Influx, *fleet) {
	t.Helper()
	f := &fleet{t: t, now: time.Now().Truncate(interval)}
	i := testbed.StartInfluxd(t, testbed.InfluxOptions{Flux: true})
	i.CreateDB("sensors")
	f.simulate()
	f.write(i)
	return i, f
}

func (f *fleet) write(i *testbed.Influx) {
	f.t.Helper()
	resp, err := http.Post(i.URL()+"/write?db=sensors&precision=ns", "text/plain", strings.NewReader(f.b.String()))
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusNoContent {
		f.t.Fatalf("write: %s: %s", resp.Status, text)
	}
	f.b.Reset()
}

// value writes a number as tables of the tests do: whole ones without a fraction.
func value(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%g", v)
}
