package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"edgeagent/testbed"
)

// completionScript writes the script for a shell to a file of its own.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	code, out, errs := command(t, "completion", shell)
	if code != exitDone || errs != "" {
		t.Fatalf("exit code %d, %q", code, errs)
	}
	path := filepath.Join(t.TempDir(), "edgeagent."+shell)
	if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// shellOut is what a shell prints for a script, in words by line.
func shellOut(t *testing.T, name, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testbed.Need(t, name), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// What a shell offers for a line, the last word being completed: all of these and, behind a bar, none of those.
var completions = []struct{ line, want, not string }{
	{"edgeagent ", "run status buffer completion", "internal-check"},
	{"edgeagent st", "status", "run"},
	{"edgeagent buffer ", "stats parked requeue rewind", "run status"},
	{"edgeagent buffer re", "requeue readmit rewind", "stats"},
	{"edgeagent status --", "--json --watch --sort --config --help", "--topic"},
	{"edgeagent status --sort ", "name value time lag open late offset", "run"},
	{"edgeagent status --sort l", "lag late", "open"},
	{"edgeagent run -c ", "edge.toml sub", "run status"},
	{"edgeagent run --config ed", "edge.toml", "sub"},
	{"edgeagent buffer export --", "--late --all --config", "--to"},
	{"edgeagent buffer export ", "edge.toml sub", "stats"},
	{"edgeagent try --topic run --", "--listen --json", "--sort"}, // run is the topic here, no command
	{"edgeagent completion ", "bash zsh fish", "edge.toml"},
	{"edgeagent replay -c edge.toml ", "edge.toml sub", "run"},
}

// checkCompletions compares what offer gives for each line.
func checkCompletions(t *testing.T, offer func(dir, line string) []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "edge.toml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range completions {
		got := offer(dir, c.line)
		for i := range got {
			got[i] = strings.TrimRight(got[i], "/ ")
		}
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q is not offered, but %q", c.line, want, got)
			}
		}
		for _, not := range strings.Fields(c.not) {
			if slices.Contains(got, not) {
				t.Errorf("%q: %q is offered: %q", c.line, not, got)
			}
		}
	}
}

func TestCompletionBash(t *testing.T) {
	script := completionScript(t, "bash")
	checkCompletions(t, func(dir, line string) []string {
		words := strings.Split(line, " ")
		return shellOut(t, "bash", dir, "-c", fmt.Sprintf(`source %s; COMP_WORDS=(%s ""); COMP_WORDS=("${COMP_WORDS[@]:0:%d}"); COMP_CWORD=%d; _edgeagent; printf '%%s\n' "${COMPREPLY[@]}"`,
			script, line, len(words), len(words)-1))
	})
	// The whole path from the binding: the words that a user types.
	got := shellOut(t, "bash", t.TempDir(), "-c", "source "+script+"; complete -p edgeagent")
	if got[0] != "complete -F _edgeagent edgeagent" {
		t.Errorf("binding %q", got)
	}
	for line, want := range map[string]string{"--config=": "edge.toml", "--config=ed": "edge.toml"} { // bash splits at the sign
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "edge.toml"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(line, "=")
		words := strings.TrimRight("edgeagent run "+name+" = "+value, " ")
		n := len(strings.Fields(words))
		got := shellOut(t, "bash", dir, "-c", fmt.Sprintf(`source %s; COMP_WORDS=(%s); COMP_CWORD=%d; _edgeagent; printf '%%s\n' "${COMPREPLY[@]}"`, script, words, n-1))
		if got[0] != want {
			t.Errorf("%s: %q, want %s", line, got, want)
		}
	}
}

func TestCompletionFish(t *testing.T) {
	script := completionScript(t, "fish")
	checkCompletions(t, func(dir, line string) []string {
		out := shellOut(t, "fish", dir, "--no-config", "-c", fmt.Sprintf("source %s; complete -C %q", script, line))
		for i := range out {
			out[i], _, _ = strings.Cut(out[i], "\t")
		}
		return out
	})
}
