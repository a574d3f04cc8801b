package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"edgeagent/configs"
	"edgeagent/testbed"
)

// command runs edgeagent in this process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, streams{strings.NewReader(""), &out, &errs})
	return code, out.String(), errs.String()
}

// client is a plain MQTT client of a test.
func client(t *testing.T, b *testbed.Broker, id string, clean bool) paho.Client {
	t.Helper()
	c := paho.NewClient(paho.NewClientOptions().AddBroker(b.URL()).SetClientID(id).SetCleanSession(clean).SetOrderMatters(true))
	done(t, c.Connect())
	return c
}

func done(t *testing.T, token paho.Token) {
	t.Helper()
	if !token.WaitTimeout(20*time.Second) || token.Error() != nil {
		t.Fatalf("MQTT: %v", token.Error())
	}
}

// retain has the broker keep messages, so that whoever listens gets them at once.
func retain(t *testing.T, b *testbed.Broker, messages ...string) {
	t.Helper()
	c := client(t, b, "retain", true)
	defer c.Disconnect(0)
	for _, m := range messages {
		topic, payload, _ := strings.Cut(m, " ")
		done(t, c.Publish(topic, 1, true, payload))
	}
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "edgeagent.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// listenConfig has two sources; the uplink is never used.
func listenConfig(t *testing.T, b *testbed.Broker) string {
	return writeConfig(t, fmt.Sprintf(`
[gateway]
id = "gw"
[mqtt]
brokers = [%q]
[[source]]
name = "z"
preset = "zigbee2mqtt"
[[source]]
name = "plain"
topic = "plain/{sensor}"
format = "text"
retained = "keep"
[uplink]
url = "http://127.0.0.1:1"
database = "d"
`, b.URL()))
}

func TestTryListen(t *testing.T) {
	b := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	now := time.Now().UTC().Truncate(time.Second)
	retain(t, b,
		fmt.Sprintf(`zigbee2mqtt/a {"temperature":20.5,"last_seen":%q}`, now.Format(time.RFC3339)),
		fmt.Sprintf(`zigbee2mqtt/ahead {"temperature":20.5,"last_seen":%q}`, now.Add(time.Hour).Format(time.RFC3339)),
		`zigbee2mqtt/b {"temperature":3}`, `zigbee2mqtt/c {"humidity":3}`, `plain/x 21,5 °C`, `plain/y ERR`, `other/z 5`,
		`plain/long `+strings.Repeat("1", 70<<10))
	config := listenConfig(t, b)
	code, out, errs := command(t, "try", "-c", config, "--listen", "1500ms")
	window := now.Truncate(5 * time.Minute).Format(time.RFC3339)
	if code != 0 || errs != "" {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	for _, want := range []string{
		fmt.Sprintf(`  z: sensor "a" 20.5 °C at %s, window %s + 5m0s`, now.Format(time.RFC3339), window),
		`  z: refused, retained: "a retained message without a time of its own may be of any age"`,
		`  z: refused, no_value: "nothing at temperature|local_temperature"`,
		`  z: refused, future: `,
		`  plain: sensor "x" 21.5 °C at `, ` (arrival), window `,
		`  plain: refused, value: "not a number: ERR"`,
		`: refused, too_big: "71680 bytes"`,
		"\n7 messages\n",
		"\nplain: 1 readings of 1 sensors; refused: too_big 1, value 1\n",
		"\nz: 1 readings of 1 sensors; refused: future 1, no_value 1, retained 1\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "other/z") {
		t.Errorf("a topic that no source asks for:\n%s", out)
	}
	_, out, errs = command(t, "try", "-c", config, "--listen", "1500ms", "--json")
	if n := strings.Count(out, "\n"); n != 7 || !strings.Contains(errs, "7 messages") {
		t.Errorf("%d lines of JSON, stderr %q", n, errs)
	}
	for line := range strings.Lines(out) {
		var tried tried
		if err := json.Unmarshal([]byte(line), &tried); err != nil || len(tried.Readings)+len(tried.Rejected) != 1 {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// The agent's session must not notice that somebody looks on.
func TestListenLeavesTheSessionAlone(t *testing.T) {
	b := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	agent := client(t, b, "edgeagent-gw", false)
	done(t, agent.Subscribe("plain/#", 1, nil))
	agent.Disconnect(250)
	other := client(t, b, "sender", true)
	defer other.Disconnect(0)
	for i := range 5 {
		done(t, other.Publish("plain/x", 1, false, fmt.Sprint(i)))
	}
	if code, out, errs := command(t, "try", "-c", listenConfig(t, b), "--listen", "1s"); code != 0 || !strings.Contains(out, "0 messages") {
		t.Errorf("exit code %d, %s %s: what waits for the agent is not ours", code, out, errs)
	}
	got := make(chan string, 10)
	opts := paho.NewClientOptions().AddBroker(b.URL()).SetClientID("edgeagent-gw").SetCleanSession(false)
	again := paho.NewClient(opts.SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) { got <- string(m.Payload()) }))
	token := again.Connect().(*paho.ConnectToken)
	done(t, token)
	defer again.Disconnect(0)
	if !token.SessionPresent() {
		t.Fatal("the session is gone")
	}
	for i := range 5 {
		select {
		case payload := <-got:
			if payload != fmt.Sprint(i) {
				t.Errorf("message %d is %s", i, payload)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("message %d is gone", i)
		}
	}
}

// What discover prints is a configuration that checks, and that reads what was seen.
func TestDiscover(t *testing.T) {
	b := testbed.StartMosquitto(t, testbed.MosquittoOptions{})
	retain(t, b, `zigbee2mqtt/a {"temperature":20.5,"last_seen":"2026-11-04T08:01:10Z"}`, `zigbee2mqtt/b {"temperature":1}`,
		`house/kitchen/temperature 21.5`, `house/attic/temperature 12.5`, `house/kitchen/light on`)
	code, out, errs := command(t, "discover", "--broker", b.URL(), "--listen", "1500ms")
	if code != 0 || errs != "listening for 1.5s …\n" {
		t.Fatalf("exit code %d, stderr %q", code, errs)
	}
	for _, want := range []string{
		"preset = \"zigbee2mqtt\"\n", "topic = \"house/{sensor}/temperature\"\nformat = \"text\"\n", "#   zigbee2mqtt/b\n",
		"# Not recognised: 1 topics", "house/kitchen/light  1 messages  \"on\"", fmt.Sprintf("brokers = [%q]", b.URL()),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("lacks %q in\n%s", want, out)
		}
	}
	checks(t, out, 2)

	mine := writeConfig(t, fmt.Sprintf("[gateway]\nid = \"mine\"\n[mqtt]\nbrokers = [%q]\n[window]\nsize = \"1m\"\n[uplink]\nurl = \"http://h\"\ndatabase = \"d\"\n", b.URL()))
	code, out, errs = command(t, "discover", "-c", mine, "--listen", "1500ms", "--filter", "zigbee2mqtt/#")
	if code != 0 || !strings.Contains(out, `id = "mine"`) || !strings.Contains(out, `size = "1m"`) || strings.Contains(out, "house/") {
		t.Errorf("exit code %d, %s\n%s: what the file has must stay", code, errs, out)
	}
	checks(t, out, 1)

	code, out, errs = command(t, "discover", "--broker", b.URL(), "--listen", "1500ms", "--filter", "none/#")
	if code != 0 || !strings.Contains(errs, "no topic was recognised") {
		t.Errorf("exit code %d, stderr %q", code, errs)
	}
	checks(t, out, 1)
}

// checks passes a configuration through edgeagent check and counts its sources.
func checks(t *testing.T, text string, sources int) {
	t.Helper()
	cfg, err := configs.Parse("found.toml", []byte(text), nil)
	if err != nil || len(cfg.Sources) != sources {
		t.Fatalf("%v, want %d sources in\n%s", err, sources, text)
	}
	if code, _, errs := command(t, "check", "-c", writeConfig(t, text)); code != 0 {
		t.Errorf("check: exit code %d: %s", code, errs)
	}
}

func TestListenFaults(t *testing.T) {
	port := testbed.FreePort(t)
	nobody := fmt.Sprintf("tcp://127.0.0.1:%d", port)
	lonely := writeConfig(t, "[gateway]\nid = \"gw\"\n[[source]]\npreset = \"victron\"\n")
	t.Setenv("EDGEAGENT_CONFIG", "")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"discover", "--broker", nobody, "--listen", "5s"}, exitFailed, nobody + ": listen at the broker: open connection: "},
		{[]string{"discover", "--broker", nobody, "--listen", "5s"}, exitFailed, "; does a broker run there, is its address right, and is a firewall between? edgeagent doctor looks closer\n"},
		{[]string{"discover", "--broker", "gopher://x", "--listen", "5s"}, exitUsage, "--broker must "},
		{[]string{"discover", "--broker", nobody, "--listen=-1s"}, exitUsage, "--listen takes a time above 0"},
		{[]string{"discover", "-c", lonely}, exitUsage, "mqtt.brokers is missing"},
		{[]string{"discover", "-c", lonely + "x"}, exitUsage, "or name the broker with --broker"},
		{[]string{"try", "-c", lonely, "--topic", "N/+/x"}, exitUsage, "without + and #"},
		{[]string{"replay", "-c", lonely, "--topic", "N/#"}, exitUsage, "without + and #"},
		{[]string{"try", "-c", lonely, "--listen", "5s"}, exitUsage, "mqtt.brokers is missing"},
		{[]string{"try", "-c", lonely, "--listen", "5s", "--topic", "x"}, exitUsage, "neither --topic nor files beside it"},
	} {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		var out, errs bytes.Buffer
		code := run(ctx, c.args, streams{strings.NewReader(""), &out, &errs})
		stop()
		if code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit code %d, want %d; stderr %q, want %q", c.args, code, c.code, errs.String(), c.want)
		}
	}
}
