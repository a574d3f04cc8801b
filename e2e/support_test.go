package e2e

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"edgeagent/status"
	"edgeagent/testbed"
)

// Secrets planted in every place where there can be one. None may be in a support file, in any form.
var planted = []string{"broker-secret-1", "uplink secret/2", "http-secret-3", "env-secret-4", "url-secret-5"}

func holdsNone(t *testing.T, what, text string) {
	t.Helper()
	for _, s := range planted {
		for _, form := range []string{s, base64.StdEncoding.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte("w:" + s)), strings.ReplaceAll(s, "/", "%2F")} {
			if strings.Contains(text, form) {
				t.Errorf("%s holds %q:\n%s", what, form, text)
			}
		}
	}
}

// TestSupport writes the file beside a running agent, without it, and with a configuration that is wrong.
func TestSupport(t *testing.T) {
	t.Setenv("EA_PLANTED", planted[3])
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: b.URL(), mqtt: "username = \"u\"\n" + secretFile(t, "password_file", planted[0]),
		uplink: v1("http://127.0.0.1:1", "edge") + "username = \"w\"\n" + secretFile(t, "password_file", planted[1])})
	w.reconfigure(`listen = ""`, "listen = \"127.0.0.1:0\"\n"+secretFile(t, "token_file", planted[2]))
	write := func() string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "support.txt")
		out, errs, code := w.prog.output(t, "support", "-c", w.conf, "--out", file, "--listen", "0s")
		if code != 0 || out != "" || !strings.Contains(errs, file) {
			t.Fatalf("exit code %d, stdout %q, stderr %q", code, out, errs)
		}
		text := string(readFile(t, file))
		holdsNone(t, "the file", text)
		return text
	}
	has := func(text string, want ...string) {
		t.Helper()
		for _, s := range want {
			if !strings.Contains(text, s) {
				t.Errorf("no %q in\n%s", s, text)
			}
		}
	}
	sections := []string{"===== doctor =====", "===== machine =====", "===== configuration =====", "===== status =====", "===== store =====", "===== data folder =====", "===== log ====="}
	w.start()
	w.await(soon, "an attempt", func(r status.Report) bool { return r.MQTT.Connected })
	has(write(), append(sections, "edgeagent dev (", "OK    agent      runs for", `id = "gw"`, "password = \"\"", "edgeagent starts", "\"file_bytes\"", "edgeagent.sock")...)
	w.stop()
	has(write(), append(sections, "WARN  agent      does not run", "not to be had: no agent is running here", "\"file_bytes\"")...)

	text := strings.Replace(string(readFile(t, w.conf)), b.URL(), "tcp://me:"+planted[4]+"@broker:1883", 1)
	writeFile(t, w.conf, strings.Replace(text, "[window]", "[window]\nmeasurement = \"${EA_PLANTED}/x\"\nwidth = 3\ntoken = \""+planted[1]+"\"", 1))
	got := write()
	has(got, append(sections, "FAIL  config", "it cannot be used", "tcp://***@broker:1883", "measurement = \"${EA_PLANTED}/x\"")...)
}

// TestSupportToOutput writes to standard output, with a secret from a variable.
func TestSupportToOutput(t *testing.T) {
	t.Setenv("EA_PLANTED", planted[3])
	b := newBroker(t, testbed.MosquittoOptions{})
	w := newGateway(t, native(t), config{broker: b.URL(), uplink: v2("http://127.0.0.1:1", "edge") + "token = \"${EA_PLANTED}\""})
	out, errs, code := w.prog.output(t, "support", "-c", w.conf, "--out", "-", "--listen", "0s")
	if code != 0 || errs != "" || !strings.Contains(out, "token = \"${EA_PLANTED}\"") {
		t.Errorf("exit code %d, stderr %q\n%s", code, errs, out)
	}
	holdsNone(t, "standard output", out)
}
