package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/status"
	"edgeagent/testbed"
)

// TestDamagedStore starts the agent on stores that are damaged in several ways. Each time it goes on within ten seconds, says once what it has set aside, sends what can still be
// read, and never overwrites what was sent.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	rng := testbed.Random(t)
	sc := play(t)
	pages := sc.outboxPages(t)
	one, other := pages[rng.IntN(len(pages)/2)], pages[len(pages)/2+rng.IntN(len(pages)/2)]
	all := sceneWaiting * sceneSensors
	for _, tt := range []struct {
		name   string
		damage func(d []byte) []byte
		least  int // waiting points that must arrive
	}{
		{"both meta pages zeroed", func(d []byte) []byte { clear(d[:2*pageBytes]); return d }, all},
		{"a page zeroed", func(d []byte) []byte { clear(page(d, one)); return d }, all * 3 / 4},
		{"two pages swapped", func(d []byte) []byte {
			kept := bytes.Clone(page(d, one))
			copy(page(d, one), page(d, other))
			copy(page(d, other), kept)
			return d
		}, all * 3 / 4},
		{"random bytes in a page", func(d []byte) []byte { scramble(rng, page(d, one)); return d }, all * 3 / 4},
		{"half of what is in use", func(d []byte) []byte { return d[:other*pageBytes] }, 0},
		{"zeros of the right size", func(d []byte) []byte { clear(d); return d }, 0},
		{"one byte", func(d []byte) []byte { return d[:1] }, 0},
	} {
		data := tt.damage(bytes.Clone(sc.file)) // here: the generator is shared
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sc.suffer(t, data, tt.least)
		})
	}
}

func scramble(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
}

// suffer starts an agent on damaged data.
func (sc *scene) suffer(t *testing.T, data []byte, least int) {
	t.Helper()
	db := strings.NewReplacer("/", "-", " ", "-").Replace(t.Name())
	sc.server.CreateDB(db)
	sc.server.Query("before", fmt.Sprintf(`SELECT * INTO "%s"."autogen"."temperature" FROM "temperature" GROUP BY *`, db))
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	g := newGateway(t, config{broker: broker.URL(), uplink: v1(sc.server.URL(), db)})
	if err := os.Mkdir(g.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(g.dir, "edgeagent.db"), string(data))
	writeFile(t, filepath.Join(g.dir, "floor"), string(sc.floor))
	began := time.Now()
	g.start()
	r := g.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
	p := newPublisher(t, broker.URL())
	const next = sceneSent + sceneWaiting + sceneOpen + 1
	p.window(next, 0)
	p.flush()
	before := r.Ledger
	g.await(soon, "readings to be taken in", func(r status.Report) bool {
		return r.Ledger.Windowed >= before.Windowed+sceneSensors && r.MQTT.Unacked == 0
	})
	took := time.Since(began)
	if most := 10 * time.Second; !raced && !emulated() && took > most {
		t.Errorf("it took in readings %v after its start, want at most %v", took, most)
	}
	for w := range sceneSent + sceneWaiting { // windows that may have been sent: what comes for them now is late
		p.window(w, 1)
	}
	p.window(next+10, 0)
	p.flush()
	r = g.await(soon, "all to be taken in and uploaded", func(r status.Report) bool {
		return r.Ledger.Received >= before.Received+sceneSensors*(sceneSent+sceneWaiting+2) && r.MQTT.Unacked == 0 && r.Points.Queued == 0 && r.Points.Finalized > 0
	})
	if late, dup := r.Ledger.Late-before.Late, r.Ledger.Duplicate-before.Duplicate; late+dup != sceneSensors*(sceneSent+sceneWaiting) || r.StoreResets != 1 {
		t.Errorf("%d late and %d repeats, %d resets; want %d and 1", late, dup, r.StoreResets, sceneSensors*(sceneSent+sceneWaiting))
	}
	balanced(t, r)
	carried := sc.compare(t, db)
	if carried < least || int64(carried) > r.Points.Carried {
		t.Errorf("%d waiting points arrive, %d were carried over; want at least %d", carried, r.Points.Carried, least)
	}
	g.stop()
	g.setAside(t, data)
	g.buffer("check").wants(t, 0, "sound\n")
	t.Logf("taken in %v after the start; %d of %d waiting points arrive", took.Round(time.Millisecond), carried, sceneWaiting*sceneSensors)
}

// compare wants every point that was sent to be as it was, and those that waited to be absent or whole; it reports how many of these there are.
func (sc *scene) compare(t *testing.T, db string) (waited int) {
	t.Helper()
	sent := 0
	for _, p := range sc.server.Points(db, "temperature") {
		w := int(time.Unix(0, p.Time).Sub(fleetStart) / (5 * time.Minute))
		if w >= sceneSent+sceneWaiting {
			continue // it was open, and is what was left of it
		}
		var s int
		if _, err := fmt.Sscanf(p.Tags["sensor"], "s%d", &s); err != nil {
			t.Fatal(err)
		}
		if w < sceneSent {
			sent++
		} else {
			waited++
		}
		if p.Fields["max"] != sceneValue(w, s) || p.Fields["count"] != int64(2) {
			t.Errorf("window %d of sensor %d is %v, want max=%g count=2", w, s, p.Fields, sceneValue(w, s))
		}
	}
	if sent != sceneSent*sceneSensors {
		t.Errorf("the server has %d of the points that had been sent, want %d", sent, sceneSent*sceneSensors)
	}
	return waited
}

// setAside wants the damaged file to be kept under a dated name, and one line about it.
func (g *gateway) setAside(t *testing.T, data []byte) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(g.dir, "edgeagent.db.damaged-*"))
	if err != nil || len(list) != 1 {
		t.Fatalf("set aside: %v, %v; want one file", list, err)
	}
	if name, want := filepath.Base(list[0]), "edgeagent.db.damaged-"+time.Now().UTC().Format("20060102")+"-1"; name != want {
		t.Errorf("set aside as %s, want %s", name, want)
	}
	if kept, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(kept, data) {
		t.Errorf("the file set aside has %d bytes (%v), want the %d damaged ones", len(kept), err, len(data))
	}
	lines := 0
	for line := range strings.Lines(g.Log()) {
		if strings.Contains(line, "store is damaged; moved aside") && strings.Contains(line, filepath.Base(list[0])) {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("%d lines say what was set aside, want 1", lines)
	}
}
