package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// faulty has several faults of different kinds.
const faulty = `[gateway]
id = "localhost"
[mqtt]
brokers = ["127.0.0.1:1883"]
keepalive = "30s"
[[source]]
topic = "sensors/{sensor}/#/temperature"
[window]
size = "5 min"
[uplink]
url = "http://127.0.0.1:8086"
api = "v2"
`

// faults are all of them at once, DIR being the folder of the file.
const faults = `error: DIR/faulty.toml:2:1: gateway.id: is the name of every machine made from the same image: clones would overwrite each other's points; give each gateway a name of its own (got "localhost")
DIR/faulty.toml:4:12: mqtt.brokers: must be a URL such as tcp://HOST (got "127.0.0.1:1883")
DIR/faulty.toml:5:1: mqtt.keepalive: unknown key; did you mean keep_alive?
DIR/faulty.toml:7:1: source.topic: "sensors/{sensor}/#/temperature": # must be the last level; {name...} may stand in the middle
DIR/faulty.toml:9:1: window.size: is not a duration such as "30s", "5m" or "72h" (got "5 min")
DIR/faulty.toml:10:2: uplink.bucket: is missing; api = "v2" needs it
DIR/faulty.toml:10:2: uplink.org: is missing; api = "v2" needs it
`

// lean is enough for replay, and not for run.
const lean = `[gateway]
id = "gw"
[[source]]
topic = "sensors/{sensor}/temperature"
`

// TestCommandLine checks what a wrong command says, and its exit code.
func TestCommandLine(t *testing.T) {
	prog, dir := native(t), t.TempDir()
	files := map[string]string{
		"faulty.toml": faulty, "lean.toml": lean, "broken.ndjson": `{"topic": "a", "payload": 1}` + "\nnonsense\n",
		"right.toml": config{broker: "tcp://127.0.0.1:1", dir: filepath.Join(dir, "none"), uplink: v1("http://127.0.0.1:1", "edge")}.text(),
	}
	for name, text := range files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	for _, tt := range []struct {
		args   string // DIR is the folder
		stderr string
		code   int
	}{
		{"run -c DIR/faulty.toml", faults, 2},
		{"check -c DIR/faulty.toml", faults, 2},
		{"replay -c DIR/faulty.toml", faults, 2},
		{"run -c DIR/none.toml", "error: DIR/none.toml: no such file or directory; name the file with -c or $EDGEAGENT_CONFIG\n", 2},
		{"run -c DIR/lean.toml", "error: DIR/lean.toml:1:1: mqtt.brokers: is missing; write brokers = [\"tcp://HOST:1883\"] below [mqtt]\n" +
			"DIR/lean.toml:1:1: uplink.url: is missing; write url = \"http://HOST:8086\" below [uplink]\n", 2},
		{"check -c DIR/right.toml", "DIR/right.toml: right\n", 0},
		{"jump", "error: unexpected argument jump; see edgeagent --help\n", 2},
		{"run --jump", "error: unknown flag --jump; see edgeagent --help\n", 2},
		{"simulate", "error: missing flags: --broker=URL; see edgeagent --help\n", 2},
		{"replay -c DIR/lean.toml DIR/none.ndjson", "error: open recording: open DIR/none.ndjson: no such file or directory; is the name right?\n", 1},
		{"status -c DIR/right.toml", "error: no agent is running here: there is no socket DIR/none/edgeagent.sock; is it started, and is buffer.dir the one it uses? (no such file or directory)\n", 1},
	} {
		t.Run(strings.ReplaceAll(tt.args, "DIR/", ""), func(t *testing.T) {
			t.Parallel()
			_, stderr, code := prog.output(t, strings.Fields(strings.ReplaceAll(tt.args, "DIR", dir))...)
			if want := strings.ReplaceAll(tt.stderr, "DIR", dir); stderr != want || code != tt.code {
				t.Errorf("exit code %d, want %d, and\n%swant\n%s", code, tt.code, stderr, want)
			}
		})
	}
}

// oneError fails the test unless stderr is one error line with all parts in it.
func oneError(t *testing.T, stderr string, parts ...string) {
	t.Helper()
	if !strings.HasPrefix(stderr, "error: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("got %q, want one error line", stderr)
	}
	for _, part := range parts {
		if !strings.Contains(stderr, part) {
			t.Errorf("got %q, want %q in it", stderr, part)
		}
	}
}

// TestBrokenRecording checks that the place in the input is named.
func TestBrokenRecording(t *testing.T) {
	dir := t.TempDir()
	conf, file := filepath.Join(dir, "lean.toml"), filepath.Join(dir, "broken.ndjson")
	writeFile(t, conf, lean)
	writeFile(t, file, "{\"topic\": \"a\", \"payload\": 1}\nnonsense\n")
	_, stderr, code := native(t).output(t, "replay", "-c", conf, file)
	oneError(t, stderr, file+":2: not a recorded message")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// TestNoDataFolder runs with a folder that cannot be made.
func TestNoDataFolder(t *testing.T) {
	dir := t.TempDir()
	conf, inTheWay := filepath.Join(dir, "edgeagent.toml"), filepath.Join(dir, "file")
	writeFile(t, inTheWay, "")
	c := config{broker: "tcp://127.0.0.1:1", dir: filepath.Join(inTheWay, "data"), uplink: v1("http://127.0.0.1:1", "edge")}
	writeFile(t, conf, c.text())
	_, stderr, code := native(t).output(t, "run", "-c", conf)
	oneError(t, stderr, c.dir, "not a directory")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}

// TestSecondAgent runs a second agent on the store of the first, which goes on.
func TestSecondAgent(t *testing.T) {
	t.Parallel()
	w := newGateway(t, native(t), config{broker: "tcp://127.0.0.1:1", uplink: v1("http://127.0.0.1:1", "edge")})
	w.start()
	w.await(soon, "the first agent", answers)
	began := time.Now()
	second := testbed.Start(t, w.prog.command("run", "-c", w.conf), filepath.Join(t.TempDir(), "second.log"))
	code, ok := second.Wait(soon)
	took := time.Since(began)
	if !ok || code != 1 || took > lockTime {
		t.Errorf("the second ended with code %d, by itself %v, after %v; want 1, true, within %v", code, ok, took, lockTime)
	}
	oneError(t, second.Log(), filepath.Join(w.dir, "edgeagent.db"), "store is in use by another process: is another edgeagent running on this folder?")
	w.await(soon, "the first agent still", answers)
	w.Kill()
	w.start() // the lock went with the process
	w.await(soon, "an agent after the kill", answers)
	w.stop()
}

// lockTime is how long a second agent may wait for the lock: 5 s, and the start of a process on a loaded machine.
const lockTime = 9 * time.Second
