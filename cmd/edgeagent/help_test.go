package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// model is the command line, with a parser that exits nowhere.
func model(t *testing.T) *kong.Kong {
	t.Helper()
	k, err := newParser(new(cli), streams{strings.NewReader(""), io.Discard, io.Discard}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// exampleLine finds the command lines of the examples in a help text.
var exampleLine = regexp.MustCompile(`(?m)^(?:Example: |    )(.*\bedgeagent .*)$`)

// commandLine is what an example passes to the program: without a pipe before it, a redirection or a pipe behind it.
func commandLine(example string) []string {
	_, args, _ := strings.Cut(example, "edgeagent ")
	for _, end := range []string{" > ", " | "} {
		args, _, _ = strings.Cut(args, end)
	}
	return strings.Fields(args)
}

// Every command shows an example, of itself, that the command line understands.
func TestHelpExamples(t *testing.T) {
	n := 0
	err := kong.Visit(model(t).Model.Node, func(node kong.Visitable, next kong.Next) error {
		c, ok := node.(*kong.Node)
		if !ok || !c.Leaf() || c.Hidden || c.Type != kong.CommandNode {
			return next(nil)
		}
		path := strings.TrimPrefix(c.Path(), "edgeagent ")
		examples := exampleLine.FindAllStringSubmatch(c.Detail, -1)
		if len(examples) == 0 {
			t.Errorf("%s: no example in %q", path, c.Detail)
		}
		for _, e := range examples {
			n++
			args := commandLine(e[1])
			k, err := model(t).Parse(args)
			if err != nil {
				t.Errorf("%s: example %q: %v", path, e[1], err)
				continue
			}
			if got, _, _ := strings.Cut(k.Command(), " <"); got != path {
				t.Errorf("%s: example %q is one of %q", path, e[1], got)
			}
		}
		return next(nil)
	})
	if err != nil || n < 20 {
		t.Errorf("%d examples, %v", n, err)
	}
}
