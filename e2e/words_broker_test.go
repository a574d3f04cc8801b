package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// nowhere is an uplink to a port on which nobody listens.
var nowhere = v1("http://127.0.0.1:1", "edge")

// someLines waits until the log has as many lines that hold text as wanted, since the agent may have done a thing before it
// says so, and fails the test unless they are want.
func (g *gateway) someLines(text string, want ...string) {
	g.t.Helper()
	waitFor(g.t, soon, fmt.Sprintf("%d lines with %q in the log", len(want), text), g.Log, func() bool { return len(lines(g.Log(), text)) >= len(want) })
	if got := lines(g.Log(), text); !slices.Equal(got, want) {
		g.t.Errorf("log lines with %q:\n%s\nwant\n%s", text, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBrokerAppears starts the agent before its broker: one line says so, however many attempts there are, and one that it
// is there.
func TestBrokerAppears(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{})
	b.Stop()
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere})
	w.start()
	w.await(soon, "some attempts", func(r status.Report) bool { return r.UptimeS >= 4 && r.MQTT.LastError != "" })
	b.Restart()
	w.await(soon, "the connection", func(r status.Report) bool { return r.MQTT.Connected && r.MQTT.LastError == "" })
	w.someLines("mqtt:",
		`WARN  mqtt: cannot connect  broker=`+b.URL()+` error="open connection: dial: connection refused"`,
		`INFO  mqtt: connected  broker=`+b.URL()+` session_present=false`)
	w.stop()
}

// TestBrokerRefuses has a wrong password, mended while the agent runs.
func TestBrokerRefuses(t *testing.T) {
	t.Parallel()
	hashed := filepath.Join(t.TempDir(), "passwords")
	if out, err := exec.Command(testbed.Need(t, "mosquitto_passwd"), "-b", "-c", hashed, "edge", "open sesame").CombinedOutput(); err != nil {
		t.Fatalf("mosquitto_passwd: %v\n%s", err, out)
	}
	if err := os.Chmod(hashed, 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBroker(t, testbed.MosquittoOptions{Conf: []string{"allow_anonymous false", "password_file " + hashed}})
	secret := filepath.Join(t.TempDir(), "mqtt-password")
	writeFile(t, secret, "wrong-secret\n")
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere, mqtt: "username = \"edge\"\npassword_file = \"" + secret + "\""})
	w.start()
	waitFor(t, soon, "three attempts", b.Log, func() bool { return strings.Count(b.Log(), "not authorised") >= 3 })
	w.someLines("cannot connect", `WARN  mqtt: cannot connect  broker=`+b.URL()+
		` error="the broker does not authorize this client: check mqtt.username and mqtt.password_file, and the broker's access rules for this client id"`)
	writeFile(t, secret, "open sesame\n")
	w.await(soon, "the connection", func(r status.Report) bool { return r.MQTT.Connected })
	w.stop()
	for _, s := range []string{"wrong-secret", "open sesame"} {
		if strings.Contains(w.Log(), s) {
			t.Errorf("the password is in the log")
		}
	}
}

// closedACL is a configuration of mosquitto's dynamic security plugin that refuses every subscription.
const closedACL = `{"defaultACLAccess": {"publishClientSend": true, "publishClientReceive": true, "subscribe": false, "unsubscribe": true}}`

// TestSubscriptionRefused has a broker that refuses the subscription. An access file cannot make mosquitto 2 do that (it
// checks deliveries only), but its dynamic security plugin can.
func TestSubscriptionRefused(t *testing.T) {
	t.Parallel()
	plugins, _ := filepath.Glob("/usr/lib/*/mosquitto_dynamic_security.so")
	if len(plugins) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("mosquitto's dynamic security plugin is not installed")
		}
		t.Skip("mosquitto's dynamic security plugin is not installed")
	}
	acl := filepath.Join(t.TempDir(), "dynamic.json")
	writeFile(t, acl, closedACL)
	b := newBroker(t, testbed.MosquittoOptions{Conf: []string{"plugin " + plugins[0], "plugin_opt_config_file " + acl}})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere})
	w.start()
	w.awaitLog(soon, 1, "refuses a subscription")
	w.someLines("refuses a subscription", `ERROR mqtt: the broker refuses a subscription: check its access rules  `+
		`filter=sensors/+/temperature code=128`)
	w.await(soon, "an agent that goes on", func(r status.Report) bool { return r.MQTT.Connected })
	w.stop()
}

// TestUnreadablePayloads sends a flood of nonsense: all of it is counted and acknowledged, little of it is said.
func TestUnreadablePayloads(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{MaxInflight: mosquittoInFlight})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: nowhere, buffer: quick, mqtt: "max_message_bytes = \"1KiB\""})
	w.start()
	awaitSubscription(t, b, "gw")
	var bad []sim.Record
	for range 500 {
		for _, payload := range []string{"", "not JSON\x1b[31m\n", `{"temperature":null}`, strings.Repeat("x", 2000), `{"temperature":"hot"}`} {
			bad = append(bad, sim.Record{Topic: "sensors/a/temperature", Payload: []byte(payload)})
		}
	}
	newPublisher(t, b.URL()).publish(bad...)
	r := w.await(inTheEnd, "all counted", func(r status.Report) bool { return r.Ledger.Received >= 2500 && r.MQTT.Unacked == 0 })
	for reason, want := range map[string]int64{"decode": 500, "no_value": 1000, "too_big": 500, "value": 500} {
		if got := r.Ledger.Rejected[reason]; got != want {
			t.Errorf("rejected %s: %d, want %d", reason, got, want)
		}
	}
	balanced(t, r)
	w.stop()
	if n := strings.Count(w.Log(), "\n"); n > 12 || strings.Contains(w.Log(), "\x1b") || strings.Contains(w.Log(), "xxxx") {
		t.Errorf("%d lines in the log, or payloads:\n%s", n, w.Log())
	}
}
