package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/status"
	"edgeagent/testbed"
)

// TestDoctorAllRight has all in order, without an agent and beside one, whose session notices nothing.
func TestDoctorAllRight(t *testing.T) {
	t.Parallel()
	b, server := guardedBroker(t, "user edge\ntopic readwrite #\n"), testbed.StartGuardedInfluxd(t)
	w := newGateway(t, native(t), config{broker: b.URL(), buffer: quick, mqtt: "username = \"edge\"\n" + secretFile(t, "password_file", "open sesame"),
		uplink: v1(server.URL(), "edge") + "username = \"owner\"\n" + secretFile(t, "password_file", testbed.OwnerPassword)})
	d := diagnose(t, w, "0s")
	d.nothing()
	d.says("WARN", "agent", "does not run")
	d.says("OK", "store", "there is none yet")
	w.start()
	before := w.await(soon, "the connection", func(r status.Report) bool { return r.MQTT.Connected })
	p := newPublisherAs(t, b.URL(), "edge", "open sesame")
	p.publish(windowed(3)...)
	d = diagnose(t, w, "500ms")
	d.nothing()
	for _, l := range []struct{ check, text string }{
		{"config", "is right"}, {"agent", "runs for"}, {"broker", b.URL() + " lets us in as edge"}, {"filter", "sensors/+/temperature is granted"},
		{"uplink", "/write (database \"edge\") answers"}, {"write", "Proven: token or password, database or bucket, and the right to write there"},
		{"retention", "keeps points for ever"}, {"store", "sound"}, {"disk", "is written by the agent"}, {"secrets", "2 files"}, {"http", "off"},
	} {
		d.says("OK", l.check, l.text)
	}
	r := w.await(soon, "the status", answers)
	if r.MQTT.Since != before.MQTT.Since || !r.MQTT.Connected {
		t.Errorf("the agent's connection is of %s, was of %s", r.MQTT.Since, before.MQTT.Since)
	}
	w.stop()
	diagnose(t, w, "0s").says("OK", "store", "sound")
}

// TestDoctorBroker has brokers that let nobody in, deliver nothing, or are not there.
func TestDoctorBroker(t *testing.T) {
	t.Parallel()
	b := guardedBroker(t, "user edge\ntopic readwrite other/#\n")
	secret := secretFile(t, "password_file", "wrong-secret")
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere, mqtt: "username = \"edge\"\n" + secret})
	d := diagnose(t, w, "500ms")
	d.nothing("broker", "uplink")
	d.says("FAIL", "broker", "the broker does not authorize this client: check mqtt.username and mqtt.password_file")
	if strings.Contains(d.String(), "wrong-secret") {
		t.Error("the password is shown")
	}
	writeFile(t, strings.Split(secret, `"`)[1], "open sesame")
	d = diagnose(t, w, "500ms")
	d.says("OK", "filter", "is granted") // mosquitto grants what its access file forbids, and then delivers nothing
	d.says("WARN", "messages", "nothing came on sensors/{sensor}/temperature")
	d.says("FAIL", "uplink", "connection refused")
	b.Stop()
	d = diagnose(t, w, "500ms")
	d.says("FAIL", "broker", "connection refused")
}

// TestDoctorMessages has devices that send what cannot be read, and too much for the broker's default.
func TestDoctorMessages(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere})
	p := paho.NewClient(paho.NewClientOptions().AddBroker(b.URL()).SetClientID("device"))
	if tk := p.Connect(); !tk.WaitTimeout(soon) || tk.Error() != nil {
		t.Fatal(tk.Error())
	}
	defer p.Disconnect(100)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.Publish("sensors/a/temperature", 1, false, "{\"temperature\":\"hot \u202e there\",\"ts\":1}")
			case <-stop:
				return
			}
		}
	}()
	d := diagnose(t, w, "2s")
	out, _, _ := w.prog.output(t, "doctor", "-c", w.conf, "--listen", "500ms")
	close(stop)
	<-ended
	d.nothing("messages", "uplink")
	d.says("FAIL", "messages", "no reading; refused value: ")
	d.says("WARN", "absence", "mosquitto version 2")
	if strings.Contains(out, "\u202e") || !strings.Contains(out, `\u202e`) {
		t.Errorf("device text is shown as it is:\n%s", out)
	}
}

