package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"edgeagent/status"
	"edgeagent/testbed"
)

// The scene of every damage: windows of five minutes with two readings a sensor.
const (
	sceneSensors = 40
	sceneSent    = 6  // windows that the server has
	sceneWaiting = 20 // windows that wait for it
	sceneOpen    = 2  // windows that are open, by a delay of ten minutes
	pageBytes    = 4096
)

// A scene is a store as a killed agent left it, with all waiting points exported, and what the server had by then in database "before".
type scene struct {
	server *testbed.Influx
	file   []byte // edgeagent.db
	floor  []byte
}

// window publishes reading n of window w of every sensor.
func (p *publisher) window(w, n int) {
	p.t.Helper()
	for s := range sceneSensors {
		p.send(fmt.Sprintf("sensors/s%02d/temperature", s), good(5*w+1+n, sceneValue(w, s)-float64(n)))
	}
}

// sceneValue is the maximum of a window.
func sceneValue(w, s int) float64 { return float64(20+w) + float64(s)/64 }

// play makes a scene.
func play(t *testing.T) *scene {
	t.Helper()
	broker := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	sc := &scene{server: testbed.StartInfluxd(t, testbed.InfluxOptions{})}
	sc.server.CreateDB("before")
	c := config{broker: broker.URL(), uplink: v1(sc.server.URL(), "before")}
	g := newGateway(t, c)
	p := newPublisher(t, broker.URL())
	publish := func(from, to int) {
		g.start()
		g.await(soon, "a connection", func(r status.Report) bool { return r.MQTT.Connected })
		for w := from; w < to; w++ {
			p.window(w, 0)
			p.window(w, 1)
		}
		p.flush()
	}
	publish(0, sceneSent+sceneOpen+1)
	g.await(soon, "the first windows to be uploaded", func(r status.Report) bool { return r.Points.Uploaded == sceneSent*sceneSensors })
	g.stop()
	c.uplink = v1("http://127.0.0.1:1", "before")
	writeFile(t, g.conf, c.text(g.dir))
	publish(sceneSent+sceneOpen+1, sceneSent+sceneWaiting+sceneOpen+1)
	g.await(soon, "the rest to wait", func(r status.Report) bool {
		return r.Points.Queued == sceneWaiting*sceneSensors && r.Uplink.LastError != "" && r.MQTT.Unacked == 0
	})
	g.buffer("export", filepath.Join(t.TempDir(), "points.lp")).wants(t, 0, "800 lines written") // they may be at the server from now on
	g.kill()
	for name, text := range map[string]*[]byte{"edgeagent.db": &sc.file, "floor": &sc.floor} {
		var err error
		if *text, err = os.ReadFile(filepath.Join(g.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return sc
}

// outboxPages are the pages in use that hold waiting points.
func (sc *scene) outboxPages(t *testing.T) (list []int) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "copy")
	writeFile(t, name, string(sc.file))
	db, err := bolt.Open(name, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.View(func(tx *bolt.Tx) error {
		for id := 2; ; id++ {
			info, err := tx.Page(id)
			if info == nil || err != nil {
				return err
			}
			if info.Type == "leaf" && bytes.Count(page(sc.file, id), []byte("temperature,")) > 5 {
				list = append(list, id)
			}
		}
	})
	if err != nil || len(list) < 8 {
		t.Fatalf("pages with points: %v, %v", list, err)
	}
	return list
}

func page(file []byte, id int) []byte { return file[id*pageBytes : (id+1)*pageBytes] }
