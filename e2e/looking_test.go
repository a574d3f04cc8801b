package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"edgeagent/status"
	"edgeagent/testbed"
)

// systemFolder is where documents put what is for the whole machine.
var systemFolder = regexp.MustCompile(`/(etc|usr)/`)

// TestLooking types the commands of docs/status.md and docs/troubleshooting.md beside a running agent whose server is away: those of
// the first say so and that the agent is healthy, those of the second name the fault and what to do.
func TestLooking(t *testing.T) {
	t.Parallel()
	b := newBroker(t, testbed.MosquittoOptions{})
	g := newGateway(t, native(t), config{id: "gw-07", broker: b.URL(), uplink: nowhere, buffer: quick})
	dir := t.TempDir()
	if out, code := typed(t, dir, g.conf, strings.ReplaceAll(tools, "PROGRAM", g.prog[0])); code != 0 {
		t.Fatal(out)
	}
	exitCodes(t, g, dir)
	g.start()
	awaitSubscription(t, b, "gw-07")
	newPublisher(t, b.URL()).publish(anHour()...)
	g.await(soon, "the fault", func(r status.Report) bool {
		return r.Ledger.Received == 601 && r.Uplink.State == "down" && r.Points.Queued > 50
	})
	writeFile(t, filepath.Join(dir, "edgeagent.toml"), string(readFile(t, g.conf)))
	const away = "WRONG      The uplink is down since "
	follow(t, document(t, "docs/status.md"), map[string]step{
		"edgeagent status -c edgeagent.toml":                                      {prints: []string{"edgeagent gw-07, version ", away, "the books balance"}},
		"edgeagent status -c edgeagent.toml --watch":                              {prints: []string{away}},
		"edgeagent status -c edgeagent.toml --json":                               {prints: []string{`"gateway": "gw-07"`, `"state": "down"`}},
		"edgeagent status -c edgeagent.toml --sensors --sort time":                {prints: []string{"s0 ", "s9 "}},
		"edgeagent completion bash > /etc/bash_completion.d/edgeagent":            {},
		"edgeagent completion zsh > /usr/share/zsh/vendor-completions/_edgeagent": {},
		"edgeagent completion fish > /etc/fish/completions/edgeagent.fish":        {},
	}, func(line string) (string, int) {
		command, to, redirected := strings.Cut(line, " > ")
		switch {
		case redirected:
			to = filepath.Join(dir, systemFolder.ReplaceAllString(to, "${1}/"))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				t.Fatal(err)
			}
			line = command + " > " + to
		case strings.HasSuffix(line, " --watch"):
			return watched(t, dir, g.conf, line, away)
		}
		return typed(t, dir, g.conf, line)
	})
	for _, file := range []string{"etc/bash_completion.d/edgeagent", "usr/share/zsh/vendor-completions/_edgeagent", "etc/fish/completions/edgeagent.fish"} {
		if text := string(readFile(t, filepath.Join(dir, file))); !strings.Contains(text, "requeue") {
			t.Errorf("%s holds %.300q", file, text)
		}
	}
	follow(t, document(t, "docs/troubleshooting.md"), map[string]step{
		"edgeagent doctor":              {code: 1, prints: []string{"FAIL  uplink", "OK    broker", "OK    store"}},
		"edgeagent status":              {prints: []string{away, "cause: "}},
		"journalctl -u edgeagent -n 20": {notHere: "needs systemd: packaging.TestBoot types it, in a Debian that boots"},
	}, func(line string) (string, int) { return typed(t, dir, g.conf, line) })
	g.stop()
}

// watched types a line that goes on, and presses Ctrl-C once it has printed a text.
func watched(t *testing.T, dir, conf, line, text string) (string, int) {
	t.Helper()
	p := background(t, dir, conf, line)
	waitFor(t, soon, text, p.Log, func() bool { return strings.Contains(p.Log(), text) })
	p.Signal(os.Interrupt)
	code, ok := p.Wait(soon)
	if !ok {
		t.Errorf("%s does not end at Ctrl-C", line)
	}
	return p.Log(), code
}

// exitCodes tries the table of docs/status.md on a gateway that does not run.
func exitCodes(t *testing.T, g *gateway, dir string) {
	t.Helper()
	wrong := filepath.Join(dir, "wrong.toml")
	writeFile(t, wrong, "nonsense = 1\n")
	shown := map[int]string{}
	for _, line := range document(t, "docs/status.md").Prose {
		if m := regexp.MustCompile(`^\| (\d) \| (.*) \|$`).FindStringSubmatch(line); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			shown[n] = m[2]
		}
	}
	for _, c := range []struct {
		line, what string
		code       int
	}{
		{"edgeagent status", "no agent answers", 1},
		{"edgeagent status -c " + wrong, "the configuration is wrong", 2},
		{"edgeagent status --nonsense", "the command line", 2},
	} {
		out, code := typed(t, dir, g.conf, c.line)
		if code != c.code || !strings.Contains(shown[code], c.what) {
			t.Errorf("%s: exit code %d, want %d; docs/status.md says %q of it\n%s", c.line, code, c.code, shown[code], out)
		}
	}
	if len(shown) != 3 {
		t.Errorf("exit codes of docs/status.md: %s", fmt.Sprint(shown))
	}
}