// TestDoctorServer has servers that take nothing, for one reason after the other; the last is a sign-in page.
func TestDoctorServer(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartGuardedInfluxd(t)
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Welcome! Please sign in.</html>"))
	}))
	t.Cleanup(portal.Close)
	expired := httptest.NewTLSServer(nil) // its certificate is signed by nobody that is known here
	t.Cleanup(expired.Close)
	user := func(name, secret string) string {
		return "username = \"" + name + "\"\n" + secretFile(t, "password_file", secret)
	}
	for _, c := range []struct{ uplink, check, text string }{
		{v1(server.URL(), "edge") + user("w", "wrong-secret"), "write", "401 Unauthorized: authorization failed"},
		{v1(server.URL(), "edge") + user("r", "read-secret"), "write", `403 Forbidden: "r" user is not authorized to write to database "edge"`},
		{v1(server.URL(), "none") + user("w", "write-secret"), "write", `404 Not Found: database not found: "none"`},
		{v1(portal.URL, "edge"), "uplink", "not the answer of an InfluxDB"},
		{v1(strings.Replace(expired.URL, "127.0.0.1", "localhost", 1), "edge"), "uplink", "tls"},
		{v1("http://no.such.host.invalid", "edge"), "uplink", "cannot be resolved"},
	} {
		w := newGateway(t, native(t), config{broker: b.URL(), uplink: c.uplink})
		d := diagnose(t, w, "0s")
		d.nothing(c.check)
		d.says("FAIL", c.check, c.text)
		if strings.Contains(d.String(), "secret\"") || strings.Contains(d.String(), "wrong-secret") {
			t.Errorf("a secret is shown: %s", d)
		}
	}
}

// TestDoctorRetention has a server that keeps points for a week, and one that waits of long ago.
func TestDoctorRetention(t *testing.T) {
	t.Parallel()
	b, server := newBroker(t, testbed.MosquittoOptions{}), testbed.StartInfluxd(t, testbed.InfluxOptions{})
	server.Query("", `CREATE DATABASE edge WITH DURATION 7d`)
	w := newGateway(t, native(t), config{broker: b.URL(), buffer: quick, uplink: v1(server.URL(), "edge")})
	w.start()
	awaitSubscription(t, b, "gw")
	diagnose(t, w, "0s").says("OK", "retention", "the server keeps points for 7 d 0 h; nothing old waits")
	newPublisher(t, b.URL()).publish(windowed(3)...)
	w.await(soon, "the refusal", func(r status.Report) bool { return r.Uplink.State == "blocked" })
	d := diagnose(t, w, "0s")
	d.nothing("retention")
	d.says("FAIL", "retention", "the server keeps points for 7 d 0 h, and the oldest that waits is of ")
}

// TestDoctorFolder has a data folder that another process holds, one that is on a full disk, and a port that is taken.
func TestDoctorFolder(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere})
	w.start()
	w.await(soon, "the agent", answers)
	socket := filepath.Join(w.dir, "edgeagent.sock")
	if err := os.Rename(socket, socket+".aside"); err != nil { // a second agent cannot be asked by the first one's socket
		t.Fatal(err)
	}
	d := diagnose(t, w, "0s")
	d.nothing("agent", "store", "uplink")
	d.says("FAIL", "store", "store is in use by another process")
	d.says("FAIL", "agent", "another process uses the data folder")
	if err := os.Rename(socket+".aside", socket); err != nil {
		t.Fatal(err)
	}
	w.stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w.reconfigure(`listen = ""`, `listen = "`+l.Addr().String()+`"`)
	diagnose(t, w, "0s").says("FAIL", "http", "address already in use")
	w.start() // readings do not wait for a page
	w.await(soon, "the agent without its page", func(r status.Report) bool { return strings.Contains(r.HTTPError, "is in use by another program") })
	diagnose(t, w, "0s").says("FAIL", "http", "is in use by another program")
	if out, _, code := w.prog.output(t, "status", "-c", w.conf); !strings.Contains(out, "The status page is not served") || code == 2 {
		t.Errorf("status: exit code %d\n%s", code, out)
	}
	w.stop()
}

// TestDoctorConfig has a configuration with faults: all of them, with their lines, and exit code 2.
func TestDoctorConfig(t *testing.T) {
	t.Parallel()
	conf := filepath.Join(t.TempDir(), "edgeagent.toml")
	writeFile(t, conf, "[gateway]\nid = \"raspberrypi\"\n[mqtt]\nbrokers = [\"tcp://u:planted-secret@h\"]\nkeep_alive = 3\n")
	out, errs, code := native(t).output(t, "doctor", "-c", conf)
	for _, want := range []string{conf[:20], ":2:1: gateway.id", ":4:12: mqtt.brokers", ":5:1: mqtt.keep_alive", "source: there is none", "4 FAIL"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != 2 || errs != "" || strings.Contains(out, "planted-secret") {
		t.Errorf("exit code %d, stderr %q\n%s", code, errs, out)
	}
}
