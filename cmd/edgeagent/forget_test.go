package main

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"edgeagent/status"
)

// A store or socket of another user's is told as what it is, not as an agent that runs.
func TestOfAnotherUser(t *testing.T) {
	if err := unanswered(fmt.Errorf("open store: %w", fs.ErrPermission)); !strings.Contains(err.Error(), "as root or as the agent's user") {
		t.Errorf("the store: %v", err)
	}
	for _, c := range []struct {
		asked error
		want  string // "" lets forget go on
	}{
		{nil, "the agent runs: stop it first"},
		{fmt.Errorf("ask: %w", fs.ErrInvalid), "the agent runs: stop it first"},
		{status.ErrNoAgent, ""},
		{fmt.Errorf("%w on s: run this as root", status.ErrNotAllowed), "see that no agent runs: not allowed to ask the agent on s: run this as root"},
	} {
		if err := noneAnswers(c.asked); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.asked, err, c.want)
		}
	}
}
