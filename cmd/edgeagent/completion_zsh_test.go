package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"edgeagent/testbed"
)

// zshrc is what a zsh with a terminal reads first. It has the script where packages put such, notes what is offered, and behind "="
// what the line is after a Tab; a line is then dropped, and READY says that the next may be typed.
const zshrc = `bindkey -e
PS1= LISTMAX=1000
unset zle_bracketed_paste
setopt no_beep no_prompt_sp
fpath=($ZDOTDIR/functions $fpath)
autoload -U compinit && compinit -u -D
compadd() {
    local -a hits
    case " $* " in (*' -O '*|*' -A '*|*' -D '*) builtin compadd "$@"; return ;; esac
    builtin compadd -O hits "$@"
    print -rl -- $hits >> $OFFERED
    builtin compadd "$@"
}
tab() { zle complete-word; print -r -- "=$BUFFER" >> $OFFERED; BUFFER=; zle accept-line }
zle -N tab
bindkey '^I' tab
precmd() { print -r -- READY }
`

// zshTyping types each line of its input and a Tab into a zsh that has a terminal, and prints the line behind "?" and what was noted.
const zshTyping = `zmodload zsh/zpty
zpty z zsh -d -i
zpty -r z seen '*READY*' || exit 1
while IFS= read -r line; do
    : > $OFFERED
    zpty -n -w z "$line"$'\t'
    zpty -r z seen '*READY*' || exit 1
    print -r -- "?$line"; cat $OFFERED
done
zpty -d z
`

// zshOffers is what zsh offers at a Tab for each line, and under "=" and the line what the line is then.
func zshOffers(t *testing.T, dir string, lines []string) map[string][]string {
	t.Helper()
	home := t.TempDir()
	script, err := os.ReadFile(completionScript(t, "zsh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"functions/_edgeagent": string(script), ".zshrc": zshrc, "typing": zshTyping, "offered": ""} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, testbed.Need(t, "zsh"), "-f", filepath.Join(home, "typing"))
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(os.Environ(), "ZDOTDIR="+home, "OFFERED="+filepath.Join(home, "offered"), "TERM=xterm")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("zsh: %v\n%s", err, out)
	}
	offers, line := map[string][]string{}, ""
	for text := range strings.Lines(string(out)) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case strings.HasPrefix(text, "?"):
			line = text[1:]
		case strings.HasPrefix(text, "="):
			offers["="+line] = []string{text[1:]}
		default:
			offers[line] = append(offers[line], text)
		}
	}
	return offers
}

// A Tab is pressed on a terminal, with the script where a package has put it.
func TestCompletionZsh(t *testing.T) {
	becomes := map[string]string{"edgeagent st": "edgeagent status ", "edgeagent status --so": "edgeagent status --sort=",
		"edgeagent status --sort=n": "edgeagent status --sort=name ", "edgeagent run --config=ed": "edgeagent run --config=edge.toml ",
		"edgeagent buffer req": "edgeagent buffer requeue ", "edgeagent replay -c edge.toml edge.toml s": "edgeagent replay -c edge.toml edge.toml sub/"}
	var lines []string
	for line := range becomes {
		lines = append(lines, line)
	}
	for _, c := range completions {
		lines = append(lines, c.line)
	}
	var offers map[string][]string
	checkCompletions(t, func(dir, line string) []string {
		if offers == nil {
			offers = zshOffers(t, dir, lines)
		}
		return offers[line]
	})
	for line, want := range becomes {
		if got := offers["="+line]; len(got) != 1 || got[0] != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
	// Without a package the script is sourced.
	got := shellOut(t, "zsh", t.TempDir(), "-f", "-c", "autoload -U compinit; compinit -u -D; source "+completionScript(t, "zsh")+"; print -r -- ${_comps[edgeagent]}")
	if got[0] != "_edgeagent" {
		t.Errorf("binding %q", got)
	}
}
