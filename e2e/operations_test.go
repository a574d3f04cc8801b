package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"edgeagent/docs"
	"edgeagent/sim"
	"edgeagent/status"
	"edgeagent/testbed"
)

// tools are what the blocks of docs/operations.md find on their way: the program, which listens for no longer than a test may take,
// and no service manager.
const tools = `mkdir -p bin media
cat > bin/edgeagent <<'END'
#!/bin/sh
case "$1" in doctor|support) exec PROGRAM "$@" --listen 1s ;; esac
exec PROGRAM "$@"
END
printf '#!/bin/sh\n' > bin/systemctl
chmod +x bin/edgeagent bin/systemctl
`

// operated says how a line of docs/operations.md ends that does not end with exit code 0 and nothing more, on a gateway that has
// stopped, has no server, and has points that wait. Words are of standard output.
var operated = map[string]struct {
	code  int
	words string
}{
	"edgeagent doctor":                                            {1, "FAIL  uplink"},
	"edgeagent doctor | grep -A9 FAIL":                            {0, "FAIL  uplink"},
	"edgeagent forget":                                            {2, ""}, // asks, and here is nobody to answer
	"edgeagent buffer stats":                                      {0, "queued      9 points"},
	"edgeagent buffer stats --json | jq .points":                  {0, `"finalized": 9`},
	"edgeagent buffer requeue 1204 1207":                          {1, ""}, // is not parked
	"edgeagent buffer rewind --to 2026-11-29T10:00:00Z --dry-run": {0, "nothing"},
	"edgeagent buffer rewind --to 2026-11-29T10:00:00Z":           {0, "nothing"},
	"edgeagent advise":                                            {1, "how late readings come"}, // of too few readings
	"edgeagent advise --loss 1%":                                  {1, "how late readings come"},
	"edgeagent advise --json":                                     {1, `"enough": false`},
	"edgeagent buffer export --late --out late.jsonl":             {0, ""},
	"edgeagent buffer export --readings --out readings.jsonl":     {0, "90 lines written"},
	"edgeagent buffer export --readings --sensor cellar --since 2026-11-29T10:00:00Z --until 2026-11-29T12:00:00Z --out cellar.jsonl": {0, "0 lines written"},
}

// TestOperations types every command block of docs/operations.md, in its order, on the store of a gateway that has been stopped.
func TestOperations(t *testing.T) {
	t.Parallel()
	testbed.Need(t, "jq")
	b := newBroker(t, testbed.MosquittoOptions{})
	g := newGateway(t, native(t), config{broker: b.URL(), uplink: "name = \"mirror\"\n" + v1("http://127.0.0.1:1", "edge"), buffer: quick + "\nretain_readings = \"24h\""})
	g.start()
	g.await(soon, "the connection", func(r status.Report) bool { return r.MQTT.Connected })
	awaitSubscription(t, b, "gw")
	messages := halfAnHour()
	newPublisher(t, b.URL()).publish(messages...)
	g.await(soon, "all readings", func(r status.Report) bool { return r.Ledger.Windowed == int64(len(messages)) && r.MQTT.Unacked == 0 })
	g.awaitLog(soon, 1, "uplink down") // lineOfLog looks at it
	g.stop()

	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other.toml")
	writeFile(t, other, strings.Replace(string(readFile(t, g.conf)), g.dir, filepath.Join(t.TempDir(), "new"), 1))
	if out, code := typed(t, dir, g.conf, strings.ReplaceAll(tools, "PROGRAM", g.prog[0])); code != 0 {
		t.Fatal(out)
	}
	d, err := docs.Read("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	n, conf, left := 0, g.conf, len(operated)
	for _, block := range d.Blocks {
		for i, line := range strings.Split(block.Text, "\n") {
			if strings.HasPrefix(line, "# the other card or machine") {
				conf = other
			}
			if !strings.HasPrefix(line, "edgeagent ") && !strings.HasPrefix(line, "systemctl ") {
				if begins.MatchString(block.Text) && line != "" && !strings.HasPrefix(line, "#") {
					t.Errorf("%s: nobody types %q", d.Place(block.Line+i), line)
				}
				continue
			}
			n++
			command, _, _ := strings.Cut(line, " #")
			want, ok := operated[strings.TrimSpace(command)]
			if ok {
				left--
			}
			out, code := typed(t, dir, conf, strings.ReplaceAll(line, "/media/stick", "media"))
			if code != want.code || !strings.Contains(out, want.words) {
				t.Errorf("%s: %s: exit code %d, want %d with %q\n%s", d.Place(block.Line+i), line, code, want.code, want.words, out)
			}
		}
	}
	lineOfLog(t, d, g.Log())
	if n < 25 || left != 0 || conf != other {
		t.Errorf("%d commands, %d that end otherwise not found", n, left)
	}
	for file, want := range map[string]string{"points.lp": "temperature,gateway=gw,sensor=s0 max=4,count=5i ", "support.txt": "===== doctor =====", "media/gw-07.store": ""} {
		if text := string(readFile(t, filepath.Join(dir, file))); !strings.Contains(text, want) || text == "" {
			t.Errorf("%s holds %.300q", file, text)
		}
	}
}

// halfAnHour is a reading a minute of three sensors: three windows of each are final then.
func halfAnHour() (messages []sim.Record) {
	for i := range 30 {
		at := fleetStart.Add(time.Duration(i) * time.Minute)
		for s := range 3 {
			messages = append(messages, sim.Record{Topic: fmt.Sprintf("sensors/s%d/temperature", s), Payload: fmt.Appendf(nil, `{"temperature": %d, "ts": %d}`, i, at.UnixMilli())})
		}
	}
	return messages
}

// lineOfLog fails the test unless the log of a gateway without a server has a line like that which the document shows of one.
func lineOfLog(t *testing.T, d docs.Document, log string) {
	t.Helper()
	shown, _, _ := strings.Cut(block(t, d, "03:12:07 ").Text, "\n")
	words := regexp.MustCompile(`(\w+)=`).FindAllString(shown, -1)
	said := lines(strings.ReplaceAll(log, "since=", "since_="), "uplink down") // lines leaves since out
	if len(said) == 0 || strings.Join(words, " ") != "cause= to= since=" || !regexp.MustCompile(`^WARN  uplink down  cause=\S.* to=\S.* since_=`).MatchString(said[0]) {
		t.Errorf("%s shows %q of a server that is away, the log says %q", d.File, shown, said)
	}
}

// typed runs a line as a person would in a folder, and gives all that it prints and its exit code.
func typed(t *testing.T, dir, conf, line string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), inTheEnd)
	defer cancel()
	cmd := shell(ctx, dir, conf, line)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %s: %v", line, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// shell is a line typed in a folder, with the programs in its bin before all others and conf for a configuration.
func shell(ctx context.Context, dir, conf, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "EDGEAGENT_CONFIG="+conf)
	return cmd
}
